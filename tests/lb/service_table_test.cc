#include "penstock/lb/service_table.h"

#include <gtest/gtest.h>

#include "tests/support/frame.h"

namespace penstock::lb {
namespace {

using testing::Ip;

FlowKey4 Key(std::string_view vip, uint16_t port, uint8_t protocol) {
  return {.destination = Ip(vip).v4().raw(),
          .destination_port = base::be16_t(port),
          .service = ServiceAndProtocol::Of(kNoId, protocol)};
}

// 10,000 services, each found, and nothing between them.
TEST(ServiceTable, FindsExactlyItsServices) {
  ServiceTableSpec spec;
  spec.key = HashKey::FromSeed("s");
  spec.pools.push_back(
      {.table = PoolTable::Build({.table_size = 7}), .ids = {}, .counters = {}, .paths = {}});
  for (uint32_t i = 0; i < 10000; ++i) {
    const auto vip = net::IpAddress::V4(base::be32_t(0xCB000000 + i / 2));
    const auto port = static_cast<uint16_t>(i % 2 == 0 ? 80 : 443);
    spec.services.push_back({.vip = {.prefix = {vip, 32}, .protocol = 6, .ports = {{port, port}}},
                             .service = {.id = i + 1},
                             .deny = {},
                             .outer_source = {}});
  }
  const ServiceTable table(std::move(spec));
  for (uint32_t i = 0; i < 10000; ++i) {
    FlowKey4 key;
    key.destination = base::be32_t(0xCB000000 + i / 2).raw();
    key.destination_port = base::be16_t(i % 2 == 0 ? 80 : 443);
    key.service = ServiceAndProtocol::Of(kNoId, 6);
    ASSERT_NE(table.Find(key).service, nullptr);
    ASSERT_EQ(table.Find(key).service->id, i + 1);
    EXPECT_NE(table.FindVip(key), nullptr);
    key.destination_port = base::be16_t(81);
    ASSERT_EQ(table.Find(key).service, nullptr);
    ASSERT_TRUE(table.Find(key).is_vip);
    key.destination_port = base::be16_t(80);
    key.service = ServiceAndProtocol::Of(kNoId, 17);
    ASSERT_EQ(table.Find(key).service, nullptr);
  }
  EXPECT_EQ(table.FindVip(Key("203.0.113.10", 80, 6)), nullptr);
  EXPECT_FALSE(table.Find(Key("203.0.113.10", 80, 6)).is_vip);
  EXPECT_EQ(table.service(10000)->id, 10000U);
  EXPECT_EQ(table.service(0), nullptr);
  EXPECT_EQ(table.service(kMaxId), nullptr);
}

// H05: an id that no generation uses leads to a backend that serves nothing.
TEST(ServiceTable, H05_UnknownBackendServesNothing) {
  const ServiceTable table(ServiceTableSpec{});
  for (const BackendId id : {kNoId, 1U, kMaxId}) {
    const Backend& b = table.backend(id);
    EXPECT_EQ(b.counters, nullptr);
    EXPECT_FALSE(b.takes_new_flows || b.serves_tcp_flows || b.serves_udp_flows);
  }
}

}  // namespace
}  // namespace penstock::lb

// Any bytes as a frame through the whole pipeline: a verdict each time, and for a forwarded packet
// the inner bytes untouched behind an outer header whose lengths add up.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "penstock/lb/pipeline.h"

namespace penstock::lb {
namespace {

constexpr std::size_t kHeadroom = 128;
constexpr std::size_t kTailroom = 64;

net::IpAddress Ip(const char* text) {
  return *net::IpAddress::Parse(text);
}

// A pool with a backend of each family, and the services of the seed corpus.
class World {
 public:
  World()
      : neighbors_({{.mac = {{2, 0, 0, 0, 0, 1}},
                     .addresses = {*net::IpPrefix::Parse("10.2.1.2/24"),
                                   *net::IpPrefix::Parse("2001:db8:2:1::2/64")},
                     .gateways = {},
                     .gateway_mac = net::MacAddress{{2, 0, 0, 0, 0, 0xFE}}}}),
        flows_(
            FlowTable::Create({.v4_entries = 64, .v6_entries = 64}, FlowTable::AllocateFromHeap)) {
    ServiceTableSpec spec;
    spec.key = HashKey::FromSeed("fuzz");
    spec.ports = {{.addresses = {Ip("10.2.1.2"), Ip("2001:db8:2:1::2")},
                   .reaches_v4 = true,
                   .reaches_v6 = true,
                   .mtu = 1600}};
    PoolTable::Spec pool{
        .members = {{.address = Ip("10.3.1.2")}, {.address = Ip("2001:db8:3:2::2")}},
        .table_size = 17,
        .key = spec.key};
    spec.pools.push_back({.table = PoolTable::Build(pool),
                          .ids = {1, 2},
                          .counters = {&counters_[0], &counters_[1]}});
    ServiceId id = 0;
    for (const char* vip : {"203.0.113.10", "2001:db8:53::10"}) {
      for (const uint8_t protocol : {net::kProtocolTcp, net::kProtocolUdp}) {
        spec.services.push_back(
            {.address = Ip(vip), .protocol = protocol, .ports = {80}, .service = {.id = ++id}});
      }
    }
    services_ = std::make_unique<ServiceTable>(std::move(spec));
  }

  void Run(const uint8_t* data, std::size_t size) {
    // Exactly as much memory as the burst says there is, so that any byte beyond is noticed.
    std::vector<uint8_t> buffer(kHeadroom + size + kTailroom);
    std::copy_n(data, size, buffer.begin() + kHeadroom);
    PacketBurst burst;
    burst.count = 1;
    burst.data[0] = buffer.data() + kHeadroom;
    burst.length[0] = static_cast<uint16_t>(size);
    burst.headroom[0] = kHeadroom;
    burst.tailroom[0] = kTailroom;
    burst.flags[0] = 0;
    ForwardBurst({*services_, *flows_, neighbors_, events_, 0, ++now_ / 64}, burst);
    if (burst.verdict[0] >= Verdict::kCount) std::abort();
    if (burst.verdict[0] == Verdict::kForward) CheckForwarded(burst, data);
  }

 private:
  static void CheckForwarded(const PacketBurst& burst, const uint8_t* original) {
    const net::PacketView& view = burst.view[0];
    const std::size_t outer_end = burst.length[0] - std::size_t{view.ip_length};
    const uint8_t* inner = burst.data[0] + outer_end;
    if (!std::equal(inner, inner + view.ip_length, original + view.l3_offset)) std::abort();
    if (outer_end != 14 + 20 && outer_end != 14 + 40) std::abort();
    PacketView outer;
    const auto status = net::ParseFrame({burst.data[0], burst.length[0]}, false, outer);
    // A tunnel packet: whole, and neither TCP nor UDP nor ICMP.
    if (status != net::ParseStatus::kUnknownProtocol) std::abort();
    if (outer.l3_offset + outer.ip_length != burst.length[0]) std::abort();
  }
  using PacketView = net::PacketView;

  BackendCounters counters_[2];
  Neighbors neighbors_;
  std::unique_ptr<FlowTable> flows_;
  FlowCounters events_;
  std::unique_ptr<ServiceTable> services_;
  base::Tick now_ = 0;
};

}  // namespace
}  // namespace penstock::lb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static penstock::lb::World world;
  if (size <= 4096) world.Run(data, size);
  return 0;
}

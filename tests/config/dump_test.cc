#include "penstock/config/dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/config/convert.h"
#include "penstock/config/load.h"
#include "penstock/config/validate.h"
#include "penstock/v1/status_service.pb.h"
#include "tests/config/random_config.h"

namespace penstock::config {
namespace {

using ::testing::IsEmpty;

constexpr char kExample[] =
    R"(hash: {seed: "fleet-wide \"secret\""}
pools:
  - name: web
    table_size: 65537
    transition: 5m
    backends:
      - {address: 10.1.0.11, weight: 100, name: web1, labels: {rack: r7, row: "12"}}
      - {address: "2001:db8:9::13", weight: 0, state: draining}
  - name: empty
    table_size: 7
    transition: 0s
services:
  - name: a
    address: 203.0.113.10
    protocol: tcp
    ports: [80, 443]
    pool: web
    encapsulation: ipip
    hash: five_tuple
    on_no_backend: drop
    idle_timeout: {tcp: 15m, udp: 30s}
    fragments: steer
    tracking: full
    rate_limit: {per_source: 0, total: 0}
)";

TEST(Dump, LooksLikeWhatAnOperatorWrites) {
  const auto loaded = ParseServicesConfig(kExample, "s.yaml");
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_EQ(DumpServicesConfig(loaded.value), kExample);
}

// What daemons answer has 64-bit numbers, fractions and maps of them.
TEST(Dump, WritesEveryKindOfNumber) {
  v1::ListBackendsResponse answer;
  answer.set_generation(18446744073709551615U);
  v1::BackendStatus* backend = answer.add_backends();
  backend->set_share(0.25);
  backend->set_live_flows(5000000000);
  EXPECT_EQ(ProtoToYaml(answer),
            "backends:\n  - {share: 0.25, live_flows: 5000000000}\n"
            "generation: 18446744073709551615\n");
  v1::GetCountersResponse counters;
  v1::Counter* counter = counters.add_counters();
  counter->set_value(7);
  (*counter->mutable_by_port())["uplink"] = 7000000000;
  EXPECT_EQ(ProtoToYaml(counters), "counters:\n  - {value: 7, by_port: {uplink: 7000000000}}\n");
}

TEST(Dump, PrefixesRangesAndWords) {
  const std::string text =
      R"(hash: {seed: s}
pools:
  - name: web
    table_size: 65537
    transition: 1h1s
    backends:
      - {address: 10.1.0.11, weight: 100}
services:
  - name: a
    address: 203.0.113.0/28
    protocol: udp
    ports: [443, "8000-8010"]
    pool: web
    encapsulation: gue
    hash: five_tuple
    on_no_backend: drop
    idle_timeout: {tcp: 15m, udp: 30s}
    icmp_echo: forward
    fragments: drop
    tracking: transition_only
    outer_source_prefix: 198.51.100.64/26
    gue_udp_checksum: computed
    deny: [192.0.2.0/24, 10.0.0.1]
    rate_limit: {per_source: 0, total: 0}
  - name: b
    address: "2001:db8::/64"
    protocol: tcp
    pool: web
    encapsulation: l2
    hash: five_tuple
    on_no_backend: drop
    idle_timeout: {tcp: 15m, udp: 30s}
    fragments: steer
    tracking: none
    deny: ["2001:db8:bad::/48"]
    rate_limit: {per_source: 10, total: 100000000}
)";
  const auto loaded = ParseServicesConfig(text, "s.yaml");
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_EQ(DumpServicesConfig(loaded.value), text);
}

TEST(Dump, EmptyListsAreWritten) {
  const std::string text = DumpServicesConfig(ServicesConfig{});
  EXPECT_EQ(text, "hash: {}\npools: []\nservices: []\n");
  EXPECT_THAT(ParseServicesConfig(text, "s.yaml").errors, IsEmpty());
  EXPECT_EQ(ProtoToYaml(v1::Config()), "{}\n");
}

TEST(Dump, Host) {
  const auto loaded = LoadHostConfig(std::string(PENSTOCK_SOURCE_DIR) + "/conf/penstockd.yaml");
  const std::string text = ProtoToYaml(ToProto(loaded.value));
  const auto again = ParseHostConfig(text, "h.yaml");
  EXPECT_THAT(again.errors, IsEmpty());
  EXPECT_EQ(again.value, loaded.value);
}

TEST(Dump, LoadsBackEqual) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const ServicesConfig config = RandomConfig(seed).Make();
    ASSERT_THAT(Validate(config), IsEmpty()) << seed;
    const std::string text = DumpServicesConfig(config);
    const auto loaded = ParseServicesConfig(text, "s.yaml");
    ASSERT_THAT(loaded.errors, IsEmpty()) << text;
    ASSERT_EQ(loaded.value, config) << text;
    // Expect: a second time changes nothing, so that dumps can be compared as text.
    ASSERT_EQ(DumpServicesConfig(loaded.value), text);
  }
}

}  // namespace
}  // namespace penstock::config

#include "penstock/config/dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "penstock/config/convert.h"
#include "penstock/config/load.h"
#include "penstock/config/validate.h"
#include "penstock/v1/status_service.pb.h"

namespace penstock::config {
namespace {

using ::testing::IsEmpty;

constexpr char kExample[] =
    R"(hash: {seed: "fleet-wide \"secret\""}
pools:
  - name: web
    table_size: 65537
    backends:
      - {address: 10.1.0.11, weight: 100, name: web1, labels: {rack: r7, row: "12"}}
      - {address: "2001:db8:9::13", weight: 0, state: draining}
  - name: empty
    table_size: 7
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
    outer_source_prefix: 198.51.100.64/26
    gue_udp_checksum: computed
    deny: [192.0.2.0/24, 10.0.0.1]
  - name: b
    address: "2001:db8::/64"
    protocol: tcp
    pool: web
    encapsulation: l2
    hash: five_tuple
    on_no_backend: drop
    idle_timeout: {tcp: 15m, udp: 30s}
    deny: ["2001:db8:bad::/48"]
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

// Random configurations that Validate accepts.
class RandomConfig {
 public:
  explicit RandomConfig(uint64_t seed) : random_(seed) {}

  ServicesConfig Make() {
    ServicesConfig config;
    config.hash.seed = Text();
    const uint64_t pools = Below(4);
    for (uint64_t i = 0; i < pools; ++i) config.pools.push_back(MakePool(i));
    const uint64_t services = pools == 0 ? 0 : Below(5);
    for (uint64_t i = 0; i < services; ++i) config.services.push_back(MakeService(i, pools));
    return config;
  }

 private:
  uint64_t Below(uint64_t limit) { return random_() % limit; }

  // Words that YAML has a meaning for, and any printable characters.
  std::string Text() {
    static const std::vector<std::string> kWords{
        "",   "null", "~",    "true", "no", "0x10", "1.5", "- a",  "a: b",     "#x", "a #b",
        "&a", "*a",   "!x",   "'",    "\"", "\\",   "{a}", "[b",   "%",        "@",  "`",
        " a", "a ",   "a, b", "?",    "|",  ">",    "1e3", "2024", "10.0.0.1", ":",  "\xC3\xA9"};
    if (Below(2) == 0) return kWords[Below(kWords.size())];
    std::string text;
    for (uint64_t i = Below(30); i > 0; --i) text += static_cast<char>(' ' + Below(95));
    return text;
  }

  net::IpAddress Address(const std::string& v4, const std::string& v6) {
    return *net::IpAddress::Parse(Below(2) == 0 ? v4 : v6);
  }

  net::IpPrefix Prefix(const std::string& number) {
    switch (Below(4)) {
      case 0:
        return *net::IpPrefix::Parse("192.0." + number + ".0/24");
      case 1:
        return *net::IpPrefix::Parse("2001:db8:1:" + number + "::/64");
      default:
        return *net::IpPrefix::Parse(
            Address("192.0.2." + number, "2001:db8:1::" + number).ToString());
    }
  }

  Pool MakePool(uint64_t index) {
    static const std::vector<uint32_t> kSizes{65537, 101, kMaxTableSize};
    Pool pool{
        .name = "pool-" + std::to_string(index), .table_size = kSizes[Below(3)], .backends = {}};
    for (uint64_t i = Below(5); i > 0; --i) pool.backends.push_back(MakeBackend(i));
    return pool;
  }

  Backend MakeBackend(uint64_t index) {
    const std::string number = std::to_string(index);
    Backend backend{.address = Address("10.0.0." + number, "2001:db8::" + number)};
    backend.weight = static_cast<uint32_t>(Below(kMaxWeight + 1));
    if (Below(2) == 0) backend.name = "true" + number;
    for (uint64_t i = Below(3); i > 0; --i) backend.labels["l." + std::to_string(i)] = Text();
    if (Below(2) == 0) backend.state = static_cast<AdminState>(Below(3));
    return backend;
  }

  Service MakeService(uint64_t index, uint64_t pools) {
    const std::string number = std::to_string(index + 1);
    Service service{.name = number, .prefix = Prefix(number)};
    service.protocol = static_cast<Protocol>(Below(2));
    const uint64_t first = 1 + Below(60000);
    for (uint64_t i = Below(5); i > 0; --i) {
      const auto port = static_cast<uint16_t>(first + i * 4);
      service.ports.push_back({.first = port, .last = static_cast<uint16_t>(port + Below(4))});
    }
    service.pool = "pool-" + std::to_string(Below(pools));
    service.hash = static_cast<HashKind>(Below(3));
    service.on_no_backend = static_cast<OnNoBackend>(Below(2));
    service.idle_timeout.tcp = std::chrono::seconds(1 + Below(28800));
    service.encapsulation = static_cast<Encapsulation>(Below(4));
    if (Below(2) == 0) service.icmp_echo = static_cast<IcmpEcho>(Below(3));
    service.gue_udp_checksum = static_cast<GueUdpChecksum>(Below(2));
    if (service.encapsulation != Encapsulation::kL2 && Below(2) == 0) {
      service.outer_source_prefix = net::IpPrefix::Parse("198.51.100.0/25");
    }
    const std::string deny = service.prefix.address.IsV4() ? "172.16.0.0/" : "2001:db8:b::/";
    for (uint64_t i = Below(3); i > 0; --i) {
      const std::string length = std::to_string((service.prefix.address.IsV4() ? 12 : 48) + i);
      service.deny.push_back(*net::IpPrefix::Parse(deny + length));
    }
    return service;
  }

  std::mt19937_64 random_;
};

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

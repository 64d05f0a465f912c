// Services files with mistakes, and the lines an operator gets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/config/load.h"
#include "penstock/config/validate.h"

namespace penstock::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Errors(std::string_view text) {
  return ParseServicesConfig(text, "s.yaml").errors;
}

// One good pool and service; `pool` and `service` are further keys of theirs.
std::string File(const std::string& pool, const std::string& service) {
  return "pools:\n  - {name: web, " + pool + "}\nservices:\n  - {name: a, address: 192.0.2.1, " +
         "protocol: tcp, ports: [80], pool: web, " + service + "}\n";
}

constexpr std::string_view kDefaultsAndValues = R"(
hash: {seed: s}
pools:
  - name: web
    backends:
      - {address: 10.0.0.1}
      - {address: "2001:DB8::1", weight: 0, name: b, labels: {rack: r7}, state: disabled}
  - {name: spare, transition: 1h}
services:
  - {name: a, address: 192.0.2.1/32, protocol: tcp, ports: [80, 443], pool: web}
  - name: b
    address: "2001:db8::50/125"
    protocol: udp
    ports: ["53", "8000-8010", "9-9"]
    pool: web
    encapsulation: gue
    hash: source_address_port
    on_no_backend: use_all
    idle_timeout: {tcp: 1h, udp: 1s}
    icmp_echo: forward
    outer_source_prefix: 198.51.100.0/25
    gue_udp_checksum: zero
    deny: ["2001:db8:bad::/48", "2001:db8::bad"]
    fragments: drop
    tracking: transition_only
    rate_limit: {per_source: 0, total: 0}
  - {name: c, address: 192.0.2.2, protocol: tcp, pool: web, outer_source_prefix: "", deny: []}
)";

TEST(ServicesFile, PoolDefaultsAndValues) {
  const auto loaded = ParseServicesConfig(kDefaultsAndValues, "s.yaml");
  EXPECT_THAT(loaded.errors, IsEmpty());
  const Pool& pool = loaded.value.pools.at(0);
  EXPECT_EQ(pool.table_size, 65537U);
  EXPECT_EQ(pool.transition, std::chrono::minutes(5));
  EXPECT_EQ(loaded.value.pools.at(1).transition, std::chrono::hours(1));
  EXPECT_EQ(pool.backends.at(0), (Backend{.address = *net::IpAddress::Parse("10.0.0.1")}));
  EXPECT_EQ(pool.backends.at(0).weight, 100U);
  // Expect: no state is not "active".
  EXPECT_EQ(pool.backends.at(0).state, std::nullopt);
  EXPECT_EQ(pool.backends.at(1).state, AdminState::kDisabled);
  EXPECT_EQ(pool.backends.at(1).weight, 0U);
}

TEST(ServicesFile, ServiceDefaults) {
  const auto loaded = ParseServicesConfig(kDefaultsAndValues, "s.yaml");
  ASSERT_THAT(loaded.errors, IsEmpty());
  const Service& defaults = loaded.value.services.at(0);
  EXPECT_THAT(defaults.ports, ElementsAre(PortRange{80, 80}, PortRange{443, 443}));
  EXPECT_EQ(defaults.prefix, *net::IpPrefix::Parse("192.0.2.1"));
  EXPECT_EQ(defaults.encapsulation, Encapsulation::kIpip);
  EXPECT_EQ(defaults.icmp_echo, std::nullopt);
  EXPECT_EQ(defaults.outer_source_prefix, std::nullopt);
  EXPECT_EQ(defaults.gue_udp_checksum, GueUdpChecksum::kComputed);
  EXPECT_THAT(defaults.deny, IsEmpty());
  EXPECT_EQ(defaults.hash, HashKind::kFiveTuple);
  EXPECT_EQ(defaults.idle_timeout, IdleTimeout{});
  EXPECT_EQ(defaults.fragments, Fragments::kSteer);
  EXPECT_EQ(defaults.tracking, Tracking::kFull);
  EXPECT_EQ(defaults.rate_limit, (RateLimit{.per_source = 0, .total = 0}));
  // Expect: no ports is every port; an empty text is no prefix.
  EXPECT_THAT(loaded.value.services.at(2).ports, IsEmpty());
  EXPECT_EQ(loaded.value.services.at(2).outer_source_prefix, std::nullopt);
}

TEST(ServicesFile, ServiceValues) {
  const auto loaded = ParseServicesConfig(kDefaultsAndValues, "s.yaml");
  ASSERT_THAT(loaded.errors, IsEmpty());
  const Service& service = loaded.value.services.at(1);
  EXPECT_EQ(service.protocol, Protocol::kUdp);
  EXPECT_EQ(service.hash, HashKind::kSourceAddressPort);
  EXPECT_EQ(service.on_no_backend, OnNoBackend::kUseAll);
  EXPECT_EQ(service.idle_timeout.tcp, std::chrono::hours(1));
  EXPECT_EQ(service.prefix, *net::IpPrefix::Parse("2001:db8::50/125"));
  EXPECT_THAT(service.ports,
              ElementsAre(PortRange{53, 53}, PortRange{8000, 8010}, PortRange{9, 9}));
  EXPECT_EQ(service.encapsulation, Encapsulation::kGue);
  EXPECT_EQ(service.icmp_echo, IcmpEcho::kForward);
  EXPECT_EQ(service.outer_source_prefix, *net::IpPrefix::Parse("198.51.100.0/25"));
  EXPECT_EQ(service.gue_udp_checksum, GueUdpChecksum::kZero);
  EXPECT_EQ(service.fragments, Fragments::kDrop);
  EXPECT_EQ(service.tracking, Tracking::kTransitionOnly);
  EXPECT_THAT(service.deny, ElementsAre(*net::IpPrefix::Parse("2001:db8:bad::/48"),
                                        *net::IpPrefix::Parse("2001:db8::bad")));
}

TEST(ServicesFile, NoneHasToBeWritten) {
  EXPECT_THAT(Errors("pools: []\nservices: []\n"), IsEmpty());
  // Expect: a file that ends early does not remove all services.
  EXPECT_THAT(Errors("hash: {seed: x}\npools: []\n"),
              ElementsAre("s.yaml:1:1 services: is missing; write \"services: []\" for none"));
  EXPECT_THAT(Errors(""), ElementsAre("s.yaml:1:1: is empty"));
  EXPECT_THAT(Errors("{}").size(), 2U);
}

TEST(ServicesFile, EveryMistakeAtOnce) {
  EXPECT_THAT(
      Errors(R"(pools:
  - name: web
    table_size: 65536
    backends:
      - {address: 10.0.0.1, weight: 70000}
      - {address: 10.0.0.1}
      - {address: 10.0.0}
      - {address: 10.0.0.2, name: w, wieght: 1}
      - {address: 10.0.0.3, name: w}
      - {weight: 1}
  - {name: web}
  - {name: "not good"}
services:
  - name: a
    address: 203.0.113.5/28
    protocol: tcp
    ports: [443, 443, 0, 70000, 65535]
    pool: wbe
  - {name: a, address: 10.0.0.2, protocol: tcp, pool: web}
  - {address: 203.0.113.1, ports: ["5-1"], encapsulation: gree, idle_timeout: {tcp: 9h, udp: 1ms}}
)"),
      ElementsAre(
          "s.yaml:3:17 pools[0].table_size: 65536 is not a prime; the next one is 65537",
          "s.yaml:5:37 pools[0].backends[0].weight: 70000 is not in 0..65535",
          "s.yaml:6:19 pools[0].backends[1].address: is the same as "
          "pools[0].backends[0].address",
          "s.yaml:7:19 pools[0].backends[2].address: is not an IP address: \"10.0.0\"",
          "s.yaml:8:38 pools[0].backends[3].wieght: is not a known key; did you mean "
          "\"weight\"?",
          "s.yaml:9:35 pools[0].backends[4].name: is the same as pools[0].backends[3].name",
          "s.yaml:10:9 pools[0].backends[5].address: is required",
          "s.yaml:11:12 pools[1].name: is the same as pools[0].name",
          "s.yaml:12:12 pools[2].name: has characters other than A-Z a-z 0-9 . _ -: \"not "
          "good\"",
          "s.yaml:15:14 services[0].address: 203.0.113.5/28 has host bits set; the network is "
          "203.0.113.0/28",
          "s.yaml:17:18 services[0].ports[1]: is the same as services[0].ports[0]",
          "s.yaml:17:23 services[0].ports[2]: 0 is not in 1..65535",
          "s.yaml:17:26 services[0].ports[3]: 70000 is not in 1..65535",
          "s.yaml:18:11 services[0].pool: there is no pool \"wbe\"; did you mean \"web\"?",
          "s.yaml:19:12 services[1].name: is the same as services[0].name",
          "s.yaml:19:24 services[1].address: 10.0.0.2 is also the backend "
          "pools[0].backends[3]",
          "s.yaml:20:5 services[2].protocol: is required: tcp or udp",
          "s.yaml:20:5 services[2].name: is required", "s.yaml:20:5 services[2].pool: is required",
          "s.yaml:20:36 services[2].ports[0]: begins after its end",
          "s.yaml:20:59 services[2].encapsulation: has to be one of ipip, gre, gue, l2, not "
          "\"gree\"; did you mean \"gre\"?",
          "s.yaml:20:85 services[2].idle_timeout.tcp: is not in 1s..8h",
          "s.yaml:20:94 services[2].idle_timeout.udp: has to be a whole number of seconds, "
          "1s to 8h"));
}

TEST(ServicesFile, UnknownPool) {
  const std::string service =
      "services: [{name: a, address: 192.0.2.1, protocol: tcp, ports: [1], pool: backends}]\n";
  EXPECT_THAT(
      Errors("pools: [{name: a}, {name: b}]\n" + service),
      ElementsAre("s.yaml:2:75 services[0].pool: there is no pool \"backends\"; known: a, b"));
  EXPECT_THAT(Errors("pools: []\n" + service),
              ElementsAre("s.yaml:2:75 services[0].pool: there is no pool \"backends\""));
}

TEST(ServicesFile, AddressesThatCannotBe) {
  const auto backend = [](const std::string& address) {
    return Errors(File("backends: [{address: \"" + address + "\"}]", ""));
  };
  const std::string at = "s.yaml:2:38 pools[0].backends[0].address: ";
  EXPECT_THAT(backend("0.0.0.0"), ElementsAre(at + "0.0.0.0 is the unspecified address"));
  EXPECT_THAT(backend("::"), ElementsAre(at + ":: is the unspecified address"));
  EXPECT_THAT(backend("127.0.0.1"), ElementsAre(at + "127.0.0.1 is a loopback address"));
  EXPECT_THAT(backend("::1"), ElementsAre(at + "::1 is a loopback address"));
  EXPECT_THAT(backend("224.0.0.1"), ElementsAre(at + "224.0.0.1 is a multicast address"));
  EXPECT_THAT(backend("ff02::1"), ElementsAre(at + "ff02::1 is a multicast address"));
  EXPECT_THAT(backend("255.255.255.255"),
              ElementsAre(at + "255.255.255.255 is the broadcast address"));
  EXPECT_THAT(backend("fe80::1"), ElementsAre(at + "fe80::1 is a link-local address"));
  EXPECT_THAT(backend("::ffff:10.0.0.1"),
              ElementsAre(at + "::ffff:10.0.0.1 is an IPv4 address; write it as one"));
  EXPECT_THAT(backend(""), ElementsAre(at + "is required"));
  EXPECT_THAT(backend("10.0.0.1/32"), ElementsAre(at + "is not an IP address: \"10.0.0.1/32\""));
}

TEST(ServicesFile, UnknownWords) {
  EXPECT_THAT(
      Errors(File("", "icmp_echo: replay")),
      ElementsAre("s.yaml:4:85 services[0].icmp_echo: has to be one of reply, forward, drop, "
                  "not \"replay\"; did you mean \"reply\"?"));
  EXPECT_THAT(Errors(File("", "gue_udp_checksum: compute")),
              ElementsAre("s.yaml:4:92 services[0].gue_udp_checksum: has to be one of computed, "
                          "zero, not \"compute\"; did you mean \"computed\"?"));
  EXPECT_THAT(Errors(File("", "fragments: steal")),
              ElementsAre("s.yaml:4:85 services[0].fragments: has to be one of steer, drop, not "
                          "\"steal\"; did you mean \"steer\"?"));
  EXPECT_THAT(Errors(File("", "tracking: transition")),
              ElementsAre("s.yaml:4:84 services[0].tracking: has to be one of full, "
                          "transition_only, none, not \"transition\""));
}

TEST(ServicesFile, PrefixesThatAreNone) {
  const std::string none = "is not an IP address or a prefix such as 192.0.2.0/24: ";
  EXPECT_THAT(Errors(File("", "deny: [x, 192.0.2.0/33, 0.0.0.0/0], outer_source_prefix: 1.2.3")),
              // Expect: what could not be read is nothing to compare others with.
              ElementsAre("s.yaml:4:81 services[0].deny[0]: " + none + "\"x\"",
                          "s.yaml:4:84 services[0].deny[1]: " + none + "\"192.0.2.0/33\"",
                          "s.yaml:4:131 services[0].outer_source_prefix: " + none + "\"1.2.3\""));
  EXPECT_THAT(Errors("pools: [{name: p}]\nservices:\n"
                     "  - {name: a, address: 192.0.2.0/x, protocol: tcp, pool: p}\n"
                     "  - {name: b, address: \"\", protocol: tcp, pool: p}\n"),
              ElementsAre("s.yaml:3:24 services[0].address: " + none + "\"192.0.2.0/x\"",
                          "s.yaml:4:24 services[1].address: is required"));
}

TEST(ServicesFile, PartsNotBuiltYet) {
  // Expect: each key and value of the contract that this release ignores is refused by name.
  for (const char* key : {"min_healthy: 1", "health_check: {interval: 1s}"}) {
    EXPECT_THAT(Errors(File(key, "")), ElementsAre(testing::EndsWith(": is not yet supported")))
        << key;
  }
  EXPECT_THAT(Errors(File("", "on_unhealthy: keep_flows")),
              ElementsAre(testing::EndsWith("is not yet supported")));
}

TEST(ServicesFile, Transition) {
  const auto transition = [](const std::string& value) {
    return ParseServicesConfig(File("transition: " + value, ""), "s.yaml");
  };
  for (const auto& [value, seconds] : std::vector<std::pair<std::string, int>>{
           {"0s", 0}, {"1s", 1}, {"1000ms", 1}, {"5m", 300}, {"24h", 86400}}) {
    const auto loaded = transition(value);
    EXPECT_THAT(loaded.errors, IsEmpty()) << value;
    EXPECT_EQ(loaded.value.pools.at(0).transition.count(), seconds) << value;
  }
  const std::string at = "s.yaml:2:29 pools[0].transition: ";
  EXPECT_THAT(transition("24h1s").errors, ElementsAre(at + "is not in 0s..24h"));
  for (const char* value : {"1ms", "24h1ms"}) {
    EXPECT_THAT(transition(value).errors,
                ElementsAre(at + "has to be a whole number of seconds, 0s to 24h"));
  }
  EXPECT_EQ(transition("-1s").errors.size(), 1U);
}

TEST(ServicesFile, Rates) {
  const auto rate = [](const std::string& value) {
    return ParseServicesConfig(File("", "rate_limit: {" + value + "}"), "s.yaml");
  };
  EXPECT_EQ(rate("").value.services.at(0).rate_limit, RateLimit{});
  EXPECT_EQ(rate("total: 7").value.services.at(0).rate_limit, (RateLimit{.total = 7}));
  EXPECT_EQ(rate("per_source: 5, total: 1000").value.services.at(0).rate_limit,
            (RateLimit{.per_source = 5, .total = 1000}));
  EXPECT_THAT(rate("per_source: 100000000, total: 100000000").errors, IsEmpty());
  EXPECT_THAT(rate("per_source: 100000001, total: 4294967295").errors,
              ElementsAre("s.yaml:4:99 services[0].rate_limit.per_source: 100000001 is not in "
                          "0..100000000",
                          "s.yaml:4:117 services[0].rate_limit.total: 4294967295 is not in "
                          "0..100000000"));
  EXPECT_EQ(rate("total: -1, per_source: 1.5").errors.size(), 2U);
}

TEST(ServicesFile, TableSize) {
  const auto size = [](const std::string& value) {
    return Errors(File("table_size: " + value, ""));
  };
  EXPECT_THAT(size("5000011"), IsEmpty());
  EXPECT_THAT(size("2"), IsEmpty());
  const std::string at = "s.yaml:2:29 pools[0].table_size: ";
  EXPECT_THAT(size("0"), ElementsAre(at + "0 is not a prime from 2 to 5000011"));
  EXPECT_THAT(size("5000012"), ElementsAre(at + "5000012 is not a prime from 2 to 5000011"));
  EXPECT_THAT(size("5000010"), ElementsAre(at + "5000010 is not a prime; the next one is 5000011"));
  EXPECT_THAT(Errors(File("table_size: 2, backends: [{address: 10.0.0.1}, {address: 10.0.0.2}, "
                          "{address: 10.0.0.3}]",
                          "")),
              ElementsAre(at + "2 is below the number of backends, 3"));
}

}  // namespace
}  // namespace penstock::config

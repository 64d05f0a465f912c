// What is legal and nevertheless worth a look.

#include "penstock/config/validate.h"
#include "tests/config/files.h"

namespace penstock::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Line(const std::string& name, const std::string& more) {
  return "name: " + name + ", address: 192.0.2.1, protocol: tcp, " + more;
}

// Without that about the seed, which these files do not have.
Violations WarningsOf(const std::string& backends, const std::string& service) {
  ServicesConfig config = Services(backends, {Line("a", service)});
  config.hash.seed = "s";
  return Warnings(config);
}

Violations MtuWarnings(const std::string& backends, const std::string& service,
                       const std::string& mtu) {
  return WarningsAgainstHost(Services(backends, {Line("a", service)}),
                             Host("addresses: [198.51.100.2/24], mtu: " + mtu));
}

TEST(Warnings, SeedAndPools) {
  const auto loaded = ParseServicesConfig(
      "pools:\n"
      "  - {name: a, table_size: 101, backends: [{address: 10.0.0.1}, {address: 10.0.0.2}]}\n"
      "  - {name: b, backends: [{address: 10.0.0.1, weight: 0}]}\n"
      "services: []\n",
      "s.yaml");
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_THAT(
      loaded.source.Format(Warnings(loaded.value)),
      ElementsAre("s.yaml:1:1 hash.seed: is empty: clients can aim their flows at one "
                  "backend",
                  "s.yaml:2:27 pools[0].table_size: 101 slots are few for 2 backends; at "
                  "least 200 keep the shares close to the weights",
                  "s.yaml:3:25 pools[1].backends: none has a weight above 0: no new flows"));
}

TEST(Warnings, ChecksumOfNoGue) {
  const Violation warning{"services[0].gue_udp_checksum",
                          "zero has no effect: the encapsulation is not gue"};
  for (const char* encapsulation : {"ipip", "gre", "l2"}) {
    const std::string with = std::string("encapsulation: ") + encapsulation;
    EXPECT_THAT(WarningsOf("10.0.0.1", with + ", gue_udp_checksum: zero"), ElementsAre(warning));
    EXPECT_THAT(WarningsOf("10.0.0.1", with + ", gue_udp_checksum: computed"), IsEmpty());
  }
  EXPECT_THAT(WarningsOf("10.0.0.1", "encapsulation: gue, gue_udp_checksum: zero"), IsEmpty());
}

TEST(Warnings, OuterSourceForNobody) {
  const std::string outer = "outer_source_prefix: 198.51.100.0/24";
  EXPECT_THAT(
      WarningsOf("2001:db8::1 2001:db8::2", outer),
      ElementsAre(Violation{"services[0].outer_source_prefix",
                            "198.51.100.0/24 has no effect: no backend of pool p is IPv4"}));
  EXPECT_THAT(WarningsOf("10.0.0.1", "outer_source_prefix: \"2001:db8::/64\""),
              ElementsAre(Violation{"services[0].outer_source_prefix",
                                    "2001:db8::/64 has no effect: no backend of pool p is IPv6"}));
  // Expect: one backend of the family is enough.
  EXPECT_THAT(WarningsOf("2001:db8::1 10.0.0.2", outer), IsEmpty());
  // Expect: of a pool without backends that alone is said.
  EXPECT_THAT(
      WarningsOf("", outer),
      ElementsAre(Violation{"pools[0].backends", "none has a weight above 0: no new flows"}));
}

TEST(Warnings, RateOfASourceAboveThatOfAll) {
  const auto limit = [](const std::string& rates) {
    return WarningsOf("10.0.0.1", "rate_limit: {" + rates + "}");
  };
  EXPECT_THAT(limit("per_source: 11, total: 10"),
              ElementsAre(Violation{"services[0].rate_limit.per_source",
                                    "11 has no effect: it is above the total, 10"}));
  EXPECT_THAT(limit("per_source: 10, total: 10"), IsEmpty());
  // Expect: a total of 0 bounds nothing.
  EXPECT_THAT(limit("per_source: 11, total: 0"), IsEmpty());
  EXPECT_THAT(limit("total: 10"), IsEmpty());
}

TEST(Warnings, PortTooSmallForWhatClientsSend) {
  EXPECT_THAT(MtuWarnings("10.0.0.1", "ports: [1]", "1500"),
              ElementsAre(Violation{
                  "services[0].encapsulation",
                  "port up: MTU 1500 leaves 1480 bytes for clients' packets of service a: bigger "
                  "ones are answered with ICMP \"too big\"; raise the port's and fabric's MTU to "
                  "1520, or lower the MSS on the backends (see docs/MTU.md)"}));
  EXPECT_EQ(MtuWarnings("10.0.0.1", "ports: [1]", "1519").size(), 1U);
  EXPECT_THAT(MtuWarnings("10.0.0.1", "ports: [1]", "1520"), IsEmpty());
}

TEST(Warnings, OverheadOfEachEncapsulation) {
  const std::vector<std::tuple<std::string, std::string, int>> cases = {
      {"ipip", "10.0.0.1", 20},
      {"gre", "10.0.0.1", 24},
      {"gue", "10.0.0.1", 32},
      {"l2", "10.0.0.1", 0},
      {"ipip", "2001:db8::1", 40},
      {"gre", "2001:db8::1", 44},
      {"gue", "2001:db8::1", 52},
      {"l2", "2001:db8::1", 0},
      // Expect: with both families the larger header counts.
      {"gue", "10.0.0.1 2001:db8::1", 52}};
  for (const auto& [encapsulation, backends, overhead] : cases) {
    const std::string service = "encapsulation: " + encapsulation;
    const std::string enough = std::to_string(1500 + overhead);
    EXPECT_THAT(MtuWarnings(backends, service, enough), IsEmpty()) << encapsulation << backends;
    const auto below = MtuWarnings(backends, service, std::to_string(1499 + overhead));
    ASSERT_EQ(below.size(), 1U) << encapsulation << backends;
    EXPECT_THAT(below[0].reason, testing::HasSubstr("MTU to " + enough + ","));
  }
  EXPECT_THAT(MtuWarnings("", "ports: [1]", "1280"), IsEmpty());
}

TEST(Warnings, OnceForEachMtuAndOverhead) {
  const ServicesConfig config =
      Services("10.0.0.1", {Line("a", "ports: [1]"), Line("b", "ports: [2]"),
                            Line("c", "ports: [3], encapsulation: gre")});
  HostConfig host = Host("addresses: [198.51.100.2/24]");
  host.dataplane.ports.resize(3, host.dataplane.ports[0]);
  host.dataplane.ports[1].name = "down";
  host.dataplane.ports[2].name = "big";
  host.dataplane.ports[2].mtu = 1522;
  const Violations warnings = WarningsAgainstHost(config, host);
  ASSERT_EQ(warnings.size(), 3U);
  EXPECT_THAT(warnings[0].reason,
              testing::StartsWith("ports up, down: MTU 1500 leaves 1480 bytes for clients' packets "
                                  "of service a and 1 more: "));
  EXPECT_THAT(warnings[1].reason, testing::StartsWith("ports up, down: MTU 1500 leaves 1476 bytes "
                                                      "for clients' packets of service c: "));
  EXPECT_THAT(warnings[2].reason, testing::StartsWith("port big: MTU 1522 leaves 1498 bytes for "
                                                      "clients' packets of service c: "));
}

}  // namespace
}  // namespace penstock::config

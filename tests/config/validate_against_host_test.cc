#include "penstock/config/validate.h"
#include "tests/config/files.h"

namespace penstock::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ServicesConfig One(const std::string& vip, const std::string& backends,
                   const std::string& more = "ports: [1]") {
  return Services(backends, {"name: a, address: \"" + vip + "\", protocol: tcp, " + more});
}

constexpr char kV4Only[] = "addresses: [192.0.2.2/24], gateways: [192.0.2.1]";

TEST(ValidateAgainstHost, BackendWithoutAWayOut) {
  EXPECT_THAT(ValidateAgainstHost(One("203.0.113.1", "10.0.0.1"), Host(kV4Only)), IsEmpty());
  EXPECT_THAT(ValidateAgainstHost(One("203.0.113.1", "2001:db8::1"), Host(kV4Only)),
              ElementsAre(Violation{
                  "pools[0].backends[0].address",
                  "no port of this host has an IPv6 address and a gateway, so the backend "
                  "cannot be reached"}));
  // Expect: an address without a next hop is not enough; a fixed MAC is one.
  const ServicesConfig v4 = One("203.0.113.1", "10.0.0.1");
  EXPECT_EQ(ValidateAgainstHost(v4, Host("addresses: [192.0.2.2/24]")).size(), 1U);
  EXPECT_THAT(ValidateAgainstHost(
                  v4, Host("addresses: [192.0.2.2/24], gateway_mac: \"02:00:00:00:00:01\"")),
              IsEmpty());
}

TEST(ValidateAgainstHost, VipThatIsOurOwnAddress) {
  EXPECT_THAT(ValidateAgainstHost(One("192.0.2.2", "10.0.0.1"), Host(kV4Only)),
              ElementsAre(Violation{"services[0].address",
                                    "192.0.2.2 is an address of port up of this host"}));
}

// E06: a backend that is this host would get its own packets back.
TEST(ValidateAgainstHost, E06_BackendThatIsOurOwnAddress) {
  EXPECT_THAT(ValidateAgainstHost(One("203.0.113.1", "192.0.2.2"), Host(kV4Only)),
              ElementsAre(Violation{"pools[0].backends[0].address",
                                    "192.0.2.2 is an address of port up of this host, which would "
                                    "send to itself"}));
}

TEST(ValidateAgainstHost, VipThatHoldsOurOwnAddresses) {
  EXPECT_THAT(ValidateAgainstHost(One("192.0.2.1", "10.0.0.1"), Host(kV4Only)),
              ElementsAre(Violation{"services[0].address",
                                    "192.0.2.1 is a gateway of port up of this host"}));
  EXPECT_THAT(
      ValidateAgainstHost(One("192.0.2.2/31", "10.0.0.1"), Host(kV4Only)),
      ElementsAre(Violation{"services[0].address",
                            "192.0.2.2/31 holds 192.0.2.2, an address of port up of this host"}));
  EXPECT_THAT(ValidateAgainstHost(One("192.0.0.0/16", "10.0.0.1"), Host(kV4Only)),
              ElementsAre(Violation{
                  "services[0].address",
                  "192.0.0.0/16 holds 192.0.2.1, a gateway of port up of this host and 1 more"}));
  // Expect: the segment itself may hold VIPs.
  EXPECT_THAT(ValidateAgainstHost(One("192.0.2.128/25", "10.0.0.1"), Host(kV4Only)), IsEmpty());
}

// E10: the gateway would drop packets that claim to come from it.
TEST(ValidateAgainstHost, E10_OuterSourceThatHoldsAGateway) {
  const auto outer = [](const std::string& prefix) {
    return ValidateAgainstHost(One("203.0.113.1", "10.0.0.1", "outer_source_prefix: " + prefix),
                               Host(kV4Only));
  };
  EXPECT_THAT(
      outer("192.0.2.0/24"),
      ElementsAre(Violation{"services[0].outer_source_prefix",
                            "192.0.2.0/24 holds 192.0.2.1, a gateway of port up of this host"}));
  // Expect: the port's own address may be one of them.
  EXPECT_THAT(outer("192.0.2.2/31"), IsEmpty());
}

TEST(ValidateAgainstHost, L2BackendBesideThePort) {
  const auto l2 = [](const std::string& backends, const std::string& host) {
    return ValidateAgainstHost(One("203.0.113.1", backends, "encapsulation: l2"), Host(host));
  };
  EXPECT_THAT(l2("192.0.2.77", kV4Only), IsEmpty());
  // Expect: no gateway is needed.
  EXPECT_THAT(l2("192.0.2.77", "addresses: [192.0.2.2/24]"), IsEmpty());
  EXPECT_THAT(l2("192.0.2.77 10.0.0.1 2001:db8::1", kV4Only),
              ElementsAre(Violation{"pools[0].backends[1].address",
                                    "10.0.0.1 is outside the prefixes of this host's port "
                                    "addresses, so service a cannot reach it with encapsulation "
                                    "l2"},
                          Violation{"pools[0].backends[2].address",
                                    "2001:db8::1 is outside the prefixes of this host's port "
                                    "addresses, so service a cannot reach it with encapsulation "
                                    "l2"}));
}

// E06: the packet would be sent to our own MAC.
TEST(ValidateAgainstHost, E06_L2BackendThatIsOurOwnAddress) {
  EXPECT_THAT(
      ValidateAgainstHost(One("203.0.113.1", "192.0.2.2", "encapsulation: l2"), Host(kV4Only)),
      ElementsAre(Violation{"pools[0].backends[0].address",
                            "192.0.2.2 is an address of port up of this host, which would "
                            "send to itself"}));
}

TEST(ValidateAgainstHost, PoolOfL2AndOthers) {
  const auto services = [](const std::string& second) {
    return Services("192.0.2.77",
                    {"name: a, address: 203.0.113.1, protocol: tcp, encapsulation: l2",
                     "name: b, address: 203.0.113.2, protocol: tcp" + second});
  };
  // Expect: both rules hold for a pool that is used both ways.
  const HostConfig no_gateway = Host("addresses: [192.0.2.2/24]");
  EXPECT_THAT(ValidateAgainstHost(services(", encapsulation: l2"), no_gateway), IsEmpty());
  for (const char* routed : {"ipip", "gre", "gue"}) {
    EXPECT_THAT(
        ValidateAgainstHost(services(std::string(", encapsulation: ") + routed), no_gateway),
        ElementsAre(Violation{"pools[0].backends[0].address",
                              "no port of this host has an IPv4 address and a gateway, so the "
                              "backend cannot be reached"}))
        << routed;
  }
}

TEST(ValidateAgainstHost, Ipv6ThatDoesNotFit) {
  const std::string both =
      "addresses: [192.0.2.2/24, \"2001:db8:1::2/64\"], gateways: [192.0.2.1, "
      "\"2001:db8:1::1\"], mtu: ";
  const std::vector<std::tuple<std::string, std::string, int>> cases = {
      {"ipip", "10.0.0.1", 20},
      {"gre", "10.0.0.1", 24},
      {"gue", "10.0.0.1", 32},
      {"l2", "192.0.2.7", 0},
      {"ipip", "2001:db8::1", 40},
      {"gre", "2001:db8::1", 44},
      {"gue", "2001:db8::1", 52},
      {"l2", "2001:db8:1::7", 0},
      {"ipip", "2001:db8::1 10.0.0.1", 40}};
  for (const auto& [encapsulation, backends, overhead] : cases) {
    const std::string more = "encapsulation: " + encapsulation;
    const ServicesConfig v6 = One("2001:db8:53::/64", backends, more);
    const int needed = 1280 + overhead;
    EXPECT_THAT(ValidateAgainstHost(v6, Host(both + std::to_string(needed))), IsEmpty())
        << encapsulation << backends;
    EXPECT_THAT(ValidateAgainstHost(One("203.0.113.1", backends, more), Host(both + "1280")),
                IsEmpty());
    if (overhead == 0) continue;
    const std::string family = backends.starts_with("10.") ? "IPv4" : "IPv6";
    EXPECT_THAT(
        ValidateAgainstHost(v6, Host(both + std::to_string(needed - 1))),
        ElementsAre(Violation{"services[0].address",
                              "IPv6 packets do not fit the MTU of port up of this host: " +
                                  std::to_string(needed - 1) + " is below " +
                                  std::to_string(needed) + ", that is 1280 + " +
                                  std::to_string(overhead) + " for " + family + " backends"}));
  }
}

}  // namespace
}  // namespace penstock::config

// `outer_source_prefix` and `deny`.

#include "penstock/config/validate.h"
#include "tests/config/files.h"

namespace penstock::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kBackends[] = "10.0.0.1 2001:db8::1";

std::string Line(const std::string& more) {
  return "name: a, address: 192.0.2.1, protocol: tcp, " + more;
}

std::vector<std::string> Outer(const std::string& prefix) {
  return Errors(kBackends, {Line("outer_source_prefix: \"" + prefix + "\"")});
}

constexpr char kAtOuter[] = "s:3:71 services[0].outer_source_prefix: ";

TEST(ValidateServices, OuterSourcesThatCanBe) {
  for (const char* prefix : {"198.51.100.0/24", "198.51.100.7", "10.0.0.2/31", "100.64.0.0/10",
                             "2001:db8:5::/64", "fd00::/8", ""}) {
    EXPECT_THAT(Outer(prefix), IsEmpty()) << prefix;
  }
}

// E10: routers and backends drop sources that cannot be; so they are refused here.
TEST(ValidateServices, E10_OuterSourcesThatNobodyCanHave) {
  const auto holds = [](const std::string& prefix, const std::string& what) {
    return ElementsAre(kAtOuter + prefix + " holds " + what +
                       " addresses, which routers and backends drop as sources");
  };
  EXPECT_THAT(Outer("0.0.0.0"), holds("0.0.0.0", "unspecified"));
  EXPECT_THAT(Outer("0.0.0.0/0"), holds("0.0.0.0/0", "unspecified"));
  EXPECT_THAT(Outer("0.1.0.0/16"), holds("0.1.0.0/16", "unspecified"));
  EXPECT_THAT(Outer("127.0.0.0/24"), holds("127.0.0.0/24", "loopback"));
  EXPECT_THAT(Outer("169.254.7.0/24"), holds("169.254.7.0/24", "link-local"));
  EXPECT_THAT(Outer("224.0.0.0/8"), holds("224.0.0.0/8", "multicast"));
  EXPECT_THAT(Outer("192.0.0.0/2"), holds("192.0.0.0/2", "multicast"));
  EXPECT_THAT(Outer("255.255.255.255"), holds("255.255.255.255", "broadcast"));
  EXPECT_THAT(Outer("255.255.255.0/24"), holds("255.255.255.0/24", "broadcast"));
  EXPECT_THAT(Outer("::/0"), holds("::/0", "unspecified"));
  EXPECT_THAT(Outer("::1"), holds("::1", "loopback"));
  EXPECT_THAT(Outer("::ffff:10.0.0.0/104"), holds("::ffff:10.0.0.0/104", "IPv4-mapped"));
  EXPECT_THAT(Outer("fe80::/64"), holds("fe80::/64", "link-local"));
  EXPECT_THAT(Outer("ff00::/8"), holds("ff00::/8", "multicast"));
}

TEST(ValidateServices, E10_OuterSourceWithHostBits) {
  EXPECT_THAT(Outer("198.51.100.1/24"),
              ElementsAre(std::string(kAtOuter) +
                          "198.51.100.1/24 has host bits set; the network is 198.51.100.0/24"));
}

TEST(ValidateServices, E10_OuterSourceThatIsAVip) {
  const std::string vip =
      " has addresses in common with 192.0.2.1, the VIP of service a (services[0])";
  EXPECT_THAT(Outer("192.0.2.1"), ElementsAre(kAtOuter + std::string("192.0.2.1") + vip));
  EXPECT_THAT(Outer("192.0.0.0/16"), ElementsAre(kAtOuter + std::string("192.0.0.0/16") + vip));
  // Expect: VIPs of other services count, and those that hold the whole prefix.
  EXPECT_THAT(Errors(kBackends, {Line("outer_source_prefix: 198.51.100.0/24"),
                                 "name: b, address: 198.51.0.0/16, protocol: udp"}),
              ElementsAre(kAtOuter + std::string("198.51.100.0/24 has addresses in common with "
                                                 "198.51.0.0/16, the VIP of service b "
                                                 "(services[1])")));
  EXPECT_THAT(Errors(kBackends, {Line("outer_source_prefix: 198.51.100.0/24"),
                                 "name: b, address: 198.51.101.0/24, protocol: udp"}),
              IsEmpty());
}

TEST(ValidateServices, E10_OuterSourceThatHoldsABackend) {
  EXPECT_THAT(Outer("10.0.0.0/24"),
              ElementsAre(kAtOuter + std::string("10.0.0.0/24 holds 10.0.0.1, the backend "
                                                 "pools[0].backends[0]")));
  EXPECT_THAT(Outer("2001:db8::/64"),
              ElementsAre(kAtOuter + std::string("2001:db8::/64 holds 2001:db8::1, the backend "
                                                 "pools[0].backends[1]")));
  // Expect: also one of a pool that the service does not use.
  EXPECT_THAT(ParseServicesConfig("pools: [{name: p, backends: [{address: 10.0.0.1}]}, {name: q}]\n"
                                  "services:\n"
                                  "  - {name: a, address: 192.0.2.1, protocol: tcp, pool: q, "
                                  "outer_source_prefix: 10.0.0.0/24}\n",
                                  "s")
                  .errors,
              ElementsAre(testing::HasSubstr("10.0.0.0/24 holds 10.0.0.1, the backend "
                                             "pools[0].backends[0]")));
}

TEST(ValidateServices, OuterSourceWithoutAnOuterHeader) {
  EXPECT_THAT(Errors("10.0.0.1", {Line("encapsulation: l2, outer_source_prefix: 198.51.100.0")}),
              ElementsAre("s:3:90 services[0].outer_source_prefix: is of no use with encapsulation "
                          "l2, which has no outer header"));
  // Expect: none said, nothing to say.
  EXPECT_THAT(Errors("10.0.0.1", {Line("encapsulation: l2, outer_source_prefix: \"\"")}),
              IsEmpty());
}

TEST(ValidateServices, Deny) {
  EXPECT_THAT(Errors("", {Line("deny: [10.0.0.0/8, 10.0.0.0/9, 10.0.0.1, 0.0.0.0/0]")}), IsEmpty());
  EXPECT_THAT(
      Errors("", {Line("deny: [10.0.0.1/8, \"2001:db8::/32\", 10.0.0.1, 10.0.0.1/32]")}),
      ElementsAre("s:3:57 services[0].deny[0]: 10.0.0.1/8 has host bits set; the network is "
                  "10.0.0.0/8",
                  "s:3:69 services[0].deny[1]: 2001:db8::/32 is IPv6, and the clients of an IPv4 "
                  "service are not",
                  "s:3:96 services[0].deny[3]: is the same as services[0].deny[2]"));
  EXPECT_THAT(Errors("", {"name: a, address: \"2001:db8::1\", protocol: tcp, deny: [10.0.0.0/8]"}),
              ElementsAre("s:3:61 services[0].deny[0]: 10.0.0.0/8 is IPv4, and the clients of an "
                          "IPv6 service are not"));
}

TEST(ValidateServices, DenyTooMany) {
  ServicesConfig config = Services("", {Line("ports: [1]")});
  for (uint16_t i = 0; i < 1000; ++i) {
    config.services[0].deny.push_back(
        {{.bytes = {10, static_cast<uint8_t>(i / 256), static_cast<uint8_t>(i % 256)}}, 24});
  }
  EXPECT_THAT(Validate(config), IsEmpty());
  config.services[0].deny.push_back(Prefix("172.16.0.0/12"));
  EXPECT_THAT(Validate(config),
              ElementsAre(Violation{"services[0].deny", "1001 prefixes are more than 1000"}));
}

}  // namespace
}  // namespace penstock::config

// VIPs against what they may be and hold, and who answers their pings.

#include "penstock/config/validate.h"
#include "tests/config/files.h"

namespace penstock::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Matcher;

std::string Line(const std::string& name, const std::string& address,
                 const std::string& more = "") {
  return "name: " + name + ", address: \"" + address + "\", protocol: tcp" +
         (more.empty() ? "" : ", " + more);
}

std::vector<std::string> Vip(const std::string& address) {
  return Errors("10.0.0.1 2001:db8::1", {Line("a", address)});
}

TEST(ValidateServices, VipsThatCanBe) {
  for (const char* address :
       {"192.0.2.1", "192.0.2.1/32", "203.0.113.0/28", "192.0.2.0/31", "64.0.0.0/3",
        "2001:db8:1::", "2001:db8:1::1/128", "2001:db8:1::/48", "4000::/3"}) {
    EXPECT_THAT(Vip(address), IsEmpty()) << address;
  }
}

TEST(ValidateServices, VipsWithHostBits) {
  EXPECT_THAT(
      Vip("203.0.113.5/28"),
      ElementsAre("s:3:24 services[0].address: 203.0.113.5/28 has host bits set; the network "
                  "is 203.0.113.0/28"));
  EXPECT_THAT(Vip("2001:db8:1::1/127"),
              ElementsAre("s:3:24 services[0].address: 2001:db8:1::1/127 has host bits set; the "
                          "network is 2001:db8:1::/127"));
}

TEST(ValidateServices, VipsThatCannotBe) {
  const std::string at = "s:3:24 services[0].address: ";
  EXPECT_THAT(Vip("0.0.0.0/0"), ElementsAre(at + "0.0.0.0/0 is every address"));
  EXPECT_THAT(Vip("::/0"), ElementsAre(at + "::/0 is every address"));
  EXPECT_THAT(Vip("0.0.0.0"), ElementsAre(at + "0.0.0.0 is the unspecified address"));
  EXPECT_THAT(Vip("0.0.0.0/1"), ElementsAre(at + "0.0.0.0 is the unspecified address"));
  EXPECT_THAT(Vip("::/64"), ElementsAre(at + ":: is the unspecified address"));
  EXPECT_THAT(Vip("224.0.0.0/24"), ElementsAre(at + "224.0.0.0 is a multicast address"));
  EXPECT_THAT(Vip("ff02::/16"), ElementsAre(at + "ff02:: is a multicast address"));
  EXPECT_THAT(Vip("127.0.0.0/8"), ElementsAre(at + "127.0.0.0 is a loopback address"));
  EXPECT_THAT(Vip("::1"), ElementsAre(at + "::1 is a loopback address"));
  EXPECT_THAT(Vip("169.254.1.0/24"), ElementsAre(at + "169.254.1.0/24 holds link-local addresses"));
  EXPECT_THAT(Vip("fe80::/64"), ElementsAre(at + "fe80:: is a link-local address"));
  // Expect: not only at its beginning.
  EXPECT_THAT(Vip("128.0.0.0/1"), ElementsAre(at + "128.0.0.0/1 holds link-local addresses"));
  EXPECT_THAT(Vip("126.0.0.0/7"), ElementsAre(at + "126.0.0.0/7 holds loopback addresses"));
  EXPECT_THAT(Vip("fc00::/6"), ElementsAre(at + "fc00::/6 holds link-local addresses"));
  EXPECT_THAT(Vip("255.255.255.255"), ElementsAre(at + "255.255.255.255 is the broadcast address"));
  EXPECT_THAT(Vip("::ffff:192.0.2.0/120"),
              ElementsAre(at + "::ffff:192.0.2.0 is an IPv4 address; write it as one"));
}

// E06: what is wrapped for such a backend is for the VIP again when it arrives.
TEST(ValidateServices, E06_VipThatHoldsABackend) {
  const std::string at = "s:3:24 services[0].address: ";
  EXPECT_THAT(Vip("10.0.0.1"), ElementsAre(at + "10.0.0.1 is also the backend "
                                                "pools[0].backends[0]"));
  EXPECT_THAT(Vip("10.0.0.0/24"), ElementsAre(at + "10.0.0.0/24 holds 10.0.0.1, the backend "
                                                   "pools[0].backends[0]"));
  EXPECT_THAT(Vip("2001:db8::/32"), ElementsAre(at + "2001:db8::/32 holds 2001:db8::1, the backend "
                                                     "pools[0].backends[1]"));
  EXPECT_THAT(Vip("10.0.0.2/31"), IsEmpty());
  // Expect: one line for each VIP, however many backends it holds.
  EXPECT_THAT(Errors("10.0.0.9 10.0.1.1 10.0.0.3", {Line("a", "10.0.0.0/24")}),
              ElementsAre(at + "10.0.0.0/24 holds 10.0.0.3, the backend pools[0].backends[2] and 1 "
                               "more"));
}

// E06: backends of other pools count, because one packet may meet several services.
TEST(ValidateServices, E06_VipThatHoldsABackendOfAnotherPool) {
  EXPECT_THAT(ParseServicesConfig("pools: [{name: p}, {name: q, backends: [{address: 10.0.0.1}]}]\n"
                                  "services:\n"
                                  "  - {name: a, address: 10.0.0.0/8, protocol: tcp, pool: p}\n"
                                  "  - {name: b, address: 192.0.2.1, protocol: tcp, pool: q}\n",
                                  "s")
                  .errors,
              ElementsAre("s:3:24 services[0].address: 10.0.0.0/8 holds 10.0.0.1, the backend "
                          "pools[1].backends[0]"));
}

TEST(ValidateServices, EchoOfOnePrefix) {
  const auto services = [](const std::string& first, const std::string& second) {
    return Errors("", {Line("a", "192.0.2.0/24", "ports: [1], icmp_echo: " + first),
                       Line("c", "192.0.2.0/24", "ports: [3]"),
                       Line("b", "192.0.2.0/24", "ports: [2], icmp_echo: " + second)});
  };
  EXPECT_THAT(services("forward", "forward"), IsEmpty());
  EXPECT_THAT(services("forward", "drop"),
              ElementsAre("s:5:78 services[2].icmp_echo: service b says drop and service a "
                          "(services[0]) says forward for pings of 192.0.2.0/24"));
  // Expect: another prefix may say something else, also one inside.
  EXPECT_THAT(Errors("", {Line("a", "192.0.2.0/24", "icmp_echo: forward"),
                          Line("b", "192.0.2.0/25", "icmp_echo: drop")}),
              IsEmpty());
}

TEST(ValidateServices, WhoAnswersPings) {
  const ServicesConfig config = Services(
      "", {Line("a", "192.0.2.0/24", "ports: [1]"),
           Line("b", "192.0.2.0/24", "ports: [2], icmp_echo: drop"),
           Line("c", "192.0.2.1", "ports: [1]"), Line("d", "2001:db8::1", "icmp_echo: forward")});
  const EchoPolicies policies(config);
  // Expect: who does not set it follows who does, by the very same prefix.
  EXPECT_EQ(policies.Of(config.services[0].prefix), IcmpEcho::kDrop);
  EXPECT_EQ(policies.Of(config.services[1].prefix), IcmpEcho::kDrop);
  EXPECT_EQ(policies.Of(config.services[2].prefix), IcmpEcho::kReply);
  EXPECT_EQ(policies.Of(config.services[3].prefix), IcmpEcho::kForward);
}

TEST(ValidateServices, StructsWithoutSense) {
  ServicesConfig config = Services("", {Line("a", "192.0.2.1")});
  config.services[0].prefix.length = 33;
  config.services[0].deny = {{.address = {}, .length = 255}};
  config.services[0].outer_source_prefix = {{.address = {}, .length = 129}};
  EXPECT_THAT(
      Validate(config),
      ElementsAre(Violation{"services[0].address", "/33 is longer than the address"},
                  Violation{"services[0].outer_source_prefix", "/129 is longer than the address"},
                  Violation{"services[0].deny[0]", "/255 is longer than the address"}));
}

// A datagram that makes no entry begins nothing that could be counted; each SYN begins something.
TEST(ValidateServices, LimitsOfUdpNeedTracking) {
  for (const Tracking tracking : {Tracking::kFull, Tracking::kTransitionOnly, Tracking::kNone}) {
    ServicesConfig config = Services("", {Line("a", "192.0.2.1"), Line("b", "192.0.2.2")});
    config.services[1].protocol = Protocol::kUdp;
    for (Service& service : config.services) service.tracking = tracking;
    EXPECT_THAT(Validate(config), IsEmpty());
    for (const RateLimit& limit : {RateLimit{.per_source = 1}, RateLimit{.total = 1}}) {
      for (Service& service : config.services) service.rate_limit = limit;
      const Violation refused{"services[1].rate_limit",
                              "new UDP flows are told by their entries: needs tracking: full"};
      EXPECT_THAT(Validate(config), tracking == Tracking::kFull ? Matcher<Violations>(IsEmpty())
                                                                : ElementsAre(refused));
    }
  }
}

// 5,000 services that all overlap in prefix, range and pool, in time n log n.
TEST(ValidateServices, ManyThatTouch) {
  ServicesConfig config;
  config.pools = {{.name = "p", .table_size = 655373}};
  for (uint32_t i = 0; i < 65000; ++i) {
    Backend backend;
    backend.address.bytes = {10, static_cast<uint8_t>(i >> 16), static_cast<uint8_t>(i >> 8),
                             static_cast<uint8_t>(i)};
    config.pools[0].backends.push_back(backend);
  }
  for (uint16_t i = 0; i < 5000; ++i) {
    const auto first = static_cast<uint16_t>(1 + i * 13);
    Service service{.name = "s" + std::to_string(i),
                    .prefix = Prefix("192.0.2.0/24"),
                    .ports = {{first, static_cast<uint16_t>(first + 12)}, {first, first}},
                    .pool = "p"};
    service.outer_source_prefix = Prefix("198.51.100.0/24");
    service.icmp_echo = IcmpEcho::kDrop;
    for (uint8_t j = 0; j < 20; ++j) service.deny.push_back({{.bytes = {j}}, 32});
    config.services.push_back(std::move(service));
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(Validate(config), IsEmpty());
  EXPECT_THAT(
      ValidateAgainstHost(config, Host("addresses: [172.16.0.2/24], gateways: [172.16.0.1]")),
      IsEmpty());
  // Expect: far below the minutes that each pair would take; generous for sanitizers.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

}  // namespace
}  // namespace penstock::config

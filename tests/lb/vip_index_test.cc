#include "penstock/lb/vip_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "penstock/lb/address_set.h"
#include "tests/support/frame.h"

namespace penstock::lb {
namespace {

using testing::Ip;

const HashKey kSecret = HashKey::FromSeed("vips");

net::IpPrefix Prefix(std::string_view text) {
  return *net::IpPrefix::Parse(text);
}

FlowKey4 Key4(std::string_view vip, uint16_t port, uint8_t protocol = net::kProtocolTcp) {
  return {.source = 7,
          .destination = Ip(vip).v4().raw(),
          .source_port = base::be16_t(9),
          .destination_port = base::be16_t(port),
          .service = ServiceAndProtocol::Of(kNoId, protocol)};
}

FlowKey6 Key6(std::string_view vip, uint16_t port) {
  return {.source = Ip("2001:db8::1").bytes,
          .destination = Ip(vip).bytes,
          .source_port = base::be16_t(9),
          .destination_port = base::be16_t(port),
          .service = ServiceAndProtocol::Of(kNoId, net::kProtocolTcp)};
}

TEST(VipIndex, ExactPortThenRangeThenEveryPort) {
  const std::vector<VipEntry> entries = {
      {.prefix = Prefix("203.0.113.10"), .ports = {}},
      {.prefix = Prefix("203.0.113.10"), .ports = {{100, 200}, {300, 301}}},
      {.prefix = Prefix("203.0.113.10"), .ports = {{150, 150}}},
  };
  const VipIndex<FlowKey4> index(entries, kSecret);
  const std::map<uint16_t, uint32_t> expected = {{99, 0},  {100, 1}, {149, 1}, {150, 2},
                                                 {151, 1}, {200, 1}, {201, 0}, {299, 0},
                                                 {300, 1}, {301, 1}, {302, 0}, {65535, 0}};
  for (const auto& [port, service] : expected) {
    EXPECT_EQ(index.Find(Key4("203.0.113.10", port)).service, service) << port;
    EXPECT_EQ(index.Find(Key4("203.0.113.10", port)).by_exact_port, port == 150) << port;
  }
  // Expect: UDP has no service at this VIP, other protocols never have, and the next address has no
  // VIP at all.
  for (const uint8_t protocol : {net::kProtocolUdp, net::kProtocolGre, uint8_t{0}}) {
    const auto match = index.Find(Key4("203.0.113.10", 150, protocol));
    EXPECT_EQ(match.service, kNoService);
    EXPECT_NE(match.vip, nullptr);
  }
  EXPECT_EQ(index.Find(Key4("203.0.113.11", 150)).vip, nullptr);
}

// A match at a shorter prefix does not help what the longer one has no service for.
TEST(VipIndex, LongestPrefixFirstAndNoWayBack) {
  const std::vector<VipEntry> entries = {
      {.prefix = Prefix("203.0.113.0/24"), .ports = {}},
      {.prefix = Prefix("203.0.113.0/28"), .ports = {{80, 80}}},
      {.prefix = Prefix("203.0.113.7"), .protocol = net::kProtocolUdp, .ports = {{53, 53}}},
      {.prefix = Prefix("2001:db8:53::/64"), .ports = {{80, 90}}},
      {.prefix = Prefix("2001:db8:53::4240/122"), .ports = {{80, 80}}},
  };
  const VipIndex<FlowKey4> v4(entries, kSecret);
  EXPECT_EQ(v4.Find(Key4("203.0.113.200", 443)).service, 0U);
  EXPECT_EQ(v4.Find(Key4("203.0.113.5", 80)).service, 1U);
  EXPECT_EQ(v4.Find(Key4("203.0.113.5", 443)).service, kNoService);
  EXPECT_EQ(v4.Find(Key4("203.0.113.7", 80)).service, kNoService);
  EXPECT_EQ(v4.Find(Key4("203.0.113.7", 53, net::kProtocolUdp)).service, 2U);
  EXPECT_EQ(v4.Find(Key4("203.0.114.5", 80)).vip, nullptr);
  const VipIndex<FlowKey6> v6(entries, kSecret);
  EXPECT_EQ(v6.Find(Key6("2001:db8:53::4240", 80)).service, 4U);
  EXPECT_EQ(v6.Find(Key6("2001:db8:53::427f", 80)).service, 4U);
  EXPECT_EQ(v6.Find(Key6("2001:db8:53::4280", 80)).service, 3U);
  EXPECT_EQ(v6.Find(Key6("2001:db8:53::4240", 81)).service, kNoService);
  EXPECT_EQ(v6.Find(Key6("2001:db8:54::4240", 80)).vip, nullptr);
}

TEST(VipIndex, EchoGoesToTheServiceWithTheSmallestProtocolAndPort) {
  std::vector<VipEntry> entries = {
      {.prefix = Prefix("203.0.113.10"), .protocol = 17, .ports = {}, .echo = IcmpEcho::kForward},
      {.prefix = Prefix("203.0.113.10"), .ports = {{443, 443}, {80, 80}}},
      {.prefix = Prefix("203.0.113.10"), .ports = {{90, 99}}},
      {.prefix = Prefix("203.0.113.11"), .ports = {{1, 1}}, .echo = IcmpEcho::kDrop},
  };
  for (VipEntry& entry : entries) {
    if (entry.prefix == Prefix("203.0.113.10")) entry.echo = IcmpEcho::kForward;
  }
  // Expect: also of a port and a range that begin together, in whatever order they come.
  for (const bool swapped : {false, true}) {
    std::vector<VipEntry> both = {{.prefix = Prefix("203.0.113.12"), .ports = {{80, 80}}},
                                  {.prefix = Prefix("203.0.113.12"), .ports = {{80, 90}}}};
    if (swapped) std::swap(both[0], both[1]);
    const VipIndex<FlowKey4> small(both, kSecret);
    EXPECT_EQ(small.FindVip(Key4("203.0.113.12", 0, 1))->echo_service, swapped ? 1U : 0U);
  }
  const VipIndex<FlowKey4> index(entries, kSecret);
  const Vip* vip = index.FindVip(Key4("203.0.113.10", 0, 1));
  ASSERT_NE(vip, nullptr);
  EXPECT_EQ(vip->echo, IcmpEcho::kForward);
  EXPECT_EQ(vip->echo_service, 1U);
  EXPECT_EQ(index.FindVip(Key4("203.0.113.11", 0, 1))->echo, IcmpEcho::kDrop);
  EXPECT_EQ(index.FindVip(Key4("203.0.113.12", 0, 1)), nullptr);
}

// Against a search that looks at every service.
TEST(VipIndex, AgreesWithALinearSearchOverRandomServices) {
  std::mt19937 random(11);
  const auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int round = 0; round < 50; ++round) {
    std::vector<VipEntry> entries;
    std::map<std::pair<net::IpPrefix, int>, uint32_t> next_port;  // keeps ranges disjoint
    for (uint32_t i = 0; i < 40; ++i) {
      const auto length = static_cast<uint8_t>(32 - pick(6));
      const uint32_t address = (0xCB007100U + pick(64)) & (0xFFFFFFFFU << (32 - length));
      const net::IpPrefix prefix{net::IpAddress::V4(base::be32_t(address)), length};
      const uint8_t protocol = pick(2) == 0 ? net::kProtocolTcp : net::kProtocolUdp;
      uint32_t& port = next_port[{prefix, protocol}];
      const auto first = static_cast<uint16_t>(port + 1 + pick(3));
      const auto last = static_cast<uint16_t>(first + pick(4));
      port = last;
      entries.push_back({.prefix = prefix, .protocol = protocol, .ports = {{first, last}}});
    }
    const VipIndex<FlowKey4> index(entries, kSecret);
    for (int probe = 0; probe < 500; ++probe) {
      const auto vip = net::IpAddress::V4(base::be32_t(0xCB007100U + pick(70)));
      const auto port = static_cast<uint16_t>(1 + pick(20));
      const uint8_t protocol = pick(2) == 0 ? net::kProtocolTcp : net::kProtocolUdp;
      int longest = -1;
      for (const VipEntry& e : entries) {
        if (e.prefix.Contains(vip)) longest = std::max<int>(longest, e.prefix.length);
      }
      uint32_t expected = kNoService;
      for (uint32_t i = 0; i < entries.size(); ++i) {
        const VipEntry& e = entries[i];
        if (e.prefix.length != longest || !e.prefix.Contains(vip)) continue;
        const PortRange& range = e.ports[0];
        if (e.protocol == protocol && range.first <= port && port <= range.last) expected = i;
      }
      const auto match = index.Find(Key4(vip.ToString(), port, protocol));
      ASSERT_EQ(match.service, expected) << vip.ToString() << " " << port;
      if (expected == kNoService) {
        ASSERT_EQ(match.vip != nullptr, longest >= 0);
      }
    }
  }
}

TEST(AddressSet, HoldsWhatItsPrefixesHold) {
  const std::vector<net::IpPrefix> prefixes = {
      Prefix("192.0.2.128/25"),  Prefix("192.0.2.130/32"),    Prefix("10.0.0.0/8"),
      Prefix("2001:db8:1::/48"), Prefix("2001:db8:1:2::/64"), Prefix("192.0.2.0/30")};
  const AddressSet set(prefixes);
  for (const char* in : {"192.0.2.128", "192.0.2.130", "192.0.2.255", "10.255.255.255", "10.0.0.0",
                         "2001:db8:1::", "2001:db8:1:ffff::1", "192.0.2.3"}) {
    EXPECT_TRUE(set.Contains(Ip(in))) << in;
  }
  for (const char* out : {"192.0.2.127", "192.0.3.0", "11.0.0.0", "9.255.255.255",
                          "2001:db8:2::", "2001:db8:0:ffff::", "192.0.2.4", "::", "0.0.0.0"}) {
    EXPECT_FALSE(set.Contains(Ip(out))) << out;
  }
  // Expect: of prefixes that begin together the widest counts, in whatever order they come.
  for (const auto& [a, b] :
       {std::pair{"10.0.0.0/16", "10.0.0.0/8"}, {"10.0.0.0/8", "10.0.0.0/16"}}) {
    EXPECT_TRUE(AddressSet(std::vector{Prefix(a), Prefix(b)}).Contains(Ip("10.1.2.3")));
  }
  EXPECT_FALSE(AddressSet().Contains(Ip("10.0.0.1")));
  EXPECT_TRUE(AddressSet(std::vector{Prefix("0.0.0.0/0")}).Contains(Ip("255.255.255.255")));
  EXPECT_FALSE(AddressSet(std::vector{Prefix("0.0.0.0/0")}).Contains(Ip("::1")));
}

}  // namespace
}  // namespace penstock::lb

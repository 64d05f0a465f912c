#include "penstock/lb/neighbors.h"

#include <gtest/gtest.h>

#include "tests/lb/fixture.h"

namespace penstock::lb {
namespace {

using testing::Bytes;
using testing::Ip;

constexpr net::MacAddress kRouterMac = {{2, 0, 0, 0, 0, 0x99}};

Bytes Arp(uint16_t operation, std::string_view sender, std::string_view target) {
  net::ArpPacket arp;
  arp.operation = base::be16_t(operation);
  arp.sender_mac = kRouterMac;
  arp.sender_ip = Ip(sender).v4();
  arp.target_ip = Ip(target).v4();
  Bytes body;
  testing::Append(body, arp);
  return testing::Ethernet(net::kEtherTypeArp, body);
}

struct Ndp {
  uint8_t type = net::kNeighborSolicitation;
  std::string source = "2001:db8:2:1::1";
  std::string destination = "ff02::1:ff00:2";
  std::string target = "2001:db8:2:1::2";
  Bytes options = {1, 1, 2, 0, 0, 0, 0, 0x99};
  uint8_t hop_limit = 255;
  uint32_t flags = 0;
};

Bytes Message(const Ndp& ndp) {
  net::NeighborMessage message;
  message.type = ndp.type;
  message.target = Ip(ndp.target).bytes;
  message.flags = base::be32_t(ndp.flags);
  Bytes body;
  testing::Append(body, message);
  body.insert(body.end(), ndp.options.begin(), ndp.options.end());
  net::Ipv6Header ip;
  ip.payload_length = base::be16_t(static_cast<uint16_t>(body.size()));
  ip.next_header = net::kProtocolIcmpv6;
  ip.hop_limit = ndp.hop_limit;
  ip.source = Ip(ndp.source).bytes;
  ip.destination = Ip(ndp.destination).bytes;
  net::Store(body.data() + 2, net::Ipv6UpperChecksum(ip, net::kProtocolIcmpv6, body));
  Bytes packet;
  testing::Append(packet, ip);
  packet.insert(packet.end(), body.begin(), body.end());
  return testing::Ethernet(net::kEtherTypeIpv6, packet, kRouterMac);
}

class NeighborFrames : public World {};

TEST_F(NeighborFrames, AnswersArpForOurAddressOnly) {
  const Outcome o = Send(Arp(net::kArpRequest, "10.2.1.1", "10.2.1.2"));
  ASSERT_EQ(o.verdict, Verdict::kAnswerArp);
  net::ArpPacket reply;
  reply.operation = base::be16_t(net::kArpReply);
  reply.sender_mac = kPortMac;
  reply.sender_ip = Ip("10.2.1.2").v4();
  reply.target_mac = kRouterMac;
  reply.target_ip = Ip("10.2.1.1").v4();
  Bytes body;
  testing::Append(body, reply);
  EXPECT_EQ(o.frame, testing::Ethernet(net::kEtherTypeArp, body, kPortMac, kRouterMac));
  EXPECT_EQ(Send(Arp(net::kArpRequest, "10.2.1.1", "10.2.1.3")).verdict, Verdict::kLearnNeighbor);
  // A VIP is not an address of the port: the router has a route for it.
  EXPECT_EQ(Send(Arp(net::kArpRequest, "10.2.1.1", "203.0.113.10")).verdict,
            Verdict::kLearnNeighbor);
}

TEST_F(NeighborFrames, BadArpIsNamed) {
  const Bytes good = Arp(net::kArpRequest, "10.2.1.1", "10.2.1.2");
  for (const std::size_t at : {14U, 16U, 18U, 19U, 20U}) {  // types, sizes, operation
    Bytes bad = good;
    bad[at] ^= 0x40;
    EXPECT_EQ(Send(bad).verdict, Verdict::kDropMalformedNeighbor) << at;
  }
  EXPECT_EQ(Send(Bytes(good.begin(), good.end() - 1)).verdict, Verdict::kDropMalformedNeighbor);
  Bytes multicast = good;
  multicast[22] |= 1;  // the sender's MAC address
  EXPECT_EQ(Send(multicast).verdict, Verdict::kDropMalformedNeighbor);
}

TEST_F(NeighborFrames, AnswersSolicitationForOurAddress) {
  const Outcome o = Send(Message({}));
  ASSERT_EQ(o.verdict, Verdict::kAnswerNdp);
  ASSERT_EQ(o.frame.size(), 86U);
  const auto ethernet = net::Load<net::EthernetHeader>(o.frame.data());
  EXPECT_EQ(ethernet.destination, kRouterMac);
  EXPECT_EQ(ethernet.source, kPortMac);
  const auto ip = net::Load<net::Ipv6Header>(o.frame.data() + 14);
  EXPECT_EQ(net::IpAddress::V6(ip.source), Ip("2001:db8:2:1::2"));
  EXPECT_EQ(net::IpAddress::V6(ip.destination), Ip("2001:db8:2:1::1"));
  EXPECT_EQ(ip.hop_limit, 255);
  const auto message = net::Load<net::NeighborMessage>(o.frame.data() + 54);
  EXPECT_EQ(message.type, net::kNeighborAdvertisement);
  EXPECT_EQ(message.flags.value(), 0x60000000U);  // solicited, override
  EXPECT_EQ(Bytes(o.frame.begin() + 78, o.frame.end()), (Bytes{2, 1, 2, 0, 0, 0, 0, 1}));
  EXPECT_EQ(net::Ipv6UpperChecksum(ip, 58, {o.frame.data() + 54, 32}).raw(), 0);
}

TEST_F(NeighborFrames, AnswersDuplicateAddressDetectionToAllNodes) {
  Ndp probe;
  probe.source = "::";
  probe.options.clear();
  const Outcome o = Send(Message(probe));
  ASSERT_EQ(o.verdict, Verdict::kAnswerNdp);
  const auto ip = net::Load<net::Ipv6Header>(o.frame.data() + 14);
  EXPECT_EQ(net::IpAddress::V6(ip.destination), Ip("ff02::1"));
  EXPECT_EQ(net::Load<net::NeighborMessage>(o.frame.data() + 54).flags.value(), 0x20000000U);
}

TEST_F(NeighborFrames, BadNeighborDiscoveryIsNamed) {
  const auto expect_bad = [&](const Bytes& frame) {
    EXPECT_EQ(Send(frame).verdict, Verdict::kDropMalformedNeighbor);
  };
  Ndp forwarded;
  forwarded.hop_limit = 64;
  expect_bad(Message(forwarded));
  Ndp zero_option;
  zero_option.options[1] = 0;
  expect_bad(Message(zero_option));
  Ndp cut_option;
  cut_option.options[1] = 2;
  expect_bad(Message(cut_option));
  Ndp multicast;
  multicast.target = "ff02::1";
  expect_bad(Message(multicast));
  Ndp dad_with_option;
  dad_with_option.source = "::";
  expect_bad(Message(dad_with_option));
  Ndp multicast_option;
  multicast_option.options[2] = 0xFF;
  expect_bad(Message(multicast_option));
  Ndp from_group;
  from_group.source = "ff02::1";
  expect_bad(Message(from_group));
  Bytes bad_sum = Message({});
  bad_sum[57] ^= 1;
  expect_bad(bad_sum);
}

TEST_F(NeighborFrames, OtherIcmpv6IsNotAnswered) {
  Ndp echo;
  echo.type = 128;
  EXPECT_EQ(Send(Message(echo)).verdict, Verdict::kDropNotVip);
}

// A packet of the interface may come to either port, the answer to a request of the first as well.
TEST(PortsOfOneInterface, LearnForEachOther) {
  const PortIdentity identity{.mac = {{2, 0, 0, 0, 0, 1}},
                              .addresses = {*net::IpPrefix::Parse("10.2.1.2/24")},
                              .gateways = {Ip("10.2.1.1")}};
  PortIdentity other = identity;
  other.mac = {{2, 0, 0, 0, 0, 2}};
  other.addresses = {*net::IpPrefix::Parse("10.2.1.3/24")};
  Neighbors neighbors({identity, identity, other});
  std::vector<uint8_t> asked;
  neighbors.DueSolicitations(1, {}, [&](const Solicitation& s) { asked.push_back(s.port); });
  // Expect: the interface asks once.
  EXPECT_EQ(asked, (std::vector<uint8_t>{0, 2}));
  Bytes reply = Arp(net::kArpReply, "10.2.1.1", "10.2.1.2");
  (void)neighbors.HandleArp(1, std::span(reply).subspan(14), 1, {});
  EXPECT_EQ(neighbors.NextHop(0, net::Family::kIpv4), kRouterMac);
  EXPECT_EQ(neighbors.NextHop(1, net::Family::kIpv4), kRouterMac);
  EXPECT_EQ(neighbors.NextHop(2, net::Family::kIpv4), std::nullopt);
}

// Without a MAC address from the operator: the gateways are asked.
class Resolution : public ::testing::Test {
 protected:
  Resolution()
      : neighbors_({{.mac = kPortMac,
                     .addresses = {*net::IpPrefix::Parse("10.2.1.2/24"),
                                   *net::IpPrefix::Parse("2001:db8:2:1::2/64")},
                     .gateways = {Ip("10.2.1.1"), Ip("2001:db8:2:1::1")},
                     .gateway_mac = std::nullopt}}) {}

  std::vector<Solicitation> Due(base::Tick now, Neighbors& neighbors) {
    std::vector<Solicitation> due;
    neighbors.DueSolicitations(now, {}, [&](const Solicitation& s) { due.push_back(s); });
    return due;
  }
  std::vector<Solicitation> Due(base::Tick now) { return Due(now, neighbors_); }

  static Verdict ReceiveArp(Neighbors& neighbors, Bytes& frame, base::Tick now) {
    return neighbors.HandleArp(0, std::span(frame).subspan(14), now, {}).verdict;
  }
  Verdict ReceiveNdp(Bytes& frame, base::Tick now) {
    const std::span packet = std::span(frame).subspan(14);
    return neighbors_.HandleNeighborMessage(0, packet, 40, packet.size(), kRouterMac, now, {})
        .verdict;
  }
  void ReplyArp(base::Tick now) {
    Bytes frame = Arp(net::kArpReply, "10.2.1.1", "10.2.1.2");
    EXPECT_EQ(ReceiveArp(neighbors_, frame, now), Verdict::kLearnNeighbor);
  }
  void ReplyNdp(base::Tick now) {
    Ndp ndp;
    ndp.type = net::kNeighborAdvertisement;
    ndp.target = "2001:db8:2:1::1";
    ndp.options[0] = 2;
    Bytes frame = Message(ndp);
    EXPECT_EQ(ReceiveNdp(frame, now), Verdict::kLearnNeighbor);
  }

  Neighbors neighbors_;
};

TEST_F(Resolution, AsksEachSecondUntilAnswered) {
  auto due = Due(0);
  ASSERT_EQ(due.size(), 2U);
  EXPECT_EQ(due[0].size, 42);
  EXPECT_EQ(due[1].size, 86);
  // Broadcast, and the gateway's solicited-node group.
  EXPECT_EQ(net::Load<net::EthernetHeader>(due[0].frame.data()).destination.ToString(),
            "ff:ff:ff:ff:ff:ff");
  EXPECT_EQ(net::Load<net::EthernetHeader>(due[1].frame.data()).destination.ToString(),
            "33:33:ff:00:00:01");
  const auto arp = net::Load<net::ArpPacket>(due[0].frame.data() + 14);
  EXPECT_EQ(net::IpAddress::V4(arp.sender_ip), Ip("10.2.1.2"));
  EXPECT_EQ(net::IpAddress::V4(arp.target_ip), Ip("10.2.1.1"));
  EXPECT_TRUE(Due(0).empty());
  EXPECT_EQ(Due(1).size(), 2U);
  EXPECT_FALSE(neighbors_.NextHop(0, net::Family::kIpv4));
  ReplyArp(2);
  ReplyNdp(2);
  EXPECT_EQ(neighbors_.NextHop(0, net::Family::kIpv4), kRouterMac);
  EXPECT_EQ(neighbors_.NextHop(0, net::Family::kIpv6), kRouterMac);
  EXPECT_TRUE(Due(3).empty());
}

TEST_F(Resolution, ProbesASilentGatewayByUnicastAndForgetsIt) {
  ReplyArp(2);
  ReplyNdp(2);
  for (base::Tick now = 17; now < 20; ++now) {
    const auto due = Due(now);
    ASSERT_EQ(due.size(), 2U) << now;
    EXPECT_EQ(net::Load<net::EthernetHeader>(due[0].frame.data()).destination, kRouterMac);
    EXPECT_TRUE(neighbors_.NextHop(0, net::Family::kIpv4));
  }
  const auto due = Due(20);
  EXPECT_FALSE(neighbors_.NextHop(0, net::Family::kIpv4));
  EXPECT_TRUE(net::Load<net::EthernetHeader>(due[0].frame.data()).destination.IsMulticast());
  ReplyArp(21);
  EXPECT_TRUE(neighbors_.NextHop(0, net::Family::kIpv4));
}

TEST_F(Resolution, LearnsNothingFromStrangersOrFromOurOwnAddress) {
  Bytes stranger = Arp(net::kArpReply, "10.2.1.77", "10.2.1.2");
  ReceiveArp(neighbors_, stranger, 0);
  Bytes conflict = Arp(net::kArpRequest, "10.2.1.2", "10.2.1.2");
  ReceiveArp(neighbors_, conflict, 0);
  EXPECT_FALSE(neighbors_.NextHop(0, net::Family::kIpv4));
}

// RFC 4861 section 7.2.5: an advertisement without the override flag does not replace what is
// known.
TEST_F(Resolution, AdvertisementWithoutOverrideReplacesNothing) {
  Ndp ndp;
  ndp.type = net::kNeighborAdvertisement;
  ndp.target = "2001:db8:2:1::1";
  ndp.options = {2, 1, 2, 0, 0, 0, 0, 0x66};
  const auto receive = [&](uint32_t flags) {
    ndp.flags = flags;
    Bytes frame = Message(ndp);
    ReceiveNdp(frame, 1);
    return neighbors_.NextHop(0, net::Family::kIpv6);
  };
  ReplyNdp(0);
  EXPECT_EQ(receive(0x40000000), kRouterMac);
  EXPECT_EQ(receive(0x60000000)->ToString(), "02:00:00:00:00:66");
}

TEST_F(Resolution, OurOwnMacIsNeverTheGateways) {
  Bytes frame = Arp(net::kArpReply, "10.2.1.1", "10.2.1.2");
  net::Store(frame.data() + 22, kPortMac);
  ReceiveArp(neighbors_, frame, 1);
  EXPECT_FALSE(neighbors_.NextHop(0, net::Family::kIpv4));
}

TEST_F(Resolution, GivenMacIsNeverAskedNorOverwritten) {
  Neighbors fixed({{.mac = kPortMac,
                    .addresses = {*net::IpPrefix::Parse("10.2.1.2/24")},
                    .gateways = {Ip("10.2.1.1")},
                    .gateway_mac = kGatewayMac}});
  EXPECT_TRUE(Due(100, fixed).empty());
  Bytes reply = Arp(net::kArpReply, "10.2.1.1", "10.2.1.2");
  ReceiveArp(fixed, reply, 1);
  EXPECT_EQ(fixed.NextHop(0, net::Family::kIpv4), kGatewayMac);
  EXPECT_FALSE(fixed.NextHop(0, net::Family::kIpv6));
}

}  // namespace
}  // namespace penstock::lb

// Packets that are too big once wrapped (docs/PACKETS.md section 7), what the fabric tells about
// it, and l2 backends.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/lb/fixture.h"
#include "tests/support/icmp.h"

namespace penstock::lb {
namespace {

using testing::Bytes;
using testing::IcmpSpec;
using testing::PacketSpec;

class TooBig : public World {
 protected:
  TooBig() {
    mtu_ = 1500;
    Rebuild();
  }
  // A packet of `size` bytes.
  static PacketSpec Packet(std::size_t size, bool v4, uint16_t port = 80) {
    PacketSpec spec;
    spec.source = v4 ? "192.0.2.1" : "2001:db8::1";
    spec.destination = v4 ? "203.0.113.10" : "2001:db8:53::10";
    spec.destination_port = port;
    spec.fragment = v4 ? net::kIpv4DontFragment : 0;
    spec.payload = size - (v4 ? 40 : 60);
    spec.tcp_flags = net::kTcpAck;
    return spec;
  }
  void AddService(Encapsulation encapsulation, bool v4, uint32_t pool, uint16_t port) {
    ServiceTableSpec::ServiceSpec service;
    service.vip = {.prefix = *net::IpPrefix::Parse(v4 ? "203.0.113.10" : "2001:db8:53::10"),
                   .ports = {{port, port}}};
    service.service.pool = pool;
    service.service.encapsulation = encapsulation;
    Add(service);
  }
  static uint32_t MtuOf(const Outcome& o, bool v4) {
    const auto icmp = net::Load<net::IcmpHeader>(o.frame.data() + (v4 ? 34 : 54));
    EXPECT_EQ(icmp.type, v4 ? 3 : 2);
    EXPECT_EQ(icmp.code, v4 ? 4 : 0);
    return icmp.rest.value();
  }
  // What a router on the way to the backend answers to the outer packet of `o`.
  static IcmpSpec FabricError(const Outcome& o, uint32_t mtu) {
    const bool v4 = o.frame[14] >> 4 == 4;
    IcmpSpec spec;
    spec.source = v4 ? "10.9.9.9" : "2001:db8:99::1";
    spec.destination = v4 ? "10.2.1.2" : "2001:db8:2:1::2";
    if (!v4) {
      spec.type = net::kIcmpv6PacketTooBig;
      spec.code = 0;
    }
    spec.rest = mtu;
    spec.body.assign(o.frame.begin() + 14, o.frame.begin() + (v4 ? 14 + 28 : 14 + 48));
    return spec;
  }
};

// E01: the advertised MTU leaves room for each encapsulation's headers; exactly that fits.
TEST_F(TooBig, E01_MtuLeavesRoomForTheOuterHeaders) {
  struct Row {
    Encapsulation encapsulation;
    uint32_t outer4;
    uint32_t outer6;
  };
  uint16_t port = 1000;
  for (const Row& row :
       {Row{Encapsulation::kIpip, 1480, 1460}, Row{Encapsulation::kGre, 1476, 1456},
        Row{Encapsulation::kGue, 1468, 1448}}) {
    for (const bool v4 : {true, false}) {
      for (const uint32_t pool : {0U, 1U}) {
        AddService(row.encapsulation, v4, pool, ++port);
        const uint32_t mtu = pool == 0 ? row.outer4 : row.outer6;
        EXPECT_EQ(Send(Packet(mtu, v4, port)).verdict, Verdict::kForward);
        const Outcome o = Send(Packet(mtu + 1, v4, port));
        ASSERT_EQ(o.verdict, Verdict::kAnswerTooBig);
        EXPECT_EQ(MtuOf(o, v4), mtu);
        ++now_;
      }
    }
  }
}

// RFC 8200 section 5: no host believes less, and no network carries less.
TEST_F(TooBig, NoIpv6ClientIsToldLessThan1280) {
  mtu_ = 1300;
  Rebuild();
  const Outcome o = Send(Packet(1300, false));
  ASSERT_EQ(o.verdict, Verdict::kAnswerTooBig);
  EXPECT_EQ(MtuOf(o, false), 1280U);
}

TEST_F(TooBig, AnswerIsWellFormedAndQuotesTheClientsPacket) {
  const PacketSpec spec = Packet(1500, true);
  const Outcome o = Send(spec);
  ASSERT_EQ(o.verdict, Verdict::kAnswerTooBig);
  ASSERT_EQ(o.frame.size(), 14U + 576U);
  const auto ip = net::Load<net::Ipv4Header>(o.frame.data() + 14);
  EXPECT_EQ(net::IpAddress::V4(ip.source).ToString(), spec.destination);
  EXPECT_EQ(net::IpAddress::V4(ip.destination).ToString(), spec.source);
  EXPECT_TRUE(net::Ipv4ChecksumHolds({o.frame.data() + 14, 20}));
  EXPECT_EQ(net::FoldChecksum(net::SumBytes({o.frame.data() + 34, 556})).raw(), 0);
  Bytes quoted = testing::Ipv4Packet(spec);
  quoted.resize(548);
  EXPECT_EQ(Bytes(o.frame.begin() + 42, o.frame.end()), quoted);
  const PacketSpec six = Packet(1500, false);
  const Outcome o6 = Send(six);
  ASSERT_EQ(o6.verdict, Verdict::kAnswerTooBig);
  ASSERT_EQ(o6.frame.size(), 14U + 1280U);
  Bytes quoted6 = testing::Ipv6Packet(six);
  quoted6.resize(1232);
  EXPECT_EQ(Bytes(o6.frame.begin() + 62, o6.frame.end()), quoted6);
}

// RFC 1812 section 4.3.2.7: an error is never answered with an error.
TEST_F(TooBig, ErrorsAreNotAnswered) {
  IcmpSpec error;
  error.body = testing::AnswerOf(Packet(40, true));
  error.body.resize(1490);
  Bytes frame = testing::IcmpFrame(error);
  frame[20] = 0x40;  // DF
  net::Store(frame.data() + 24, base::be16_t(0));
  net::Store(frame.data() + 24, net::FoldChecksum(net::SumBytes({frame.data() + 14, 20})));
  EXPECT_EQ(Send(frame).verdict, Verdict::kDropTooBig);
}

// I07: a flood from invented sources does not keep a connection from learning its MTU.
TEST_F(TooBig, I07_AFloodOfStrangersLeavesAnswersForKnownFlows) {
  PacketSpec client = Packet(60, true);
  client.source_port = 4711;
  Send(client);
  ++now_;
  Send(client);
  int answered = 0;
  for (int i = 0; i < 20000; ++i) {
    PacketSpec flood = Packet(1500, true);
    flood.source = "198.18." + std::to_string(i / 250) + "." + std::to_string(1 + i % 250);
    // Twice: the second one finds the entry that the first one has made.
    for (int n = 0; n < 2; ++n) answered += Send(flood).verdict == Verdict::kAnswerTooBig ? 1 : 0;
  }
  EXPECT_EQ(answered, 500);
  PacketSpec big = Packet(1500, true);
  big.source_port = 4711;
  EXPECT_EQ(Send(big).verdict, Verdict::kAnswerTooBig);
  // Expect: and one client's retransmissions do not use up the others' share.
  for (int i = 0; i < 100; ++i) Send(big);
  EXPECT_EQ(Send(big).verdict, Verdict::kDropTooBigLimited);
}

TEST_F(TooBig, WithoutDfThePacketIsSplitAndEachFragmentWrapped) {
  PacketSpec spec = Packet(1500, true);
  spec.fragment = 0;
  const Outcome o = Send(spec);
  ASSERT_EQ(o.verdict, Verdict::kForward);
  ASSERT_EQ(extra_.frames.size(), 1U);
  const Bytes& second = extra_.frames.front().bytes;
  // 1480 bytes of room hold 1456 bytes of payload; 24 are left.
  EXPECT_EQ(o.frame.size(), 14U + 20 + 20 + 1456);
  EXPECT_EQ(second.size(), 14U + 20 + 20 + 24);
  EXPECT_TRUE(std::equal(second.begin(), second.begin() + 14, o.frame.begin()));
  const auto outer = net::Load<net::Ipv4Header>(second.data() + 14);
  EXPECT_EQ(outer.total_length.value(), 64);
  EXPECT_TRUE(net::Ipv4ChecksumHolds({second.data() + 14, 20}));
  EXPECT_EQ(net::IpAddress::V4(outer.destination), OuterDestination(o));
  const auto inner = net::Load<net::Ipv4Header>(second.data() + 34);
  EXPECT_EQ(inner.fragment.value(), 1456 / 8);
  extra_.limit = 1;
  const PacketSpec big = [&] {
    PacketSpec s = spec;
    s.source_port = 5;
    return s;
  }();
  EXPECT_EQ(Send(big).verdict, Verdict::kDropNoBuffer);
}

// RFC 1191: what the fabric says is believed for ten minutes, and never below what always fits.
TEST_F(TooBig, LearnsTheFabricsMtuForTenMinutes) {
  for (const bool v4 : {true, false}) {
    const PacketSpec spec = Packet(v4 ? 1480 : 1460, v4);
    const Outcome whole = Send(spec);
    ASSERT_EQ(whole.verdict, Verdict::kForward);
    ASSERT_EQ(Send(testing::IcmpFrame(FabricError(whole, 1400))).verdict, Verdict::kLearnPathMtu);
    const Outcome answer = Send(spec);
    ASSERT_EQ(answer.verdict, Verdict::kAnswerTooBig);
    EXPECT_EQ(MtuOf(answer, v4), v4 ? 1380U : 1360U);
    // Expect: a later, larger value does not raise it; a smaller one lowers it, down to 1280 bytes.
    Send(testing::IcmpFrame(FabricError(whole, 1450)));
    EXPECT_EQ(MtuOf(Send(spec), v4), v4 ? 1380U : 1360U);
    Send(testing::IcmpFrame(FabricError(whole, 100)));
    EXPECT_EQ(MtuOf(Send(spec), v4), 1280U);
    now_ += PathMtu::kLifetime - 1;
    EXPECT_EQ(Send(spec).verdict, Verdict::kAnswerTooBig);
    now_ += 1;
    EXPECT_EQ(Send(spec).verdict, Verdict::kForward);
  }
}

TEST_F(TooBig, BelievesNoErrorAboutWhatItDidNotSend) {
  const Outcome whole = Send(Packet(1480, true));
  const auto verdict_of = [&](auto&& change) {
    IcmpSpec spec = FabricError(whole, 1400);
    change(spec);
    return Send(testing::IcmpFrame(spec)).verdict;
  };
  EXPECT_EQ(verdict_of([](auto& s) { s.body[12] ^= 1; }), Verdict::kDropIcmpNoService);
  EXPECT_EQ(verdict_of([](auto& s) { s.body[16] ^= 1; }), Verdict::kDropIcmpNoService);
  EXPECT_EQ(verdict_of([](auto& s) { s.rest = 0; }), Verdict::kDropIcmpNoService);
  EXPECT_EQ(verdict_of([](auto& s) { s.body.resize(19); }), Verdict::kDropIcmpMalformed);
  EXPECT_EQ(verdict_of([](auto& s) { s.code = 1; }), Verdict::kDropIcmpType);
  Bytes corrupt = testing::IcmpFrame(FabricError(whole, 1400));
  corrupt[41] ^= 1;
  EXPECT_EQ(Send(corrupt).verdict, Verdict::kDropIcmpMalformed);
  EXPECT_EQ(Send(Packet(1480, true)).verdict, Verdict::kForward);
}

TEST_F(TooBig, BelievesErrorsAboutTunnelsOnly) {
  IcmpSpec spec = FabricError(Send(Packet(1480, true)), 1400);
  spec.body[9] = net::kProtocolIcmp;  // a ping of ours
  EXPECT_EQ(Send(testing::IcmpFrame(spec)).verdict, Verdict::kDropIcmpNoService);
  spec.body[9] = net::kProtocolIpv4;
  spec.source = "127.0.0.1";
  EXPECT_EQ(Send(testing::IcmpFrame(spec)).verdict, Verdict::kDropMartianSource);
}

// A service moves to a pool of l2 backends: its flows cannot get to those of the former pool, whom
// nobody asks for their MAC addresses, and are chosen anew.
TEST_F(TooBig, FlowsLeaveBackendsThatTheServiceNoLongerReaches) {
  web_.members = {{.address = testing::Ip("10.3.1.2")}};
  AddService(Encapsulation::kIpip, true, 0, 2000);
  PacketSpec flow = Packet(100, true, 2000);
  ASSERT_EQ(OuterDestination(Send(flow)).ToString(), "10.3.1.2");
  web6_.members = {{.address = testing::Ip("10.2.1.20")}};
  more_services_.back().service.pool = 1;
  more_services_.back().service.encapsulation = Encapsulation::kL2;
  Rebuild();
  ASSERT_EQ(services_->watched_neighbors().size(), 1U);
  services_->watched_neighbors()[0].state->Learn({{2, 0, 0, 0, 0, 0x20}}, now_);
  EXPECT_EQ(Send(flow).verdict, Verdict::kForward);
  EXPECT_EQ(Events(FlowEvent::kRepicked), 1U);
  // Expect: the sweep forgets such entries without a packet, too.
  web6_.members = {{.address = testing::Ip("10.2.1.21")}};
  more_services_.back().service.encapsulation = Encapsulation::kIpip;
  Rebuild();
  Send(flow);
  ASSERT_EQ(flows_->v4().size(), 1U);
  web6_.members.push_back({.address = testing::Ip("10.3.1.9")});
  more_services_.back().service.pool = 0;
  more_services_.back().service.encapsulation = Encapsulation::kL2;
  Rebuild();
  SweepFlows(Context(), flows_->v4().bucket_count());
  EXPECT_EQ(flows_->v4().size(), 0U);
}

// Many silent backends are asked for a few at a time, all of them within a second.
TEST_F(TooBig, L2BackendsAreAskedForAFewAtATime) {
  web_.members.clear();
  for (int n = 10; n < 210; ++n) {
    web_.members.push_back({.address = testing::Ip("10.2.1." + std::to_string(n))});
  }
  AddService(Encapsulation::kL2, true, 0, 2000);
  std::set<uint32_t> asked;
  std::size_t calls = 0;
  for (; asked.size() < 200 && calls < 1000; ++calls) {
    std::size_t at_once = 0;
    neighbors_.DueSolicitations(now_, services_->watched_neighbors(), [&](const Solicitation& s) {
      ++at_once;
      const auto arp = net::Load<net::ArpPacket>(s.frame.data() + 14);
      EXPECT_TRUE(asked.insert(arp.target_ip.value()).second);
    });
    EXPECT_LE(at_once, Neighbors::kWatchedAtOnce);
  }
  EXPECT_EQ(asked.size(), 200U);
  EXPECT_EQ(calls, 7U);
  // Expect: nobody a second time within the second, and everybody in the next one.
  std::size_t again = 0;
  const auto ask = [&] {
    neighbors_.DueSolicitations(now_, services_->watched_neighbors(),
                                [&](const Solicitation&) { ++again; });
  };
  for (int n = 0; n < 7; ++n) ask();
  EXPECT_EQ(again, 0U);
  ++now_;
  for (int n = 0; n < 7; ++n) ask();
  EXPECT_EQ(again, 200U);
}

// l2: the packet unchanged, to the backend's own MAC address, which is asked for.
TEST_F(TooBig, L2SendsToTheBackendsMacAddress) {
  web_.members = {{.address = testing::Ip("10.2.1.20")}};
  AddService(Encapsulation::kL2, true, 0, 2000);
  AddService(Encapsulation::kL2, false, 0, 2000);
  EXPECT_EQ(Send(Packet(100, true, 2000)).verdict, Verdict::kDropNoNeighbor);
  std::vector<Solicitation> due;
  const auto collect = [&](const Solicitation& s) { due.push_back(s); };
  neighbors_.DueSolicitations(now_, services_->watched_neighbors(), collect);
  ASSERT_EQ(due.size(), 1U);
  const auto request = net::Load<net::ArpPacket>(due[0].frame.data() + 14);
  EXPECT_EQ(net::IpAddress::V4(request.target_ip).ToString(), "10.2.1.20");
  EXPECT_EQ(net::IpAddress::V4(request.sender_ip).ToString(), "10.2.1.2");
  const net::MacAddress backend_mac = {{2, 0, 0, 0, 0, 0x20}};
  net::ArpPacket reply;
  reply.operation = base::be16_t(net::kArpReply);
  reply.sender_mac = backend_mac;
  reply.sender_ip = testing::Ip("10.2.1.20").v4();
  Bytes body;
  testing::Append(body, reply);
  EXPECT_EQ(Send(testing::Ethernet(net::kEtherTypeArp, body)).verdict, Verdict::kLearnNeighbor);
  for (const bool v4 : {true, false}) {
    const PacketSpec spec = Packet(1500, v4, 2000);
    const Outcome o = Send(spec);
    ASSERT_EQ(o.verdict, Verdict::kForward);
    EXPECT_EQ(o.frame, testing::Ethernet(v4 ? net::kEtherTypeIpv4 : net::kEtherTypeIpv6,
                                         v4 ? testing::Ipv4Packet(spec) : testing::Ipv6Packet(spec),
                                         kPortMac, backend_mac));
    const Outcome big = Send(Packet(1501, v4, 2000));
    ASSERT_EQ(big.verdict, Verdict::kAnswerTooBig);
    EXPECT_EQ(MtuOf(big, v4), 1500U);
  }
}

}  // namespace
}  // namespace penstock::lb

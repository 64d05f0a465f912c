// ICMP to a VIP and to our own addresses (docs/PACKETS.md section 6).

#include "tests/support/icmp.h"

#include <gtest/gtest.h>

#include "tests/lb/fixture.h"

namespace penstock::lb {
namespace {

using testing::Bytes;
using testing::Cut;
using testing::IcmpSpec;
using testing::PacketSpec;

class Icmp : public World {
 protected:
  static PacketSpec Flow(uint16_t client_port, bool v4 = true) {
    PacketSpec spec;
    spec.source = v4 ? "192.0.2.1" : "2001:db8::1";
    spec.destination = v4 ? "203.0.113.10" : "2001:db8:53::10";
    spec.source_port = client_port;
    return spec;
  }
  static IcmpSpec ErrorAbout(const PacketSpec& flow, std::size_t quoted) {
    const bool v4 = testing::Ip(flow.destination).IsV4();
    IcmpSpec spec;
    if (!v4) {
      spec.source = "2001:db8:99::99";
      spec.type = net::kIcmpv6PacketTooBig;
      spec.code = 0;
    }
    spec.destination = flow.destination;
    spec.body = Cut(testing::AnswerOf(flow), quoted);
    return spec;
  }
  Verdict VerdictOf(const IcmpSpec& spec) { return Send(testing::IcmpFrame(spec)).verdict; }
  static IcmpSpec Ping(bool v4 = true) {
    IcmpSpec ping;
    ping.source = v4 ? "192.0.2.1" : "2001:db8::1";
    ping.destination = v4 ? "203.0.113.10" : "2001:db8:53::10";
    ping.type = v4 ? net::kIcmpEchoRequest : net::kIcmpv6EchoRequest;
    ping.code = 0;
    ping.rest = 0x00070001;
    ping.body = {'p', 'i', 'n', 'g', '!'};
    return ping;
  }
  void SetEcho(IcmpEcho echo) {
    ServiceTableSpec::ServiceSpec service;
    service.vip = {
        .prefix = *net::IpPrefix::Parse("203.0.113.77"), .ports = {{80, 80}}, .echo = echo};
    Add(service);
  }
};

// I01, I02: errors with the 8 bytes that RFC 792 promises reach the flow's backend, whichever
// router sends them, and leave no trace in the flow table.
TEST_F(Icmp, I02_ErrorsReachTheFlowsBackend) {
  for (const bool v4 : {true, false}) {
    for (uint16_t port = 1000; port < 1200; ++port) {
      const net::IpAddress backend = BackendOf(Flow(port, v4));
      IcmpSpec error = ErrorAbout(Flow(port, v4), v4 ? 28 : 48);
      const uint64_t entries = flows_->v4().size() + flows_->v6().size();
      for (const char* router : {"1", "2", "3"}) {
        error.source = (v4 ? "198.51.100." : "2001:db8:98::") + std::string(router);
        const Outcome o = Send(testing::IcmpFrame(error));
        ASSERT_EQ(o.verdict, Verdict::kForward) << InfoOf(o.verdict).name;
        EXPECT_EQ(OuterDestination(o), backend);
        const Bytes packet = testing::IcmpPacket(error);
        EXPECT_EQ(Bytes(o.frame.end() - static_cast<long>(packet.size()), o.frame.end()), packet);
      }
      EXPECT_EQ(flows_->v4().size() + flows_->v6().size(), entries);
    }
  }
}

// ... also for a flow that this host has never seen, and for one that its entry keeps on a backend
// which the table would no longer choose.
TEST_F(Icmp, I02_ErrorsFollowEntryAndTableLikeTheFlow) {
  const IcmpSpec unseen = ErrorAbout(Flow(77), 28);
  const Outcome error = Send(testing::IcmpFrame(unseen));
  ASSERT_EQ(error.verdict, Verdict::kForward);
  EXPECT_EQ(OuterDestination(error), BackendOf(Flow(77)));
  const net::IpAddress kept = BackendOf(Flow(78));
  PacketSpec data = Flow(78);
  data.tcp_flags = net::kTcpAck;
  Send(data);
  MemberAt(kept).state = AdminState::kDraining;
  Rebuild();
  EXPECT_EQ(OuterDestination(Send(testing::IcmpFrame(ErrorAbout(Flow(78), 28)))), kept);
  // Expect: the age of the entry is that of the flow's last packet: an error does not renew it.
  now_ += 20;
  Send(testing::IcmpFrame(ErrorAbout(Flow(78), 28)));
  now_ += 2;
  EXPECT_NE(BackendOf(Flow(78)), kept);  // a new SYN, the old packet is 22 s ago
}

// RFC 2003 section 3.2, for ICMP as well: also when an entry says whose the flow is.
TEST_F(Icmp, ErrorsFromTheFlowsOwnBackendAreNotSentToIt) {
  const net::IpAddress backend = BackendOf(Flow(79));
  IcmpSpec error = ErrorAbout(Flow(79), 28);
  error.source = backend.ToString();
  EXPECT_EQ(VerdictOf(error), Verdict::kDropLoop);
  error.source = "10.2.1.2";
  EXPECT_EQ(VerdictOf(error), Verdict::kDropLoop);
}

TEST_F(Icmp, I01_SevenBytesOfTransportAreTooFew) {
  EXPECT_EQ(VerdictOf(ErrorAbout(Flow(1), 27)), Verdict::kDropIcmpMalformed);
  EXPECT_EQ(VerdictOf(ErrorAbout(Flow(1), 28)), Verdict::kForward);
  EXPECT_EQ(VerdictOf(ErrorAbout(Flow(1, false), 47)), Verdict::kDropIcmpMalformed);
  EXPECT_EQ(VerdictOf(ErrorAbout(Flow(1, false), 48)), Verdict::kForward);
}

TEST_F(Icmp, I04_QuotesThatCannotBeAreNamed) {
  for (const std::size_t cut : {0U, 4U, 19U}) {
    EXPECT_EQ(VerdictOf(ErrorAbout(Flow(1), cut)), Verdict::kDropIcmpMalformed) << cut;
  }
  IcmpSpec lying = ErrorAbout(Flow(1), 28);
  lying.body[0] = 0x4F;  // 60 bytes of header
  EXPECT_EQ(VerdictOf(lying), Verdict::kDropIcmpMalformed);
  lying.body[0] = 0x65;
  EXPECT_EQ(VerdictOf(lying), Verdict::kDropIcmpMalformed);
  IcmpSpec gre = ErrorAbout(Flow(1), 28);
  gre.body[9] = net::kProtocolGre;
  EXPECT_EQ(VerdictOf(gre), Verdict::kDropIcmpNoService);
  IcmpSpec stranger = ErrorAbout(Flow(1), 28);
  stranger.body[15] ^= 1;  // from a neighbour of the VIP
  EXPECT_EQ(VerdictOf(stranger), Verdict::kDropIcmpNoService);
  IcmpSpec other_port = ErrorAbout(Flow(1), 28);
  other_port.body[21] ^= 1;
  EXPECT_EQ(VerdictOf(other_port), Verdict::kDropIcmpNoService);
  IcmpSpec later = ErrorAbout(Flow(1), 28);
  later.body[7] = 5;  // a later fragment
  EXPECT_EQ(VerdictOf(later), Verdict::kDropIcmpNoService);
}

// I06: errors follow, echo is answered, everything else is named and goes nowhere.
TEST_F(Icmp, I06_EachTypeHasItsTreatment) {
  for (int type = 0; type < 256; ++type) {
    IcmpSpec spec = ErrorAbout(Flow(1), 28);
    spec.type = static_cast<uint8_t>(type);
    for (const uint8_t code : {uint8_t{0}, uint8_t{1}, uint8_t{15}}) {
      spec.code = code;
      Verdict expected = Verdict::kDropIcmpType;
      if (type == 3 || type == 11 || type == 12) expected = Verdict::kForward;
      if (type == 8 && code == 0) expected = Verdict::kAnswerEcho;
      EXPECT_EQ(VerdictOf(spec), expected) << type << " " << int{code};
    }
    IcmpSpec six = ErrorAbout(Flow(1, false), 48);
    six.type = static_cast<uint8_t>(type);
    Verdict expected = Verdict::kDropIcmpType;
    if (type >= 1 && type <= 4) expected = Verdict::kForward;
    if (type == 128) expected = Verdict::kAnswerEcho;
    if (type == 135 || type == 136) expected = Verdict::kDropMalformedNeighbor;  // hop limit 60
    EXPECT_EQ(VerdictOf(six), expected) << type;
    now_ += 1;
  }
}

TEST_F(Icmp, I05_EchoIsAnsweredFromTheVip) {
  const Outcome o = Send(testing::IcmpFrame(Ping()));
  ASSERT_EQ(o.verdict, Verdict::kAnswerEcho);
  const auto ethernet = net::Load<net::EthernetHeader>(o.frame.data());
  EXPECT_EQ(ethernet.destination, kGatewayMac);
  IcmpSpec reply = Ping();
  std::swap(reply.source, reply.destination);
  reply.type = net::kIcmpEchoReply;
  Bytes expected = testing::IcmpPacket(reply);
  expected[6] = 0x40;  // DF, and our own TTL
  expected[8] = 64;
  net::Store(expected.data() + 10, base::be16_t(0));
  net::Store(expected.data() + 10, net::FoldChecksum(net::SumBytes({expected.data(), 20})));
  EXPECT_EQ(Bytes(o.frame.begin() + 14, o.frame.end()), expected);
}

TEST_F(Icmp, I05_EchoOfOurOwnAddressesIsAnsweredToo) {
  IcmpSpec ping = Ping();
  ping.destination = "10.2.1.2";
  EXPECT_EQ(VerdictOf(ping), Verdict::kAnswerEcho);
  IcmpSpec six = Ping(false);
  six.destination = "2001:db8:2:1::2";
  const Outcome o = Send(testing::IcmpFrame(six));
  ASSERT_EQ(o.verdict, Verdict::kAnswerEcho);
  std::swap(six.source, six.destination);
  six.type = net::kIcmpv6EchoReply;
  Bytes expected = testing::IcmpPacket(six);
  expected[7] = 64;
  EXPECT_EQ(Bytes(o.frame.begin() + 14, o.frame.end()), expected);
}

// RFC 1122 section 3.2.2: nothing is sent to a broadcast address; a network that is not ours has
// none that we know.
TEST_F(Icmp, NothingIsAnsweredToBroadcastsOrTooLargeForThePort) {
  for (const auto& [source, expected] : {std::pair{"10.2.1.255", Verdict::kDropMartianSource},
                                         {"10.2.1.0", Verdict::kDropMartianSource},
                                         {"10.2.3.255", Verdict::kAnswerEcho}}) {
    IcmpSpec ping = Ping();
    ping.source = source;
    EXPECT_EQ(VerdictOf(ping), expected) << source;
  }
  IcmpSpec jumbo = Ping();
  jumbo.body.resize(1600 - 28);
  EXPECT_EQ(VerdictOf(jumbo), Verdict::kAnswerEcho);
  jumbo.body.resize(1601 - 28);
  EXPECT_EQ(VerdictOf(jumbo), Verdict::kDropTooBig);
}

TEST_F(Icmp, EchoWithAWrongChecksumIsNotAnswered) {
  Bytes frame = testing::IcmpFrame(Ping());
  frame.back() ^= 1;
  EXPECT_EQ(Send(frame).verdict, Verdict::kDropIcmpMalformed);
}

TEST_F(Icmp, EchoPolicyForwardsOrDrops) {
  SetEcho(IcmpEcho::kDrop);
  IcmpSpec ping = Ping();
  ping.destination = "203.0.113.77";
  EXPECT_EQ(VerdictOf(ping), Verdict::kDropEchoPolicy);
  more_services_.back().vip.echo = IcmpEcho::kForward;
  Rebuild();
  std::map<net::IpAddress, int> backends;
  for (int client = 1; client < 100; ++client) {
    ping.source = "192.0.2." + std::to_string(client);
    const Outcome o = Send(testing::IcmpFrame(ping));
    ASSERT_EQ(o.verdict, Verdict::kForward);
    ++backends[OuterDestination(o)];
    // Expect: all pings of a client go to one backend, whatever they carry.
    IcmpSpec again = ping;
    again.rest ^= 5;
    EXPECT_EQ(OuterDestination(Send(testing::IcmpFrame(again))), OuterDestination(o));
  }
  EXPECT_EQ(backends.size(), 3U);
  EXPECT_EQ(flows_->v4().size(), 0U);
}

TEST_F(Icmp, EchoIsLimitedPerSourceAndInSum) {
  const auto answered = [&](const IcmpSpec& ping, int times) {
    int count = 0;
    for (int i = 0; i < times; ++i) count += VerdictOf(ping) == Verdict::kAnswerEcho ? 1 : 0;
    return count;
  };
  EXPECT_EQ(answered(Ping(), 50), 10);
  EXPECT_EQ(VerdictOf(Ping()), Verdict::kDropEchoLimited);
  IcmpSpec other = Ping();
  other.source = "192.0.2.200";
  EXPECT_EQ(answered(other, 50), 10);
  ++now_;
  EXPECT_EQ(answered(Ping(), 50), 10);
  ++now_;
  int all = 0;
  for (int i = 0; i < 600; ++i) {
    other.source = "198.18." + std::to_string(i / 200) + "." + std::to_string(1 + i % 200);
    all += answered(other, 3);
  }
  EXPECT_EQ(all, 500);  // half of the rate: strangers
}

}  // namespace
}  // namespace penstock::lb

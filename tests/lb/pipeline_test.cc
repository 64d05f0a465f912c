// Packets in, verdict and bytes out.

#include <gtest/gtest.h>

#include <random>

#include "tests/lb/fixture.h"

namespace penstock::lb {
namespace {

using testing::Bytes;
using testing::PacketSpec;

class Pipeline : public World {
 protected:
  // Checks everything about a wrapped packet but the choice of backend.
  static void ExpectWrapped(const Outcome& o, const PacketSpec& spec, bool outer_v4) {
    ASSERT_EQ(o.verdict, Verdict::kForward) << InfoOf(o.verdict).name;
    const bool inner_v4 = testing::Ip(spec.destination).IsV4();
    const Bytes inner = inner_v4 ? testing::Ipv4Packet(spec) : testing::Ipv6Packet(spec);
    const std::size_t outer_size = outer_v4 ? 20 : 40;
    ASSERT_EQ(o.frame.size(), 14 + outer_size + inner.size());
    // Expect: the inner packet untouched, without the frame's padding.
    EXPECT_EQ(Bytes(o.frame.begin() + static_cast<long>(14 + outer_size), o.frame.end()), inner);
    const auto ethernet = net::Load<net::EthernetHeader>(o.frame.data());
    EXPECT_EQ(ethernet.destination, kGatewayMac);
    EXPECT_EQ(ethernet.source, kPortMac);
    const uint8_t protocol = inner_v4 ? 4 : 41;
    if (outer_v4) {
      EXPECT_EQ(ethernet.type.value(), 0x0800);
      ExpectOuter4(net::Load<net::Ipv4Header>(o.frame.data() + 14), spec, protocol, inner.size());
    } else {
      EXPECT_EQ(ethernet.type.value(), 0x86DD);
      ExpectOuter6(net::Load<net::Ipv6Header>(o.frame.data() + 14), spec, protocol, inner.size());
    }
  }

 private:
  static void ExpectOuter4(const net::Ipv4Header& ip, const PacketSpec& spec, uint8_t protocol,
                           std::size_t inner_size) {
    EXPECT_EQ(ip.version_ihl, 0x45);
    EXPECT_EQ(ip.tos, spec.tos);
    EXPECT_EQ(ip.total_length.value(), 20 + inner_size);
    EXPECT_EQ(ip.id.value(), 0);
    EXPECT_EQ(ip.fragment.value(), 0x4000);
    EXPECT_EQ(ip.ttl, 64);
    EXPECT_EQ(ip.protocol, protocol);
    EXPECT_EQ(net::IpAddress::V4(ip.source).ToString(), "10.2.1.2");
    EXPECT_TRUE(net::Ipv4ChecksumHolds({reinterpret_cast<const uint8_t*>(&ip), sizeof(ip)}));
  }
  static void ExpectOuter6(const net::Ipv6Header& ip, const PacketSpec& spec, uint8_t protocol,
                           std::size_t inner_size) {
    const uint32_t word = ip.version_class_label.value();
    EXPECT_EQ(word >> 28, 6U);
    EXPECT_EQ(word >> 20 & 0xFF, spec.tos);
    EXPECT_NE(word & 0xFFFFF, 0U);
    EXPECT_EQ(ip.payload_length.value(), inner_size);
    EXPECT_EQ(ip.next_header, protocol);
    EXPECT_EQ(ip.hop_limit, 64);
    EXPECT_EQ(net::IpAddress::V6(ip.source).ToString(), "2001:db8:2:1::2");
  }
};

PacketSpec V6(uint16_t port = 80) {
  PacketSpec spec;
  spec.source = "2001:db8::1";
  spec.destination = "2001:db8:53::10";
  spec.destination_port = port;
  return spec;
}

PacketSpec V4(uint16_t port = 80) {
  PacketSpec spec;
  spec.destination_port = port;
  return spec;
}

TEST_F(Pipeline, WrapsAllFourFamilyPairs) {
  // E04: DSCP and ECN are copied.
  for (const int tos : {0, 0xB8, 0x01, 0x02, 0x03, 0xFF}) {
    PacketSpec four = V4();
    PacketSpec four_in_six = V4(8046);
    PacketSpec six_in_four = V6(8064);
    PacketSpec six = V6();
    for (PacketSpec* spec : {&four, &four_in_six, &six_in_four, &six}) {
      spec->tos = static_cast<uint8_t>(tos);
      spec->payload = 100;
    }
    ExpectWrapped(Send(four), four, true);
    ExpectWrapped(Send(four_in_six), four_in_six, false);
    ExpectWrapped(Send(six_in_four), six_in_four, true);
    ExpectWrapped(Send(six), six, false);
  }
}

// P06: what lies behind the packet is no part of it.
TEST_F(Pipeline, P06_PaddingIsCut) {
  PacketSpec spec = V4();
  spec.padding = 6;
  const Outcome o = Send(spec);
  ExpectWrapped(o, spec, true);
  EXPECT_EQ(o.frame.size(), 74U);
  PacketSpec with_options = V4();
  with_options.options = {1, 1, 1, 0};
  with_options.padding = 2;
  ExpectWrapped(Send(with_options), with_options, true);
  PacketSpec six = V6();
  six.padding = 8;
  ExpectWrapped(Send(six), six, false);
}

// P02: options stay inside, the outer header has none, and the flow is the same.
TEST_F(Pipeline, P02_OptionsGoTheFlowsWay) {
  PacketSpec plain = V4();
  PacketSpec with_options = V4();
  with_options.options = {1, 1, 1, 0};
  EXPECT_EQ(BackendOf(plain), BackendOf(with_options));
  ExpectWrapped(Send(with_options), with_options, true);
}

// P01: bad headers in a burst do not disturb their neighbours.
TEST_F(Pipeline, P01_BadHeadersAreDroppedAndTheNextIsForwarded) {
  std::vector<Bytes> frames;
  for (const int first : {0x44, 0x40, 0x65, 0x4F}) {
    frames.push_back(testing::Frame(V4()));
    frames.back()[14] = static_cast<uint8_t>(first);
  }
  frames.push_back(testing::Frame(V4()));
  const auto outcomes = SendBurst(frames);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(outcomes[static_cast<std::size_t>(i)].verdict, Verdict::kDropMalformedIpv4);
  EXPECT_EQ(outcomes[4].verdict, Verdict::kForward);
}

TEST_F(Pipeline, EachKindOfRefusalHasItsName) {
  const auto verdict_of = [&](auto&& change) {
    PacketSpec spec = V4();
    change(spec);
    return Send(spec).verdict;
  };
  EXPECT_EQ(verdict_of([](auto& s) { s.destination = "203.0.113.11"; }), Verdict::kDropNotVip);
  EXPECT_EQ(verdict_of([](auto& s) { s.destination_port = 81; }), Verdict::kDropNoService);
  EXPECT_EQ(verdict_of([](auto& s) { s.protocol = 132; }), Verdict::kDropNoService);
  EXPECT_EQ(verdict_of([](auto& s) { s.protocol = net::kProtocolIcmp; }),
            Verdict::kDropIcmpMalformed);
  EXPECT_EQ(verdict_of([](auto& s) { s.ttl = 0; }), Verdict::kDropTtlZero);
  EXPECT_EQ(verdict_of([](auto& s) {
              s.fragment = net::kIpv4MoreFragments;
              s.payload = 1;
            }),
            Verdict::kDropMalformedFragment);
  EXPECT_EQ(verdict_of([](auto& s) { s.fragment = 1; }), Verdict::kDropTinyFragment);
  EXPECT_EQ(verdict_of([](auto& s) { s.source = "127.0.0.1"; }), Verdict::kDropMartianSource);
  EXPECT_EQ(verdict_of([](auto& s) { s.source = "10.2.1.2"; }), Verdict::kDropLoop);
  EXPECT_EQ(Send(Bytes(13)).verdict, Verdict::kDropTruncated);
  EXPECT_EQ(
      Send(testing::Ethernet(net::kEtherTypeVlan, {0, 7, 0x81, 0, 0, 7, 0x81, 0, 0, 7})).verdict,
      Verdict::kDropVlanDepth);
  EXPECT_EQ(Send(testing::Ethernet(0x88CC, Bytes(46))).verdict, Verdict::kDropUnknownEtherType);
  Bytes bad_sum = testing::Frame(V4());
  bad_sum[24] ^= 1;
  EXPECT_EQ(Send(bad_sum).verdict, Verdict::kDropIpv4Checksum);
  flags_ = kMultiSegment;
  EXPECT_EQ(Send(V4()).verdict, Verdict::kDropMultiSegment);
  flags_ = kSharedBuffer;
  EXPECT_EQ(Send(V4()).verdict, Verdict::kDropSharedBuffer);
}

// A tunnel packet addressed to a VIP is not wrapped again.
TEST_F(Pipeline, E06_TunnelPacketToAVipIsNotWrappedAgain) {
  PacketSpec spec = V4();
  for (const uint8_t protocol : {net::kProtocolIpv4, net::kProtocolIpv6, net::kProtocolGre}) {
    spec.protocol = protocol;
    EXPECT_EQ(Send(spec).verdict, Verdict::kDropLoop);
  }
  // And what the backend that would be chosen sends itself is not sent to it.
  PacketSpec from_backend = V4();
  int loops = 0;
  for (uint16_t port = 1; port <= 200; ++port) {
    from_backend.source = "10.3.2.2";
    from_backend.source_port = port;
    const Outcome o = Send(from_backend);
    if (o.verdict == Verdict::kDropLoop) {
      ++loops;
    } else {
      EXPECT_NE(OuterDestination(o), testing::Ip("10.3.2.2"));
    }
  }
  EXPECT_GT(loops, 20);
}

TEST_F(Pipeline, ATcpServiceIsNoUdpService) {
  // Expect: the same port of another protocol is another service; here both exist, so the flow keys
  // must differ, too.
  PacketSpec tcp = V4();
  PacketSpec udp = V4();
  udp.protocol = net::kProtocolUdp;
  Send(tcp);
  Send(udp);
  EXPECT_EQ(flows_->v4().size(), 2U);
}

TEST_F(Pipeline, LargestPacketThatFitsIsForwardedAndOneByteMoreIsAnswered) {
  PacketSpec spec = V4();
  spec.payload = 1600 - 20 - 40;
  spec.fragment = net::kIpv4DontFragment;
  EXPECT_EQ(Send(spec).verdict, Verdict::kForward);
  ++spec.payload;
  EXPECT_EQ(Send(spec).verdict, Verdict::kAnswerTooBig);
  PacketSpec six = V6();
  six.payload = 1600 - 40 - 60;
  EXPECT_EQ(Send(six).verdict, Verdict::kForward);
  ++six.payload;
  EXPECT_EQ(Send(six).verdict, Verdict::kAnswerTooBig);
}

// E07: no headroom is a named drop, and nothing in front of the buffer is written.
TEST_F(Pipeline, E07_NoHeadroomIsNamed) {
  headroom_ = 20;
  EXPECT_EQ(Send(V4()).verdict, Verdict::kForward);
  EXPECT_EQ(Send(V4(8046)).verdict, Verdict::kDropNoHeadroom);
  headroom_ = 19;
  EXPECT_EQ(Send(V4()).verdict, Verdict::kDropNoHeadroom);
}

// A frame for another station, or IP in a broadcast frame (RFC 1122 section 3.3.6), is not ours.
TEST_F(Pipeline, FramesForOtherStationsAreNotForwarded) {
  for (const net::MacAddress& mac :
       {net::MacAddress{{2, 0, 0, 0, 0, 2}}, net::MacAddress{{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}},
        net::MacAddress{{0x33, 0x33, 0, 0, 0, 1}}}) {
    Bytes frame = testing::Frame(V4());
    net::Store(frame.data(), mac);
    EXPECT_EQ(Send(frame).verdict, Verdict::kDropNotOurMac) << mac.ToString();
  }
}

TEST_F(Pipeline, UnresolvedGatewayIsNamed) {
  Neighbors unresolved({{.mac = kPortMac,
                         .addresses = {*net::IpPrefix::Parse("10.2.1.2/24")},
                         .gateways = {testing::Ip("10.2.1.1")}}});
  PacketBurst burst;
  Bytes buffer(headroom_);
  const Bytes frame = testing::Frame(V4());
  buffer.insert(buffer.end(), frame.begin(), frame.end());
  burst.count = 1;
  burst.data[0] = buffer.data() + headroom_;
  burst.length[0] = static_cast<uint16_t>(frame.size());
  burst.headroom[0] = static_cast<uint16_t>(headroom_);
  burst.tailroom[0] = 0;
  burst.flags[0] = 0;
  ForwardBurst({*services_, *flows_, unresolved, flow_counters_, icmp_, new_flows_, extra_,
                *fragments_, 0, now_},
               burst);
  EXPECT_EQ(burst.verdict[0], Verdict::kDropNoNeighbor);
}

TEST_F(Pipeline, FailsOpenWhenTold) {
  for (PoolMember& m : web_.members) m.healthy = false;
  Rebuild();
  EXPECT_EQ(Send(V4()).verdict, Verdict::kDropNoBackend);
  web_.on_no_backend = OnNoBackend::kUseAll;
  Rebuild();
  PacketSpec udp = V4();
  udp.protocol = net::kProtocolUdp;
  const net::IpAddress backend = BackendOf(udp);
  EXPECT_EQ(BackendOf(udp), backend);
  // Expect: the flow has an entry and follows it, although the backend is unhealthy.
  EXPECT_EQ(Events(FlowEvent::kRepicked), 0U);
  EXPECT_EQ(counters_[ids_[backend]][0].new_flows.Read(), 1U);
}

TEST_F(Pipeline, NoUsableBackendIsNamed) {
  for (PoolMember& m : web_.members) m.state = AdminState::kDisabled;
  Rebuild();
  EXPECT_EQ(Send(V4()).verdict, Verdict::kDropNoBackend);
  EXPECT_EQ(Send(V6()).verdict, Verdict::kForward);
}

TEST_F(Pipeline, SpreadsNewFlowsEvenly) {
  std::map<net::IpAddress, int> spread;
  for (uint16_t port = 1; port <= 6000; ++port) {
    PacketSpec spec = V4();
    spec.source_port = port;
    ++spread[BackendOf(spec)];
  }
  // Expect: 2000 each within 5 standard deviations (36.5 each).
  ASSERT_EQ(spread.size(), 3U);
  for (const auto& [address, count] : spread) EXPECT_NEAR(count, 2000, 183) << address.ToString();
}

TEST_F(Pipeline, CountsPacketsAndBytesOfEachBackend) {
  PacketSpec spec = V4();
  spec.payload = 60;
  const net::IpAddress backend = BackendOf(spec);
  spec.tcp_flags = net::kTcpAck;
  Send(spec);
  const BackendCounters& c = counters_[ids_[backend]][0];
  EXPECT_EQ(c.packets.Read(), 2U);
  EXPECT_EQ(c.bytes.Read(), 200U);
  EXPECT_EQ(c.new_flows.Read(), 1U);
  EXPECT_EQ(c.live_flows.Read(), 1U);
}

// Random frames never read or write out of bounds, and each gets a verdict.
TEST_F(Pipeline, RandomFramesAreRefusedOrWrappedWhole) {
  std::mt19937_64 random(42);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Bytes> frames;
    for (int i = 0; i < kBurstSize; ++i) {
      Bytes frame = testing::Frame(i % 2 == 0 ? V4(80) : V6(8064));
      for (uint64_t flips = random() % 5; flips > 0; --flips) {
        frame[random() % frame.size()] = static_cast<uint8_t>(random());
      }
      frame.resize(random() % 4 == 0 ? random() % (frame.size() + 1) : frame.size());
      frames.push_back(std::move(frame));
    }
    const auto outcomes = SendBurst(frames);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (outcomes[i].verdict != Verdict::kForward) continue;
      // Expect: what is forwarded ends with bytes that came in, behind an outer header.
      const Bytes& out = outcomes[i].frame;
      if (frames[i][12] == 0x81 || frames[i][12] == 0x88) continue;  // a tag that was taken off
      const std::size_t outer = out[14] >> 4 == 4 ? 34 : 54;
      ASSERT_GT(out.size(), outer);
      ASSERT_TRUE(
          std::equal(out.begin() + static_cast<long>(outer), out.end(), frames[i].begin() + 14));
    }
  }
}

}  // namespace
}  // namespace penstock::lb

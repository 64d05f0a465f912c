#include "penstock/net/parser.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/frame.h"

namespace penstock::net {
namespace {

using testing::Bytes;
using testing::Frame;
using testing::PacketSpec;

// Parses a copy in a buffer of exactly its size, so that the address sanitizer sees an overrun.
ParseStatus Parse(const Bytes& frame, PacketView& view) {
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[frame.size()]);
  std::copy(frame.begin(), frame.end(), exact.get());
  return ParseFrame({exact.get(), frame.size()}, false, view);
}

ParseStatus StatusOf(const Bytes& frame) {
  PacketView view;
  return Parse(frame, view);
}

void FixIpv4Checksum(Bytes& frame) {
  const std::size_t header = (frame[14] & 15U) * 4U;
  Store(frame.data() + 24, base::be16_t(0));
  Store(frame.data() + 24, FoldChecksum(SumBytes({frame.data() + 14, header})));
}

PacketSpec V6() {
  PacketSpec spec;
  spec.source = "2001:db8::1";
  spec.destination = "2001:db8:53::10";
  return spec;
}

// An IPv6 frame with `chain` between the IPv6 header and the transport, its first header `first`.
Bytes WithExtensions(uint8_t first, const Bytes& chain) {
  Bytes frame = Frame(V6());
  frame[14 + 6] = first;
  frame.insert(frame.begin() + 54, chain.begin(), chain.end());
  Store(frame.data() + 18, base::be16_t(static_cast<uint16_t>(frame.size() - 54)));
  return frame;
}

TEST(Parser, ReadsTcpOverIpv4) {
  PacketSpec spec;
  spec.tos = 0xB9;
  spec.tcp_flags = kTcpSyn;
  spec.payload = 10;
  PacketView view;
  ASSERT_EQ(Parse(Frame(spec), view), ParseStatus::kOk);
  EXPECT_EQ(view.family, Family::kIpv4);
  EXPECT_EQ(view.l3_offset, 14);
  EXPECT_EQ(view.l4_offset, 34);
  EXPECT_EQ(view.ip_length, 50);
  EXPECT_EQ(view.protocol, kProtocolTcp);
  EXPECT_EQ(view.tcp_flags, kTcpSyn);
  EXPECT_EQ(view.traffic_class, 0xB9);
  EXPECT_EQ(view.source_port.value(), 40000);
  EXPECT_EQ(view.destination_port.value(), 80);
}

TEST(Parser, ReadsUdpOverIpv6) {
  PacketSpec spec = V6();
  spec.protocol = kProtocolUdp;
  spec.tos = 0xB9;
  spec.payload = 3;
  PacketView view;
  ASSERT_EQ(Parse(Frame(spec), view), ParseStatus::kOk);
  EXPECT_EQ(view.family, Family::kIpv6);
  EXPECT_EQ(view.l4_offset, 54);
  EXPECT_EQ(view.ip_length, 51);
  EXPECT_EQ(view.traffic_class, 0xB9);
  EXPECT_EQ(view.tcp_flags, 0);
  EXPECT_EQ(view.destination_port.value(), 80);
}

TEST(Parser, EveryCutOfAFrameIsNamedAndReadsNothingBeyond) {
  for (const PacketSpec& spec : {PacketSpec{}, V6()}) {
    const Bytes whole = Frame(spec);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const auto status = StatusOf(Bytes(whole.begin(), whole.begin() + static_cast<long>(size)));
      // Expect: a frame shorter than its packet is never taken for one.
      EXPECT_EQ(status, size < 14 ? ParseStatus::kTruncatedEthernet
                        : spec.destination.find(':') == std::string::npos
                            ? ParseStatus::kBadIpv4Header
                            : ParseStatus::kBadIpv6Header)
          << size;
    }
  }
}

TEST(Parser, PaddingIsNotThePacket) {
  PacketSpec spec;
  spec.padding = 6;
  PacketView view;
  ASSERT_EQ(Parse(Frame(spec), view), ParseStatus::kOk);
  EXPECT_EQ(view.ip_length, 40);
}

// P01: version and header length are checked whatever the header length says.
TEST(Parser, P01_BadVersionAndHeaderLength) {
  for (const int first : {0x44, 0x40, 0x65, 0x55, 0x4F}) {
    Bytes frame = Frame({});
    frame[14] = static_cast<uint8_t>(first);
    EXPECT_EQ(StatusOf(frame), ParseStatus::kBadIpv4Header) << first;
  }
}

// P02: ports are read behind the options.
TEST(Parser, P02_OptionsAreWalkedOver) {
  PacketSpec spec;
  spec.options = {1, 1, 1, 0};
  PacketView view;
  ASSERT_EQ(Parse(Frame(spec), view), ParseStatus::kOk);
  EXPECT_EQ(view.l4_offset, 38);
  EXPECT_EQ(view.destination_port.value(), 80);
}

// P03: lengths that lie.
TEST(Parser, P03_LengthsThatLie) {
  Bytes frame = Frame({});
  Store(frame.data() + 16, base::be16_t(1400));  // total length beyond the frame
  FixIpv4Checksum(frame);
  EXPECT_EQ(StatusOf(frame), ParseStatus::kBadIpv4Header);

  Store(frame.data() + 16, base::be16_t(19));  // below the header
  FixIpv4Checksum(frame);
  EXPECT_EQ(StatusOf(frame), ParseStatus::kBadIpv4Header);

  Store(frame.data() + 16, base::be16_t(39));  // a TCP header less one byte
  FixIpv4Checksum(frame);
  EXPECT_EQ(StatusOf(frame), ParseStatus::kBadTransport);

  Bytes v6 = Frame(V6());
  Store(v6.data() + 18, base::be16_t(21));  // payload length beyond the frame
  EXPECT_EQ(StatusOf(v6), ParseStatus::kBadIpv6Header);
  Store(v6.data() + 18, base::be16_t(19));
  EXPECT_EQ(StatusOf(v6), ParseStatus::kBadTransport);

  PacketSpec udp;
  udp.protocol = kProtocolUdp;
  Bytes short_udp = Frame(udp);
  Store(short_udp.data() + 38, base::be16_t(65535));  // UDP length: the receiver's business
  EXPECT_EQ(StatusOf(short_udp), ParseStatus::kOk);
}

TEST(Parser, TcpDataOffsetMustCoverTheHeaderAndLieInThePacket) {
  PacketSpec spec;
  spec.payload = 4;
  Bytes frame = Frame(spec);
  for (const int words : {0, 4, 7, 15}) {
    frame[14 + 20 + 12] = static_cast<uint8_t>(words << 4);
    EXPECT_EQ(StatusOf(frame), ParseStatus::kBadTransport) << words;
  }
  frame[14 + 20 + 12] = 6 << 4;
  EXPECT_EQ(StatusOf(frame), ParseStatus::kOk);
}

TEST(Parser, ChecksumIsCheckedUnlessTheDeviceDid) {
  Bytes frame = Frame({});
  frame[24] ^= 1;
  PacketView view;
  EXPECT_EQ(StatusOf(frame), ParseStatus::kBadIpv4Checksum);
  EXPECT_EQ(ParseFrame(frame, true, view), ParseStatus::kOk);
}

TEST(Parser, TtlZeroIsNamed) {
  PacketSpec spec;
  spec.ttl = 0;
  EXPECT_EQ(StatusOf(Frame(spec)), ParseStatus::kTtlZero);
  PacketSpec v6 = V6();
  v6.ttl = 0;
  EXPECT_EQ(StatusOf(Frame(v6)), ParseStatus::kTtlZero);
}

// A fragment of IPv4: flags and offset, and bytes of TCP or UDP with its payload.
ParseStatus StatusOfPart(uint8_t protocol, uint16_t field, std::size_t bytes, PacketView& view) {
  PacketSpec spec;
  spec.protocol = protocol;
  spec.fragment = field;
  spec.payload = 1600;
  Bytes frame = Frame(spec);
  frame.resize(14 + 20 + bytes);
  net::Store(frame.data() + 16, base::be16_t(static_cast<uint16_t>(20 + bytes)));
  net::Store(frame.data() + 24, base::be16_t(0));
  net::Store(frame.data() + 24, FoldChecksum(SumBytes({frame.data() + 14, 20})));
  return Parse(frame, view);
}
ParseStatus StatusOfPart(uint8_t protocol, uint16_t field, std::size_t bytes) {
  PacketView view;
  return StatusOfPart(protocol, field, bytes, view);
}

TEST(Parser, FirstFragmentsShowTheirPortsAndLaterOnesDoNot) {
  PacketView view;
  ASSERT_EQ(StatusOfPart(kProtocolTcp, kIpv4MoreFragments, 24, view), ParseStatus::kOk);
  EXPECT_EQ(view.fragment, FragmentKind::kFirst);
  EXPECT_EQ(view.fragment_id, 0x1234U);
  EXPECT_EQ(view.destination_port.value(), 80);
  ASSERT_EQ(StatusOfPart(kProtocolTcp, 3, 24, view), ParseStatus::kFragment);
  EXPECT_EQ(view.fragment, FragmentKind::kLater);
  EXPECT_EQ(view.fragment_id, 0x1234U);
  EXPECT_EQ(view.destination_port.value(), 0);
  EXPECT_EQ(view.tcp_flags, 0);
  ASSERT_EQ(StatusOfPart(kProtocolTcp, kIpv4DontFragment, 24, view), ParseStatus::kOk);
  EXPECT_EQ(view.fragment, FragmentKind::kNone);
  EXPECT_EQ(StatusOfPart(kProtocolIcmp, kIpv4MoreFragments, 24), ParseStatus::kIcmpFragment);
  EXPECT_EQ(StatusOfPart(kProtocolIcmp, 3, 24), ParseStatus::kIcmpFragment);
  EXPECT_EQ(StatusOfPart(132, kIpv4MoreFragments, 24), ParseStatus::kUnknownProtocol);
}

// RFC 1858 sections 3 and 4, RFC 3128: fragments that hide the TCP flags or overwrite them.
TEST(Parser, TinyFragmentsAreNamed) {
  EXPECT_EQ(StatusOfPart(kProtocolTcp, 1, 20), ParseStatus::kTinyFragment);
  EXPECT_EQ(StatusOfPart(kProtocolUdp, 1, 20), ParseStatus::kFragment);  // has no flags there
  EXPECT_EQ(StatusOfPart(kProtocolTcp, kIpv4MoreFragments, 8), ParseStatus::kTinyFragment);
  EXPECT_EQ(StatusOfPart(kProtocolTcp, kIpv4MoreFragments, 16), ParseStatus::kTinyFragment);
  EXPECT_EQ(StatusOfPart(kProtocolTcp, kIpv4MoreFragments, 24), ParseStatus::kOk);
  EXPECT_EQ(StatusOfPart(kProtocolUdp, kIpv4MoreFragments, 8), ParseStatus::kOk);
}

// RFC 791 section 3.2: whole units of 8 bytes, and an end within 65,535 bytes.
TEST(Parser, FragmentsThatFitNoDatagramAreNamed) {
  EXPECT_EQ(StatusOfPart(kProtocolTcp, kIpv4MoreFragments, 25), ParseStatus::kBadFragment);
  EXPECT_EQ(StatusOfPart(kProtocolTcp, kIpv4MoreFragments | 9, 0), ParseStatus::kBadFragment);
  EXPECT_EQ(StatusOfPart(kProtocolTcp, 9, 25), ParseStatus::kFragment);
  // 20 + 8185 x 8 + 35 = 65535
  EXPECT_EQ(StatusOfPart(kProtocolTcp, 8185, 35), ParseStatus::kFragment);
  EXPECT_EQ(StatusOfPart(kProtocolTcp, 8185, 36), ParseStatus::kBadFragment);
}

Bytes Tagged(const std::vector<uint16_t>& types) {
  Bytes frame = Frame({});
  for (const uint16_t type : types) {
    const Bytes tag = {static_cast<uint8_t>(type >> 8), static_cast<uint8_t>(type), 0x20, 0x64};
    frame.insert(frame.begin() + 12, tag.begin(), tag.end());
  }
  return frame;
}

// P05: up to two VLAN tags are walked over, more or cut ones are named.
TEST(Parser, P05_VlanTagsAreWalkedOver) {
  for (const std::vector<uint16_t>& types :
       {std::vector<uint16_t>{}, {0x8100}, {0x88A8}, {0x8100, 0x88A8}, {0x8100, 0x8100}}) {
    PacketView view;
    ASSERT_EQ(Parse(Tagged(types), view), ParseStatus::kOk);
    EXPECT_EQ(view.l3_offset, 14 + 4 * types.size());
    EXPECT_EQ(view.destination_port.value(), 80);
  }
  EXPECT_EQ(StatusOf(Tagged({0x8100, 0x8100, 0x8100})), ParseStatus::kVlanDepth);
  for (const std::size_t size : {14U, 15U, 17U}) {
    Bytes cut = Tagged({0x8100});
    cut.resize(size);
    EXPECT_EQ(StatusOf(cut), ParseStatus::kTruncatedEthernet);
  }
}

TEST(Parser, OtherEtherTypesAreNamed) {
  EXPECT_EQ(StatusOf(testing::Ethernet(kEtherTypeArp, Bytes(28))), ParseStatus::kArp);
  // The type behind the tag is zero.
  EXPECT_EQ(StatusOf(testing::Ethernet(kEtherTypeVlan, Bytes(46))), ParseStatus::kUnknownEtherType);
  EXPECT_EQ(StatusOf(testing::Ethernet(kEtherTypeQinQ, Bytes(46))), ParseStatus::kUnknownEtherType);
  EXPECT_EQ(StatusOf(testing::Ethernet(0x88CC, Bytes(46))), ParseStatus::kUnknownEtherType);
}

TEST(Parser, OtherProtocolsAreNamed) {
  PacketSpec spec;
  spec.protocol = 132;
  EXPECT_EQ(StatusOf(Frame(spec)), ParseStatus::kUnknownProtocol);
  spec.protocol = kProtocolIcmp;
  EXPECT_EQ(StatusOf(Frame(spec)), ParseStatus::kIcmp);
  spec.protocol = kProtocolIcmpv6;  // means nothing over IPv4
  EXPECT_EQ(StatusOf(Frame(spec)), ParseStatus::kUnknownProtocol);
}

TEST(Parser, WalksExtensionHeaders) {
  Bytes chain(8 + 16 + 8);
  chain[0] = kProtocolDestinationOptions;  // hop-by-hop, 8 bytes
  chain[8] = kProtocolRouting;             // destination options, 16 bytes
  chain[9] = 1;
  chain[24] = kProtocolTcp;  // routing, 8 bytes
  PacketView view;
  ASSERT_EQ(Parse(WithExtensions(kProtocolHopByHop, chain), view), ParseStatus::kOk);
  EXPECT_EQ(view.protocol, kProtocolTcp);
  EXPECT_EQ(view.l4_offset, 54 + 32);
  EXPECT_EQ(view.destination_port.value(), 80);
}

// A packet with a fragment header that has these bits, in front of `bytes` bytes of TCP.
ParseStatus StatusOfPart6(uint16_t field, std::size_t bytes, PacketView& view) {
  const Bytes header = {
      kProtocolTcp, 0, static_cast<uint8_t>(field >> 8), static_cast<uint8_t>(field), 1, 2, 3, 4};
  Bytes frame = WithExtensions(kProtocolFragment, header);
  frame.resize(14 + 40 + 8 + bytes);
  net::Store(frame.data() + 18, base::be16_t(static_cast<uint16_t>(8 + bytes)));
  return Parse(frame, view);
}
ParseStatus StatusOfPart6(uint16_t field, std::size_t bytes) {
  PacketView view;
  return StatusOfPart6(field, bytes, view);
}

TEST(Parser, AtomicFragmentIsAWholePacket) {
  PacketView view;
  EXPECT_EQ(StatusOfPart6(0, 20, view), ParseStatus::kOk);
  EXPECT_EQ(view.fragment, FragmentKind::kNone);
  ASSERT_EQ(StatusOfPart6(1, 24, view), ParseStatus::kOk);  // more fragments
  EXPECT_EQ(view.fragment, FragmentKind::kFirst);
  EXPECT_EQ(view.fragment_id, 0x01020304U);
  ASSERT_EQ(StatusOfPart6(16, 20, view), ParseStatus::kFragment);  // offset 2
  EXPECT_EQ(view.fragment, FragmentKind::kLater);
  EXPECT_EQ(StatusOfPart6(8, 20), ParseStatus::kTinyFragment);  // offset 1
  EXPECT_EQ(StatusOfPart6(1, 16), ParseStatus::kTinyFragment);
  EXPECT_EQ(StatusOfPart6(1, 20), ParseStatus::kBadFragment);
  // RFC 8200 section 4.5: 8190 x 8 + 15 = 65535.
  EXPECT_EQ(StatusOfPart6(8190 << 3, 15), ParseStatus::kFragment);
  EXPECT_EQ(StatusOfPart6(8190 << 3, 16), ParseStatus::kBadFragment);
}

TEST(Parser, ChainsOfFirstFragmentsAreWholeAndHaveOneFragmentHeader) {
  Bytes nested = {kProtocolFragment, 0, 0, 1, 1, 2, 3, 4, kProtocolTcp, 0, 0, 0, 1, 2, 3, 5};
  EXPECT_EQ(StatusOf(WithExtensions(kProtocolFragment, nested)), ParseStatus::kBadFragment);
  // RFC 7112: destination options of 24 bytes of which 8 are there.
  Bytes cut = {kProtocolDestinationOptions, 0, 0, 1, 1, 2, 3, 4, kProtocolTcp, 2, 0, 0, 0, 0, 0, 0};
  Bytes frame = WithExtensions(kProtocolFragment, cut);
  frame.resize(14 + 40 + 16);
  net::Store(frame.data() + 18, base::be16_t(16));
  EXPECT_EQ(StatusOf(frame), ParseStatus::kTinyFragment);
}

TEST(Parser, ExtensionChainIsBoundedInCountAndBytes) {
  Bytes many;
  for (int i = 0; i <= kMaxIpv6Extensions; ++i) {
    const bool last = i == kMaxIpv6Extensions;
    many.push_back(last ? kProtocolTcp : kProtocolDestinationOptions);
    many.resize(many.size() + 7);
  }
  EXPECT_EQ(StatusOf(WithExtensions(kProtocolDestinationOptions, many)),
            ParseStatus::kBadIpv6Extension);
  Bytes lengthy(kMaxIpv6ExtensionBytes + 8);
  lengthy[0] = kProtocolTcp;
  lengthy[1] = static_cast<uint8_t>(lengthy.size() / 8 - 1);
  EXPECT_EQ(StatusOf(WithExtensions(kProtocolDestinationOptions, lengthy)),
            ParseStatus::kBadIpv6Extension);
  Bytes beyond(8);
  beyond[0] = kProtocolTcp;
  beyond[1] = 200;
  EXPECT_EQ(StatusOf(WithExtensions(kProtocolHopByHop, beyond)), ParseStatus::kBadIpv6Extension);
}

TEST(Parser, AhLengthIsInUnitsOfFourBytes) {
  Bytes ah(24);
  ah[0] = kProtocolTcp;
  ah[1] = 4;  // (4 + 2) * 4 = 24 bytes
  PacketView view;
  ASSERT_EQ(Parse(WithExtensions(kProtocolAh, ah), view), ParseStatus::kOk);
  EXPECT_EQ(view.l4_offset, 54 + 24);
}

TEST(Parser, RandomBytesNeverReadOutOfBounds) {
  std::mt19937_64 random(20261130);
  for (int round = 0; round < 200000; ++round) {
    Bytes frame = Frame(round % 2 == 0 ? PacketSpec{} : V6());
    const std::size_t flips = 1 + random() % 6;
    for (std::size_t i = 0; i < flips; ++i)
      frame[12 + random() % (frame.size() - 12)] = static_cast<uint8_t>(random());
    frame.resize(random() % (frame.size() + 1));
    PacketView view;
    if (Parse(frame, view) != ParseStatus::kOk) continue;
    // Expect: what is accepted lies inside the frame.
    ASSERT_LE(view.l3_offset + view.ip_length, static_cast<int>(frame.size()));
    ASSERT_LE(view.l4_offset + 8, view.l3_offset + view.ip_length);
  }
}

}  // namespace
}  // namespace penstock::net

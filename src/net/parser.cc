#include "penstock/net/parser.h"

#include "net/fragment_shape.h"
#include "net/ipv6_extensions.h"
#include "penstock/net/checksum.h"
#include "penstock/net/cursor.h"

namespace penstock::net {
namespace {

ParseStatus ParseTransport(Cursor& cursor, PacketView& view) {
  view.l4_offset = static_cast<uint16_t>(cursor.offset());
  view.tcp_flags = 0;
  view.source_port = view.destination_port = base::be16_t(0);
  if (view.protocol == kProtocolTcp) {
    TcpHeader tcp;
    if (!cursor.Peek(tcp)) return ParseStatus::kBadTransport;
    // RFC 9293 section 3.1: the data offset covers the header, and the header is in the packet.
    const std::size_t header_size = (tcp.data_offset >> 4) * 4U;
    if (header_size < sizeof(tcp) || header_size > cursor.remaining()) {
      return ParseStatus::kBadTransport;
    }
    view.source_port = tcp.source_port;
    view.destination_port = tcp.destination_port;
    view.tcp_flags = tcp.flags;
    return ParseStatus::kOk;
  }
  if (view.protocol == kProtocolUdp) {
    // The UDP length and a zero checksum are the receiver's business (RFC 768); neither is used.
    UdpHeader udp;
    if (!cursor.Peek(udp)) return ParseStatus::kBadTransport;
    view.source_port = udp.source_port;
    view.destination_port = udp.destination_port;
    return ParseStatus::kOk;
  }
  const uint8_t icmp = view.family == Family::kIpv4 ? kProtocolIcmp : kProtocolIcmpv6;
  return view.protocol == icmp ? ParseStatus::kIcmp : ParseStatus::kUnknownProtocol;
}

// The cursor stands at the fragment's part; `offset` in units of 8 bytes.
ParseStatus ParseFragment(Cursor& cursor, uint16_t offset, PacketView& view) {
  if (offset == 0) {
    view.fragment = FragmentKind::kFirst;
    const ParseStatus status = ParseTransport(cursor, view);
    if (status == ParseStatus::kIcmp) return ParseStatus::kIcmpFragment;
    // RFC 1858 section 4.1, RFC 7112 section 5: what filters look at stands in the first fragment.
    return status == ParseStatus::kBadTransport ? ParseStatus::kTinyFragment : status;
  }
  // RFC 3128 section 4: a second fragment at offset 1 would overwrite the TCP flags.
  if (offset == 1 && view.protocol == kProtocolTcp) return ParseStatus::kTinyFragment;
  view.fragment = FragmentKind::kLater;
  view.l4_offset = static_cast<uint16_t>(cursor.offset());
  view.tcp_flags = 0;
  view.source_port = view.destination_port = base::be16_t(0);
  // What a later IPv6 fragment says of its protocol is not believed (RFC 8200 section 4.5).
  const bool icmp = view.family == Family::kIpv4 && view.protocol == kProtocolIcmp;
  return icmp ? ParseStatus::kIcmpFragment : ParseStatus::kFragment;
}

ParseStatus ParseFragment4(Cursor& cursor, const Ipv4Header& ip, std::size_t header_size,
                           PacketView& view) {
  const uint16_t word = ip.fragment.value();
  const FragmentShape shape{header_size, static_cast<uint16_t>(word & kIpv4OffsetMask),
                            (word & kIpv4MoreFragments) != 0, cursor.remaining()};
  if (!shape.FitsDatagram()) return ParseStatus::kBadFragment;
  view.fragment_id = ip.id.value();
  return ParseFragment(cursor, shape.offset, view);
}

ParseStatus ParseIpv4(Cursor& cursor, bool checksum_verified, PacketView& view) {
  Ipv4Header ip;
  if (!cursor.Peek(ip)) return ParseStatus::kBadIpv4Header;
  const std::size_t header_size = (ip.version_ihl & 0x0FU) * 4U;
  const std::size_t total_length = ip.total_length.value();
  // RFC 791 section 3.1: version 4, IHL at least 5; RFC 1122 3.2.1.1: anything else is discarded.
  if (ip.version_ihl >> 4 != 4 || header_size < kIpv4Size) return ParseStatus::kBadIpv4Header;
  // The total length is the packet: what the frame has beyond it is padding.
  if (total_length < header_size || !cursor.CutTo(total_length)) return ParseStatus::kBadIpv4Header;
  if (!checksum_verified && !Ipv4ChecksumHolds({cursor.position(), header_size})) {
    return ParseStatus::kBadIpv4Checksum;
  }
  if (ip.ttl == 0) return ParseStatus::kTtlZero;
  view.family = Family::kIpv4;
  view.ip_length = ip.total_length.value();
  view.protocol = ip.protocol;
  view.traffic_class = ip.tos;
  if (!cursor.Skip(header_size)) return ParseStatus::kBadIpv4Header;
  if ((ip.fragment.value() & (kIpv4MoreFragments | kIpv4OffsetMask)) != 0) {
    return ParseFragment4(cursor, ip, header_size, view);
  }
  return ParseTransport(cursor, view);
}

ParseStatus ParseIpv6(Cursor& cursor, PacketView& view) {
  Ipv6Header ip;
  if (!cursor.Read(ip)) return ParseStatus::kBadIpv6Header;
  const uint32_t word = ip.version_class_label.value();
  const std::size_t payload_length = ip.payload_length.value();
  if (word >> 28 != 6 || !cursor.CutTo(payload_length)) return ParseStatus::kBadIpv6Header;
  // A packet that fits no 16-bit length cannot be wrapped.
  if (payload_length + kIpv6Size > UINT16_MAX) return ParseStatus::kBadIpv6Header;
  if (ip.hop_limit == 0) return ParseStatus::kTtlZero;
  view.family = Family::kIpv6;
  view.ip_length = static_cast<uint16_t>(kIpv6Size + payload_length);
  view.traffic_class = static_cast<uint8_t>(word >> 20);
  ExtensionWalk walk{.protocol = ip.next_header};
  const ExtensionStatus status = WalkExtensions(cursor, walk);
  view.protocol = walk.protocol;
  view.fragment_id = walk.fragment_id;
  // What an atomic fragment says of itself is checked as for any other packet.
  if (walk.more_fragments || walk.fragment_offset != 0) {
    const std::size_t end = view.l3_offset + std::size_t{view.ip_length};
    const FragmentShape shape{walk.before_fragment, walk.fragment_offset, walk.more_fragments,
                              end - walk.part_offset};
    if (!shape.FitsDatagram()) return ParseStatus::kBadFragment;
  }
  switch (status) {
    case ExtensionStatus::kOk:
      return ParseTransport(cursor, view);
    case ExtensionStatus::kFragment:
      return ParseFragment(cursor, walk.fragment_offset, view);
    case ExtensionStatus::kTinyFragment:
      return ParseStatus::kTinyFragment;
    case ExtensionStatus::kBadFragment:
      return ParseStatus::kBadFragment;
    case ExtensionStatus::kBad:
      break;
  }
  return ParseStatus::kBadIpv6Extension;
}

// Moves behind the VLAN tags; `type` is that of what follows.
ParseStatus SkipVlanTags(Cursor& cursor, uint16_t& type) {
  for (int tags = 0; type == kEtherTypeVlan || type == kEtherTypeQinQ; ++tags) {
    if (tags == kMaxVlanTags) return ParseStatus::kVlanDepth;
    VlanTag tag;
    if (!cursor.Read(tag)) return ParseStatus::kTruncatedEthernet;
    type = tag.type.value();
  }
  return ParseStatus::kOk;
}

}  // namespace

ParseStatus ParseFrame(std::span<const uint8_t> frame, bool checksum_verified, PacketView& view) {
  Cursor cursor(frame);
  EthernetHeader ethernet;
  if (!cursor.Read(ethernet)) return ParseStatus::kTruncatedEthernet;
  uint16_t type = ethernet.type.value();
  const ParseStatus status = SkipVlanTags(cursor, type);
  if (status != ParseStatus::kOk) return status;
  view.l3_offset = static_cast<uint16_t>(cursor.offset());
  view.fragment = FragmentKind::kNone;
  switch (type) {
    case kEtherTypeIpv4:
      return ParseIpv4(cursor, checksum_verified, view);
    case kEtherTypeIpv6:
      return ParseIpv6(cursor, view);
    case kEtherTypeArp:
      return ParseStatus::kArp;
    default:
      return ParseStatus::kUnknownEtherType;
  }
}

}  // namespace penstock::net

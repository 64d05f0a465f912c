#include "penstock/net/parser.h"

#include "penstock/net/checksum.h"
#include "penstock/net/cursor.h"

namespace penstock::net {
namespace {

// RFC 8200 section 4: next header and length in units of 8 bytes beyond the first 8.
struct ExtensionHeader {
  uint8_t next_header = 0;
  uint8_t length = 0;
  std::array<uint8_t, 6> rest{};
};
static_assert(sizeof(ExtensionHeader) == 8);

ParseStatus ParseTransport(Cursor& cursor, PacketView& view) {
  view.l4_offset = static_cast<uint16_t>(cursor.offset());
  view.tcp_flags = 0;
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
  if ((ip.fragment.value() & (kIpv4MoreFragments | kIpv4OffsetMask)) != 0) {
    return ParseStatus::kFragment;
  }
  if (!cursor.Skip(header_size)) return ParseStatus::kBadIpv4Header;
  return ParseTransport(cursor, view);
}

bool IsExtension(uint8_t next_header) {
  return next_header == kProtocolHopByHop || next_header == kProtocolRouting ||
         next_header == kProtocolDestinationOptions || next_header == kProtocolAh ||
         next_header == kProtocolFragment;
}

// Moves behind one extension header.
ParseStatus SkipExtension(Cursor& cursor, PacketView& view) {
  ExtensionHeader extension;
  if (!cursor.Peek(extension)) return ParseStatus::kBadIpv6Extension;
  std::size_t size = (extension.length + 1U) * 8U;
  if (view.protocol == kProtocolAh) size = (extension.length + 2U) * 4U;  // RFC 4302 section 2.2
  if (view.protocol == kProtocolFragment) {
    size = sizeof(extension);
    // RFC 8200 section 4.5: offset in the upper 13 bits, M flag in the lowest. Both zero is an
    // atomic fragment, a whole packet (RFC 6946 section 4).
    const uint16_t offset_and_more = Load<base::be16_t>(extension.rest.data()).value() & 0xFFF9U;
    if (offset_and_more != 0) return ParseStatus::kFragment;
  }
  if (!cursor.Skip(size)) return ParseStatus::kBadIpv6Extension;
  view.protocol = extension.next_header;
  return ParseStatus::kOk;
}

ParseStatus WalkExtensions(Cursor& cursor, PacketView& view) {
  const std::size_t start = cursor.offset();
  for (int walked = 0; IsExtension(view.protocol); ++walked) {
    if (walked == kMaxIpv6Extensions) return ParseStatus::kBadIpv6Extension;
    const ParseStatus status = SkipExtension(cursor, view);
    if (status != ParseStatus::kOk) return status;
    if (cursor.offset() - start > kMaxIpv6ExtensionBytes) return ParseStatus::kBadIpv6Extension;
  }
  return ParseStatus::kOk;
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
  view.protocol = ip.next_header;
  view.traffic_class = static_cast<uint8_t>(word >> 20);
  const ParseStatus status = WalkExtensions(cursor, view);
  return status == ParseStatus::kOk ? ParseTransport(cursor, view) : status;
}

}  // namespace

ParseStatus ParseFrame(std::span<const uint8_t> frame, bool checksum_verified, PacketView& view) {
  Cursor cursor(frame);
  EthernetHeader ethernet;
  if (!cursor.Read(ethernet)) return ParseStatus::kTruncatedEthernet;
  view.l3_offset = static_cast<uint16_t>(cursor.offset());
  switch (ethernet.type.value()) {
    case kEtherTypeIpv4:
      return ParseIpv4(cursor, checksum_verified, view);
    case kEtherTypeIpv6:
      return ParseIpv6(cursor, view);
    case kEtherTypeArp:
      return ParseStatus::kArp;
    case kEtherTypeVlan:
    case kEtherTypeQinQ:
      return ParseStatus::kVlan;
    default:
      return ParseStatus::kUnknownEtherType;
  }
}

}  // namespace penstock::net

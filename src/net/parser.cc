#include "penstock/net/parser.h"

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

// The least of a first fragment that shows what filters look at: TCP up to its flags (RFC 1858
// section 4.1), UDP's ports.
constexpr std::size_t kLeastTcp = 16;
constexpr std::size_t kLeastUdp = 8;

// `offset` in units of 8 bytes, `size` bytes behind the IP header.
ParseStatus StatusOfFragment(uint8_t protocol, uint16_t offset, std::size_t size) {
  // RFC 3128 section 4: a second fragment at offset 1 would overwrite the TCP flags.
  if (offset == 1 && protocol == kProtocolTcp) return ParseStatus::kTinyFragment;
  if (offset != 0) return ParseStatus::kFragment;
  const bool tiny = (protocol == kProtocolTcp && size < kLeastTcp) ||
                    (protocol == kProtocolUdp && size < kLeastUdp);
  return tiny ? ParseStatus::kTinyFragment : ParseStatus::kFragment;
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
  const uint16_t fragment = ip.fragment.value();
  if ((fragment & (kIpv4MoreFragments | kIpv4OffsetMask)) != 0) {
    return StatusOfFragment(ip.protocol, fragment & kIpv4OffsetMask, cursor.remaining());
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
  if (status == ExtensionStatus::kBad) return ParseStatus::kBadIpv6Extension;
  if (status == ExtensionStatus::kFragment) {
    return StatusOfFragment(walk.protocol, walk.fragment_offset, cursor.remaining());
  }
  return ParseTransport(cursor, view);
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

// From frame to packet: what lies where, and whether it may be believed.

#ifndef PENSTOCK_NET_PARSER_H_
#define PENSTOCK_NET_PARSER_H_

#include <cstdint>
#include <span>

#include "penstock/base/byte_order.h"
#include "penstock/net/address.h"
#include "penstock/net/wire.h"

namespace penstock::net {

// Why a frame is not a whole TCP or UDP packet, or the first fragment of one. Everything but kOk
// ends the packet's way, except that the caller may look further into kArp and kIcmp.
enum class ParseStatus : uint8_t {
  kOk,                 // TCP or UDP, ports read
  kArp,                // EtherType 0x0806
  kIcmp,               // ICMP or ICMPv6, whole; l4_offset is set
  kTruncatedEthernet,  // shorter than an Ethernet header, or than its VLAN tags
  kVlanDepth,          // more than kMaxVlanTags
  kUnknownEtherType,
  kBadIpv4Header,     // truncated, version, IHL or total length (RFC 791, RFC 1122 3.2.1)
  kBadIpv4Checksum,   // RFC 1122 3.2.1.2
  kBadIpv6Header,     // truncated, version or payload length (RFC 8200 section 3)
  kBadIpv6Extension,  // a chain of extension headers that is cut, too long, or ends in nothing
  kTtlZero,           // RFC 1812 5.3.1, RFC 8200 section 3
  kFragment,          // a later part of a datagram; l4_offset is its payload, ports are zero
  kIcmpFragment,      // any part of a fragmented ICMP message, where that can be told
  kTinyFragment,      // hides ports or flags from filters (RFC 1858, RFC 3128, RFC 7112)
  kBadFragment,       // fits no datagram: ends beyond 65,535 bytes, or is cut between units
  kBadTransport,      // no room for the TCP or UDP header, or a TCP header that ends too early
  kUnknownProtocol,   // neither TCP, UDP nor ICMP; whole, l4_offset is set, ports are zero
};

// A first fragment is treated like a whole packet of its flow; later ones have no ports to go by.
// An atomic IPv6 fragment is a whole packet (RFC 6946).
enum class FragmentKind : uint8_t { kNone, kFirst, kLater };

// Where the parts of a packet lie. Offsets and lengths in bytes, offsets from the frame's start.
struct PacketView {
  uint32_t fragment_id = 0;  // of a fragment: what its datagram's parts have in common
  uint16_t l3_offset = 0;    // IP header
  uint16_t ip_length = 0;  // IPv4 total length, or 40 + IPv6 payload length: the packet, no padding
  uint16_t l4_offset = 0;  // transport header
  Family family = Family::kIpv4;
  uint8_t protocol = 0;  // the transport protocol, behind any IPv6 extension headers
  uint8_t traffic_class = 0;
  uint8_t tcp_flags = 0;  // 0 for UDP
  FragmentKind fragment = FragmentKind::kNone;
  base::be16_t source_port;
  base::be16_t destination_port;
};
static_assert(sizeof(PacketView) == 20);

// At most this many extension headers, and bytes in them, are walked (RFC 8504 section 5.3 lets a
// host limit both).
inline constexpr int kMaxIpv6Extensions = 8;
inline constexpr int kMaxIpv6ExtensionBytes = 256;

// 802.1Q inside 802.1ad; in any order, with either EtherType.
inline constexpr int kMaxVlanTags = 2;

// Reads one frame. `checksum_verified`: the device has already checked the IPv4 header checksum.
// Fields of `view` beyond the failing layer are unspecified. Never reads outside `frame`.
// Thread safety: pure function.
[[nodiscard]] ParseStatus ParseFrame(std::span<const uint8_t> frame, bool checksum_verified,
                                     PacketView& view);

}  // namespace penstock::net

#endif  // PENSTOCK_NET_PARSER_H_

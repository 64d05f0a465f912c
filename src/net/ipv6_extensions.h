// The chain of IPv6 extension headers: between the IPv6 header and the transport.

#ifndef PENSTOCK_NET_IPV6_EXTENSIONS_H_
#define PENSTOCK_NET_IPV6_EXTENSIONS_H_

#include <cstdint>

#include "penstock/net/cursor.h"

namespace penstock::net {

enum class ExtensionStatus : uint8_t {
  kOk,            // the cursor stands at the transport header, `protocol` says which
  kBad,           // cut, more than kMaxIpv6Extensions or kMaxIpv6ExtensionBytes, or ends in nothing
  kFragment,      // part of a datagram
  kTinyFragment,  // a first fragment that does not hold the whole chain
  kBadFragment,   // a second fragment header
};

struct ExtensionWalk {
  uint8_t protocol = 0;  // in: the IPv6 header's next header; out: the transport's
  // Of a fragment header that was met.
  uint16_t fragment_offset = 0;  // in units of 8 bytes
  bool more_fragments = false;
  uint32_t fragment_id = 0;
  std::size_t before_fragment = 0;  // bytes of extension headers in front of the fragment header
  std::size_t part_offset = 0;      // of what stands behind it, 0: there is none
};

// Walks the chain (RFC 8200 section 4) from behind the IPv6 header. An atomic fragment is walked
// over (RFC 6946). At a fragment header of any other kind the walk goes on if it is the first
// fragment, so that the caller may look at its transport header, and ends otherwise; then
// `protocol` is what the fragment header names.
[[nodiscard]] ExtensionStatus WalkExtensions(Cursor& cursor, ExtensionWalk& walk);

}  // namespace penstock::net

#endif  // PENSTOCK_NET_IPV6_EXTENSIONS_H_

#include "net/ipv6_extensions.h"

#include "penstock/net/parser.h"

namespace penstock::net {
namespace {

// RFC 8200 section 4: next header and length in units of 8 bytes beyond the first 8.
struct ExtensionHeader {
  uint8_t next_header = 0;
  uint8_t length = 0;
  std::array<uint8_t, 6> rest{};
};
static_assert(sizeof(ExtensionHeader) == 8);

bool IsExtension(uint8_t next_header) {
  return next_header == kProtocolHopByHop || next_header == kProtocolRouting ||
         next_header == kProtocolDestinationOptions || next_header == kProtocolAh ||
         next_header == kProtocolFragment;
}

std::size_t SizeOf(uint8_t protocol, const ExtensionHeader& extension) {
  if (protocol == kProtocolFragment) return sizeof(extension);
  if (protocol == kProtocolAh) return (extension.length + 2U) * 4U;  // RFC 4302 section 2.2
  return (extension.length + 1U) * 8U;
}

// RFC 8200 section 4.5: offset in the upper 13 bits, M flag in the lowest, then the identification.
void ReadFragment(const ExtensionHeader& header, ExtensionWalk& walk) {
  const uint16_t word = Load<base::be16_t>(header.rest.data()).value();
  walk.fragment_offset = word >> 3;
  walk.more_fragments = (word & 1) != 0;
  walk.fragment_id = Load<base::be32_t>(header.rest.data() + 2).value();
}

}  // namespace

ExtensionStatus WalkExtensions(Cursor& cursor, ExtensionWalk& walk) {
  const std::size_t start = cursor.offset();
  bool met = false;  // a fragment header
  for (int walked = 0; IsExtension(walk.protocol); ++walked) {
    // RFC 7112 section 5: the first fragment holds the whole chain.
    const auto cut = walk.more_fragments ? ExtensionStatus::kTinyFragment : ExtensionStatus::kBad;
    ExtensionHeader extension;
    if (walked == kMaxIpv6Extensions) return ExtensionStatus::kBad;
    if (!cursor.Peek(extension)) return cut;
    const uint8_t here = walk.protocol;
    if (here == kProtocolFragment && met) return ExtensionStatus::kBadFragment;
    const std::size_t before = cursor.offset() - start;
    if (!cursor.Skip(SizeOf(here, extension))) return cut;
    if (cursor.offset() - start > kMaxIpv6ExtensionBytes) return ExtensionStatus::kBad;
    walk.protocol = extension.next_header;
    if (here != kProtocolFragment) continue;
    met = true;
    ReadFragment(extension, walk);
    walk.before_fragment = before;
    walk.part_offset = cursor.offset();
    if (walk.fragment_offset != 0) return ExtensionStatus::kFragment;
  }
  // RFC 8200 section 4.7: nothing follows, so there is nothing to balance.
  if (walk.protocol == kProtocolNoNextHeader) return ExtensionStatus::kBad;
  return walk.more_fragments ? ExtensionStatus::kFragment : ExtensionStatus::kOk;
}

}  // namespace penstock::net

// Source addresses that no packet can have.

#ifndef PENSTOCK_LB_MARTIAN_H_
#define PENSTOCK_LB_MARTIAN_H_

#include "penstock/lb/flow_key.h"

namespace penstock::lb {

// RFC 1812 section 5.3.7: "this network", loopback, multicast, broadcast; and the VIP itself, to
// whom nobody answers. 240/4 is left to those who use it.
[[nodiscard]] inline bool HasMartianSource(const FlowKey4& key) {
  const uint32_t source = base::be32_t::FromRaw(key.source).value();
  const uint32_t top = source >> 24;
  return top == 0 || top == 127 || top >> 4 == 0xE || source == UINT32_MAX ||
         key.source == key.destination;
}

// RFC 4291 sections 2.5.2, 2.5.3, 2.5.5.2, 2.5.6 and 2.7: unspecified, loopback, IPv4-mapped,
// link-local, multicast.
[[nodiscard]] inline bool HasMartianSource(const FlowKey6& key) {
  std::array<uint64_t, 2> words;
  std::memcpy(words.data(), key.source.data(), sizeof(words));
  const bool low = words[0] == 0 && (words[1] & ~(uint64_t{1} << 56)) == 0;  // :: and ::1
  const bool mapped = words[0] == 0 && (words[1] & 0xFFFFFFFF) == 0xFFFF0000;
  const bool link_local = key.source[0] == 0xFE && (key.source[1] & 0xC0) == 0x80;
  return low || mapped || link_local || key.source[0] == 0xFF || key.source == key.destination;
}

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_MARTIAN_H_

// The unit of sharing between cores, and the hint that a line is wanted soon.

#ifndef PENSTOCK_BASE_CACHE_LINE_H_
#define PENSTOCK_BASE_CACHE_LINE_H_

#include <cstddef>

namespace penstock::base {

inline constexpr std::size_t kCacheLine = 64;

// Asks for the line of `p` ahead of a read. Never faults, also on a wild address.
inline void Prefetch(const void* p) {
  __builtin_prefetch(p, 0, 3);
}

}  // namespace penstock::base

#endif  // PENSTOCK_BASE_CACHE_LINE_H_

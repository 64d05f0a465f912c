// The Maglev lookup table (Eisenbud et al., NSDI 2016, section 3.4) with weights.

#ifndef PENSTOCK_LB_MAGLEV_H_
#define PENSTOCK_LB_MAGLEV_H_

#include <cstdint>
#include <span>
#include <vector>

namespace penstock::lb {

// Index of a backend in the list that a table was built from.
using MemberIndex = uint16_t;
inline constexpr MemberIndex kNoMember = 0xFFFF;
inline constexpr std::size_t kMaxMembers = 65534;

// The largest table: a prime above which building takes seconds.
inline constexpr uint32_t kMaxTableSize = 5000011;

// One backend's permutation of the slots: offset, offset + skip, offset + 2 skip, ... (mod M).
struct MaglevEntry {
  uint32_t offset = 0;  // [0, M)
  uint32_t skip = 1;    // [1, M)
  uint32_t weight = 1;  // 0 takes no slot
};

// Gives every slot of a table of `table_size` to one of `entries`, in turns: each backend takes its
// first slot in list order; after that, turn k >= 1 of a backend of weight w comes at time
// (2k+1)/(2w) (Webster's method), ties in list order; a turn takes the first free slot of the
// backend's permutation. Equal weights give the paper's round robin. Every weight > 0 has a slot;
// shares are within one slot of the quota beyond that minimum.
// Returns `table_size` member indices; all kNoMember when no entry has weight.
// REQUIRES: table_size prime and <= kMaxTableSize; entries with weight <= table_size, <=
// kMaxMembers.
[[nodiscard]] std::vector<MemberIndex> BuildMaglev(std::span<const MaglevEntry> entries,
                                                   uint32_t table_size);

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_MAGLEV_H_

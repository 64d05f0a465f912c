// Who held a slot before a change of members or weights took it away, long enough that flows
// without an entry are most likely theirs (docs/CONSISTENCY.md, "The previous owner").

#ifndef PENSTOCK_LB_LONG_TIME_OWNERS_H_
#define PENSTOCK_LB_LONG_TIME_OWNERS_H_

#include <chrono>
#include <vector>

#include "penstock/lb/era.h"

namespace penstock::lb {

struct LongTimeOwners {
  // By slot, an index into the members of the present, never its present owner; kNoMember: nobody.
  // Empty: nobody in any slot.
  std::vector<MemberIndex> by_slot;
  // From this second on the same eras may give something else. max(): never.
  std::chrono::sys_seconds valid_until = std::chrono::sys_seconds::max();
};

// A pure function of the eras, which are those of Succeed, the transition and now. Costs one pass
// over the slots of every era.
[[nodiscard]] LongTimeOwners FindLongTimeOwners(const Eras& eras, std::chrono::seconds transition,
                                                std::chrono::sys_seconds now);

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_LONG_TIME_OWNERS_H_

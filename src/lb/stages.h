// What the stages share.

#ifndef PENSTOCK_LB_STAGES_H_
#define PENSTOCK_LB_STAGES_H_

#include <cstddef>

#include "penstock/lb/burst.h"

namespace penstock::lb {

// Calls `visit(i)` for each packet that no former stage has given a verdict.
template <typename Visit>
void ForEachPending(const PacketBurst& burst, Visit&& visit) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(burst.count); ++i) {
    if (burst.verdict[i] == Verdict::kForward) visit(i);
  }
}

// Calls `visit(key)` with the packet's key in its family's type.
template <typename Visit>
auto WithKey(PacketBurst& burst, std::size_t i, Visit&& visit) {
  if (burst.view[i].family == net::Family::kIpv4) return visit(burst.key[i].v4);
  return visit(burst.key[i].v6);
}

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_STAGES_H_

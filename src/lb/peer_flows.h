// Entries in the other workers' flow tables.

#ifndef PENSTOCK_LB_PEER_FLOWS_H_
#define PENSTOCK_LB_PEER_FLOWS_H_

#include <optional>
#include <span>

#include "penstock/lb/flow_table.h"

namespace penstock::lb {

[[nodiscard]] inline bool IsStray(const FlowEntry& entry) {
  return (entry.state & kFlowStray) != 0;
}

// The flow's entry at another worker: the one that its whole packets made, else one that fragments
// left.
template <typename Key>
[[nodiscard]] std::optional<FlowEntry> FindAtPeers(std::span<const FlowTable* const> peers,
                                                   FlowHash hash, const Key& key, base::Tick now) {
  std::optional<FlowEntry> stray;
  for (const FlowTable* peer : peers) {
    const std::optional<FlowEntry> entry = peer->of<Key>().Peek(hash, key, now);
    if (!entry) continue;
    if (!IsStray(*entry)) return entry;
    if (!stray || entry->age < stray->age) stray = entry;
  }
  return stray;
}

[[nodiscard]] inline bool MayHoldStray(std::span<const FlowTable* const> peers, base::Tick now) {
  for (const FlowTable* peer : peers) {
    if (peer->MayHoldStray(now)) return true;
  }
  return false;
}

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_PEER_FLOWS_H_

// What the stages share.

#ifndef PENSTOCK_LB_STAGES_H_
#define PENSTOCK_LB_STAGES_H_

#include <cstddef>

#include "penstock/lb/burst.h"
#include "penstock/lb/service_table.h"
#include "penstock/net/wire.h"

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

// The packet is ICMP: it follows the flow it quotes and leaves no trace, or is an echo request.
[[nodiscard]] inline bool IsIcmp(const net::PacketView& view) {
  return view.protocol ==
         (view.family == net::Family::kIpv4 ? net::kProtocolIcmp : net::kProtocolIcmpv6);
}

// The key is that of an echo request: it has no ports, and never an entry.
[[nodiscard]] inline bool IsEcho(const FlowKey4& key) {
  return key.service.protocol() == net::kProtocolIcmp;
}
[[nodiscard]] inline bool IsEcho(const FlowKey6& key) {
  return key.service.protocol() == net::kProtocolIcmpv6;
}

// What selects the slot of a flow. Pings of a client go to one backend, whatever else does.
template <typename Key>
[[nodiscard]] SlotHash SlotHashOf(const Key& key, const Service& service) {
  return IsEcho(key) ? SlotHash::kSourceAddress : service.hash;
}

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_STAGES_H_

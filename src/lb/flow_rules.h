// What an entry means for a packet, and a packet for its entry (docs/CONSISTENCY.md).
// Pure decisions; SelectStage carries them out.

#ifndef PENSTOCK_LB_FLOW_RULES_H_
#define PENSTOCK_LB_FLOW_RULES_H_

#include <cstdint>

#include "penstock/lb/flow_table.h"
#include "penstock/lb/service_table.h"
#include "penstock/net/parser.h"

namespace penstock::lb {

enum class PacketKind : uint8_t {
  kSyn,    // SYN without ACK, FIN or RST: a client opens a connection
  kData,   // TCP in mid-stream
  kReset,  // RST: follows the flow, creates nothing
  kOdd,    // SYN+ACK, SYN+FIN, SYN+RST, no flags at all: follows the flow, changes nothing
  kUdp,    // UDP, and pings
};

// A draining backend answers a SYN inside a live connection with a challenge ACK (RFC 5961 section
// 4); a connection is taken for live if its last packet is not older than this.
inline constexpr base::Tick kChallengeWindow = 5;

// `flow_protocol`: that of the flow's key, which differs from the packet's in ICMP about a flow.
[[nodiscard]] PacketKind KindOf(const net::PacketView& view, uint8_t flow_protocol);

// True if the packet goes to the entry's backend; false: the pool's table chooses anew.
[[nodiscard]] bool FollowsEntry(PacketKind kind, const FlowEntry& entry, const Backend& backend,
                                const Service& service);

// The entry's state after a packet that followed it.
[[nodiscard]] uint8_t StateAfter(PacketKind kind, uint8_t tcp_flags, const FlowEntry& entry);

// The state of an entry made for this packet. REQUIRES: Creates(kind).
[[nodiscard]] uint8_t FirstState(PacketKind kind, uint8_t tcp_flags);
[[nodiscard]] inline bool Creates(PacketKind kind) {
  return kind == PacketKind::kSyn || kind == PacketKind::kData || kind == PacketKind::kUdp;
}

// True if the packet makes an entry, or renews the one it has and does not follow.
[[nodiscard]] inline bool Records(PacketKind kind, Tracking tracking, const Slot& slot,
                                  bool has_entry) {
  if (!Creates(kind) || tracking == Tracking::kNone) return false;
  return tracking == Tracking::kFull || has_entry || slot.previous != kNoMember;
}

// The owner of the slot for a packet that no entry decides. A mid-stream packet that this host has
// not seen is far more likely an older flow's than a new one's; without tracking, nothing would
// tell it from the packets behind a SYN of today.
[[nodiscard]] inline MemberIndex OwnerFor(PacketKind kind, const Slot& slot, Tracking tracking) {
  const bool is_new = kind == PacketKind::kSyn || kind == PacketKind::kUdp;
  return is_new || tracking == Tracking::kNone ? slot.current : slot.mid_stream();
}

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_FLOW_RULES_H_

// The forwarding decision for a burst of packets, stage by stage.

#ifndef PENSTOCK_LB_PIPELINE_H_
#define PENSTOCK_LB_PIPELINE_H_

#include <span>

#include "penstock/base/clock.h"
#include "penstock/lb/burst.h"
#include "penstock/lb/counters.h"
#include "penstock/lb/extra_frames.h"
#include "penstock/lb/flow_table.h"
#include "penstock/lb/fragment_table.h"
#include "penstock/lb/icmp_limiter.h"
#include "penstock/lb/neighbors.h"
#include "penstock/lb/new_flow_limiter.h"
#include "penstock/lb/service_table.h"

namespace penstock::lb {

// Bytes in front of a frame's Ethernet header that ForwardBurst may need: a VLAN tag, IPv6, UDP,
// GUE.
inline constexpr std::size_t kMaxFront = 4 + 40 + 8 + 4;

// What one worker forwards with. Where nothing else is said, it is the worker's own or immutable.
struct ForwardContext {
  const ServiceTable& services;  // read once per burst, valid until the next quiescent state
  FlowTable& flows;
  Neighbors& neighbors;  // shared by all workers, atomics inside
  FlowCounters& flow_counters;
  IcmpLimiter& icmp;
  NewFlowLimiter& new_flows;
  ExtraFrames& extra;
  FragmentTable& fragments;  // shared by all workers, atomics inside
  int worker = 0;            // index into each backend's counters
  base::Tick now = 0;        // one reading per burst
  // The other workers' flow tables, to look up what came to the wrong worker.
  std::span<const FlowTable* const> peers{};
};

// Decides every packet of the burst and rewrites those to send in place: sets verdict, and for
// kForward and kAnswer* data, length and egress_port. kHold: nothing was written, and the caller
// keeps the packet to try again (HeldPackets). A packet that has to be cut into fragments leaves as
// its first one, the others go to context.extra. Counts flow events and backends, not
// verdicts: the caller does that (CountVerdicts) once the transmit queue has taken its share. No
// allocation, no lock, no logging.
void ForwardBurst(const ForwardContext& context, PacketBurst& burst);

// The stages, in order; each skips packets that a former one has given a verdict other than
// kForward.
void ParseStage(PacketBurst& burst);
void LocalStage(const ForwardContext& context, PacketBurst& burst);     // MAC address, ARP, NDP
void IcmpStage(const ForwardContext& context, PacketBurst& burst);      // quotes, pings
void ClassifyStage(const ForwardContext& context, PacketBurst& burst);  // service, hash, prefetch
void LookupStage(const ForwardContext& context, PacketBurst& burst);    // flow entry
void SelectStage(const ForwardContext& context, PacketBurst& burst);    // backend, flow rules
// First fragments tell the others what was decided.
void FragmentStage(const ForwardContext& context, PacketBurst& burst);
void EncapStage(const ForwardContext& context, PacketBurst& burst);  // outer headers, MTU

// Judges entries by the running generation and removes those that are over: `buckets` buckets of
// the IPv4 table further than last time, and the same share of the IPv6 table. Returns how many
// full passes over both ended.
int SweepFlows(const ForwardContext& context, uint32_t buckets);

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_PIPELINE_H_

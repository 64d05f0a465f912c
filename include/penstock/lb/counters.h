// What a worker counts. Readers on other threads sum over workers.

#ifndef PENSTOCK_LB_COUNTERS_H_
#define PENSTOCK_LB_COUNTERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "penstock/base/cache_line.h"
#include "penstock/base/counter.h"
#include "penstock/lb/verdict.h"

namespace penstock::lb {

// One worker's view of one port. Written by that worker alone, read by any thread.
// Identity: received packets = sum over all verdicts, at any quiet moment; kHold is a gauge.
struct alignas(base::kCacheLine) PortCounters {
  base::Counter received_packets;
  base::Counter received_bytes;
  std::array<base::Counter, kVerdictCount> verdicts;  // indexed by Verdict, by receiving port
  base::Counter transmitted_packets;  // all that this port's queue took, own packets included
  base::Counter transmitted_bytes;
  base::Counter own_packets;  // ARP requests, solicitations, fragments beyond the first
  base::Counter own_tx_full;  // ... not sent: no buffer, or not taken by the queue

  void Count(Verdict v, uint64_t packets = 1) {
    verdicts[static_cast<std::size_t>(v)].Add(packets);
  }
  // A held packet ends under `v`.
  void Release(Verdict v) {
    verdicts[static_cast<std::size_t>(Verdict::kHold)].Subtract(1);
    Count(v);
  }
};

// What happened to flow entries. Indexes FlowCounters.
enum class FlowEvent : uint8_t {
  kHit,            // a packet followed its entry
  kPeerHit,        // ... which another worker has
  kMiss,           // no entry
  kMissMidStream,  // ... for TCP in mid-stream: the table of today decides for a flow of yesterday
  kInserted,
  kRepicked,  // entry's backend may not serve it any more, or a SYN chose anew
  kEvictedExpired,
  kEvictedRedundant,
  kEvictedSynOnly,
  kEvictedClosing,
  kEvictedOldest,  // the least recently used of the unconfirmed
  kUntracked,      // no way free for it; the table alone keeps the flow
  kNewFlowAtRisk,  // ... though its slot has a previous owner that its next packet would go to
  kExpired,        // removed by the sweep
  kCount
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(FlowEvent::kCount)>
    kFlowEventNames = {"flow_hit",
                       "flow_hit_peer",
                       "flow_miss",
                       "flow_miss_mid_stream",
                       "flow_inserted",
                       "flow_repicked",
                       "flow_evicted_expired",
                       "flow_evicted_redundant",
                       "flow_evicted_syn_only",
                       "flow_evicted_closing",
                       "flow_evicted_oldest",
                       "flow_untracked",
                       "new_flow_at_risk",
                       "flow_expired"};

// One worker's flow events. Written by that worker alone.
struct alignas(base::kCacheLine) FlowCounters {
  std::array<base::Counter, static_cast<std::size_t>(FlowEvent::kCount)> events;

  void Count(FlowEvent e) { events[static_cast<std::size_t>(e)].Increment(); }
};

// What one worker wrapped for one backend. Written by that worker alone. An array of these, one
// element a worker, lives as long as the backend's identity and outlasts every snapshot that names
// it.
struct alignas(base::kCacheLine) BackendCounters {
  base::Counter packets;
  base::Counter bytes;       // of inner packets, from the IP header on
  base::Counter new_flows;   // SYNs without an entry to follow, and UDP flows that got one
  base::Counter live_flows;  // entries in this worker's flow table (a gauge)
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_COUNTERS_H_

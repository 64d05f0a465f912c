// Flows taken over from one run of the workers to the next.

#ifndef PENSTOCK_LB_KEPT_FLOWS_H_
#define PENSTOCK_LB_KEPT_FLOWS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/lb/flow_key.h"
#include "penstock/lb/flow_table.h"
#include "penstock/lb/service_table.h"
#include "penstock/net/address.h"

namespace penstock::lb {

// A flow and its backend, in the ids of one generation.
struct KeptFlow {
  net::IpAddress source;       // the client
  net::IpAddress destination;  // the VIP
  uint16_t source_port = 0;    // host order
  uint16_t destination_port = 0;
  uint8_t protocol = 0;
  bool confirmed = false;
  base::Tick idle = 0;  // ticks since its last packet
  ServiceId service = kNoId;
  BackendId backend = kNoId;

  friend bool operator==(const KeptFlow&, const KeptFlow&) = default;
};

// Appends the flows of one worker's table that would go to another backend without their entry. The
// others need nothing: the pool's table, made of the same configuration, finds their backend again.
// REQUIRES: the worker does not run.
void CollectFlows(const ServiceTable& services, const FlowTable& flows, base::Tick now,
                  std::vector<KeptFlow>& kept);

// One worker's table and number, to restore into.
struct RestoreTarget {
  FlowTable* flows = nullptr;
  int worker = 0;  // index into each backend's counters
};

// Makes entries for flows, spread over the workers: nobody knows yet to whose queue each will come,
// so with several workers they are stray entries, which the others look for. Flows that are over,
// or that no bucket has room for, are left out. Returns the number of entries made.
// REQUIRES: no worker runs.
std::size_t RestoreFlows(const ServiceTable& services, std::span<const RestoreTarget> targets,
                         std::span<const KeptFlow> kept, base::Tick now);

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_KEPT_FLOWS_H_

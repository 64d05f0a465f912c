// Runs a scenario under a rule and counts the connections that break.

#ifndef PENSTOCK_BENCH_CHURN_SIMULATION_H_
#define PENSTOCK_BENCH_CHURN_SIMULATION_H_

#include <cstdint>

#include "bench/churn/rule.h"
#include "bench/churn/scenarios.h"

namespace penstock::bench {

// Connections by what became of them. One is broken when a packet of it goes to another backend
// than its SYN did, though that one is there and serves its flows; a broken connection ends.
struct Outcome {
  uint64_t flows = 0;         // that began
  uint64_t backend_gone = 0;  // their backend was removed, disabled or failed: nobody could help
  uint64_t by_change = 0;     // at the host where they were
  uint64_t by_host = 0;       // they came to another host, or their host lost its memory
  uint64_t refused = 0;       // SYNs that got no backend

  [[nodiscard]] uint64_t broken() const { return by_change + by_host; }
};

// Deterministic for a seed.
[[nodiscard]] Outcome Simulate(const Scenario& scenario, Rule& rule, uint32_t seed);

}  // namespace penstock::bench

#endif  // PENSTOCK_BENCH_CHURN_SIMULATION_H_

// What happens to a fleet: published runs, and single changes.

#ifndef PENSTOCK_BENCH_CHURN_SCENARIOS_H_
#define PENSTOCK_BENCH_CHURN_SCENARIOS_H_

#include <string>
#include <vector>

#include "bench/churn/fleet_state.h"

namespace penstock::bench {

struct Scenario {
  std::string name;
  std::string about;
  uint32_t backends = 24;
  uint32_t hosts = 1;
  uint32_t flows = 20'000;       // at a time
  std::size_t entries = 65'536;  // of each host's flow table
  uint32_t seconds = 120;
  bool single_change = false;   // one change, no host changes: a good rule breaks nothing
  std::vector<Event> events{};  // in order of time
};

// `seed` chooses who is changed in runs of many changes. `quick`: a tenth of the flows.
[[nodiscard]] std::vector<Scenario> AllScenarios(uint32_t seed, bool quick);

}  // namespace penstock::bench

#endif  // PENSTOCK_BENCH_CHURN_SCENARIOS_H_

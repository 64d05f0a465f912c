// Results for people and for programs.

#ifndef PENSTOCK_BENCH_CHURN_REPORT_H_
#define PENSTOCK_BENCH_CHURN_REPORT_H_

#include <string>
#include <vector>

#include "bench/churn/simulation.h"

namespace penstock::bench {

struct Result {
  std::string scenario;
  std::string rule;
  Outcome outcome;
};

// One line a scenario and rule: connections, and how many broke by which cause.
[[nodiscard]] std::string ToTable(const std::vector<Result>& results);
// {"seed": N, "results": [{"scenario": ..., "rule": ..., "flows": N, ...}]}
[[nodiscard]] std::string ToJson(const std::vector<Result>& results, uint32_t seed);

}  // namespace penstock::bench

#endif  // PENSTOCK_BENCH_CHURN_REPORT_H_

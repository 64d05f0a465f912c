// All that belongs to one generation, except what workers read.

#ifndef PENSTOCK_CONTROL_RUNNING_STATE_H_
#define PENSTOCK_CONTROL_RUNNING_STATE_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "control/identity.h"
#include "control/pool_eras.h"
#include "control/pool_tables.h"
#include "penstock/config/services_config.h"
#include "penstock/lb/flow_key.h"

namespace penstock::control {

// Immutable once readers can see it.
struct RunningState {
  uint64_t generation = 0;          // 0: nothing applied yet
  std::chrono::sys_seconds time{};  // from which it holds
  bool acknowledged = false;        // every worker has run it
  // Desired configuration as the operator ordered it. Backend::state is the column of the admin
  // state, and set for every backend. (Health is a column of its own: all are healthy for now.)
  config::ServicesConfig config;
  lb::HashKey key;
  Identities identities;
  EraMap eras;
  // The eras up to the last generation that every worker has run: what the next one follows on. A
  // generation that was never acknowledged leaves no trace, as it will not after a restart.
  EraMap settled;
  PoolTableMap tables;  // by pool name
};

[[nodiscard]] const config::Pool* FindPool(const config::ServicesConfig& config,
                                           std::string_view name);
// "pools: a, b, c", at most ten of them; for messages about a pool that does not exist.
[[nodiscard]] std::string PoolNames(const config::ServicesConfig& config);

// Fills in each absent state: the one that the backend has in `running`, else active.
void FillStates(const config::ServicesConfig& running, config::ServicesConfig& desired);

// Whether both mean the same; the order of lists has no meaning.
[[nodiscard]] bool SameMeaning(const config::ServicesConfig& a, const config::ServicesConfig& b);

}  // namespace penstock::control

#endif  // PENSTOCK_CONTROL_RUNNING_STATE_H_

// From a generation's state to the table that workers read.

#ifndef PENSTOCK_CONTROL_SNAPSHOT_H_
#define PENSTOCK_CONTROL_SNAPSHOT_H_

#include <memory>

#include "control/running_state.h"
#include "penstock/config/host_config.h"
#include "penstock/lb/service_table.h"

namespace penstock::control {

// REQUIRES: the configuration of `state` is valid for `host`.
[[nodiscard]] std::shared_ptr<const lb::ServiceTable> MakeSnapshot(const RunningState& state,
                                                                   const config::HostConfig& host);

}  // namespace penstock::control

#endif  // PENSTOCK_CONTROL_SNAPSHOT_H_

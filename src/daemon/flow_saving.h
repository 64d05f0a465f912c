// Flows over a planned restart: read before the first packet, written after the last.

#ifndef PENSTOCK_DAEMON_FLOW_SAVING_H_
#define PENSTOCK_DAEMON_FLOW_SAVING_H_

#include <string>

#include "penstock/control/controller.h"
#include "penstock/lb/dataplane.h"

namespace penstock::daemon {

// Each does nothing when `state_dir` is empty. What goes wrong is logged: flows that cannot be kept
// are no reason not to start, or not to stop.

// REQUIRES: the controller has its first generation, and no worker runs.
void RestoreFlows(const std::string& state_dir, const control::Controller& controller,
                  lb::FlowKeeper& keeper);
// The flows are in the workers' tables: the file must not be taken for true once more. To be called
// when the daemon is ready; a start that fails before leaves it for the next one.
void ForgetFlows(const std::string& state_dir);
// REQUIRES: no worker runs any more.
void SaveFlows(const std::string& state_dir, const control::Controller& controller,
               const lb::FlowKeeper& keeper);

}  // namespace penstock::daemon

#endif  // PENSTOCK_DAEMON_FLOW_SAVING_H_

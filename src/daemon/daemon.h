// The order of things: ports, configuration, workers, listeners; and backwards at the end.

#ifndef PENSTOCK_DAEMON_DAEMON_H_
#define PENSTOCK_DAEMON_DAEMON_H_

#include <optional>

#include "penstock/config/host_config.h"
#include "penstock/config/services_config.h"

namespace penstock::daemon {

// Forwards until SIGTERM or SIGINT. `services`: what runs from the first packet on; with a
// services file SIGHUP reads it again. Returns the exit code: 0, or 1 when the start fails, with
// cause and fix on standard error. REQUIRES: called before the process has other threads.
[[nodiscard]] int RunDaemon(const config::HostConfig& host,
                            const std::optional<config::ServicesConfig>& services);

}  // namespace penstock::daemon

#endif  // PENSTOCK_DAEMON_DAEMON_H_

// The services file of a file-driven daemon.

#ifndef PENSTOCK_DAEMON_SERVICES_FILE_H_
#define PENSTOCK_DAEMON_SERVICES_FILE_H_

#include "penstock/config/host_config.h"
#include "penstock/config/load.h"
#include "penstock/config/services_config.h"

namespace penstock::daemon {

// Reads host.services_file and checks it, also against the host. REQUIRES: it is not empty.
[[nodiscard]] config::Loaded<config::ServicesConfig> LoadServicesFile(
    const config::HostConfig& host);

}  // namespace penstock::daemon

#endif  // PENSTOCK_DAEMON_SERVICES_FILE_H_

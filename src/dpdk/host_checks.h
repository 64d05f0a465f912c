// What a start needs of the host, looked at before DPDK is: its own messages name no way out.

#ifndef PENSTOCK_DPDK_HOST_CHECKS_H_
#define PENSTOCK_DPDK_HOST_CHECKS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <set>
#include <string>
#include <vector>

#include "penstock/config/host_config.h"

namespace penstock::dpdk {

// CPUs that this process may run on.
[[nodiscard]] std::set<int> AllowedCores();
// "0-3,8"
[[nodiscard]] std::string FormatCores(const std::set<int>& cores);

// The cores of the workers: those configured, or the last allowed one. Each must be online and
// allowed.
[[nodiscard]] absl::StatusOr<std::vector<int>> WorkerCores(const config::DataplaneConfig& config);

// Enough free hugepages of any size, or of ordinary memory: DPDK would take what there is and more.
[[nodiscard]] absl::Status CheckMemory(const config::MemoryConfig& memory);

// That the device is there to be opened: the PCI function and a driver DPDK can use, or the network
// interface that a virtual device names.
[[nodiscard]] absl::Status CheckDevice(const config::PortConfig& port);

}  // namespace penstock::dpdk

#endif  // PENSTOCK_DPDK_HOST_CHECKS_H_

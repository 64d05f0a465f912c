// DPDK's environment: started once in a process, ended by the destructor.

#ifndef PENSTOCK_DPDK_EAL_H_
#define PENSTOCK_DPDK_EAL_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "dpdk/eal_log.h"
#include "penstock/config/host_config.h"

namespace penstock::dpdk {

class Eal {
 public:
  // Checks the host (cores, hugepages, devices) and starts EAL. An error is a StartError. The
  // calling thread keeps its CPU affinity. Once a process: DPDK cannot start again.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<Eal>> Start(const config::HostConfig& config);
  ~Eal();
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

  // Cores of the workers. Worker i runs on DPDK's "lcore" i + 1, pinned to element i.
  [[nodiscard]] const std::vector<int>& worker_cores() const { return cores_; }

  // Makes DPDK open the device of a port; it is known as its device name afterwards.
  [[nodiscard]] absl::Status Probe(const config::PortConfig& port);

 private:
  explicit Eal(std::vector<int> cores) : cores_(std::move(cores)) {}
  [[nodiscard]] absl::Status Init(const config::HostConfig& config);

  EalLogStream log_;
  std::vector<int> cores_;
  std::vector<std::string> arguments_;  // EAL keeps pointers into them
  bool started_ = false;
};

// The command line that EAL gets.
[[nodiscard]] std::vector<std::string> EalArguments(const config::DataplaneConfig& config,
                                                    const std::vector<int>& worker_cores);

}  // namespace penstock::dpdk

#endif  // PENSTOCK_DPDK_EAL_H_

#include "dpdk/eal.h"

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <sched.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>

#include "dpdk/device.h"
#include "dpdk/host_checks.h"
#include "dpdk/start_error.h"

namespace penstock::dpdk {
namespace {

// What EAL calls fatal, of all that it printed.
std::string FatalLine(const std::string& printed) {
  constexpr std::string_view kMark = "FATAL: ";
  const std::size_t mark = printed.find(kMark);
  if (mark == std::string::npos) return rte_strerror(rte_errno);
  const std::size_t start = mark + kMark.size();
  return printed.substr(start, printed.find('\n', start) - start);
}

absl::Status CheckHost(const config::DataplaneConfig& config, std::size_t workers) {
  if (workers >= RTE_MAX_LCORE) {
    return StartError(fmt::format("{} workers are more than DPDK was built for", workers),
                      fmt::format("at most {} cores in dataplane.workers", RTE_MAX_LCORE - 1));
  }
  absl::Status status = CheckMemory(config.memory);
  for (const config::PortConfig& port : config.ports) {
    if (status.ok()) status = CheckDevice(port);
  }
  return status;
}

absl::Status ProbeError(const config::PortConfig& port, int error, std::string complaint) {
  if (!complaint.empty()) complaint = fmt::format(" ({})", complaint);
  if (error == -EFAULT) {  // no bus took the name
    return StartError(
        fmt::format("port {}: no driver knows device \"{}\"{}", port.name, port.device, complaint),
        "a PCI address, or a virtual device such as net_af_packet0,iface=eth0");
  }
  return StartError(
      fmt::format("port {}: device \"{}\" does not open{}", port.name, port.device, complaint),
      "correct the port's device; `log: {level: debug}` shows all that DPDK says");
}

}  // namespace

std::vector<std::string> EalArguments(const config::DataplaneConfig& config,
                                      const std::vector<int>& worker_cores) {
  // Lcore 0 is the calling thread and floats: threads that it makes later inherit its affinity.
  std::string lcores = fmt::format("0@({})", FormatCores(AllowedCores()));
  for (std::size_t i = 0; i < worker_cores.size(); ++i) {
    lcores += fmt::format(",{}@{}", i + 1, worker_cores[i]);
  }
  std::vector<std::string> arguments = {"penstockd",
                                        "--lcores",
                                        lcores,
                                        "--main-lcore",
                                        "0",
                                        "--file-prefix",
                                        fmt::format("penstock-{}", getpid()),
                                        "--no-telemetry",
                                        "-m",
                                        fmt::to_string(config.memory.megabytes)};
  if (config.memory.hugepages) {
    arguments.push_back("--in-memory");  // leaves no files behind, whatever ends the process
  } else {
    arguments.insert(arguments.end(), {"--no-huge", "--no-shconf"});
  }
  bool pci = false;
  for (const config::PortConfig& port : config.ports) {
    if (!IsPciAddress(port.device)) continue;
    pci = true;
    arguments.insert(arguments.end(), {"-a", port.device});
  }
  if (!pci) arguments.push_back("--no-pci");
  return arguments;
}

absl::StatusOr<std::unique_ptr<Eal>> Eal::Start(const config::HostConfig& config) {
  absl::StatusOr<std::vector<int>> cores = WorkerCores(config.dataplane);
  if (!cores.ok()) return cores.status();
  absl::Status status = CheckHost(config.dataplane, cores->size());
  if (!status.ok()) return status;
  std::unique_ptr<Eal> eal(new Eal(*std::move(cores)));
  status = eal->Init(config);
  if (!status.ok()) return status;
  return eal;
}

absl::Status Eal::Init(const config::HostConfig& config) {
  arguments_ = EalArguments(config.dataplane, cores_);
  std::vector<char*> argv;
  for (std::string& argument : arguments_) argv.push_back(argument.data());
  rte_openlog_stream(log_.file());
  cpu_set_t affinity;
  const bool affinity_known = sched_getaffinity(0, sizeof(affinity), &affinity) == 0;
  StderrCapture capture(log_);
  const int result = rte_eal_init(static_cast<int>(argv.size()), argv.data());
  const std::string printed = capture.Finish();
  if (affinity_known) sched_setaffinity(0, sizeof(affinity), &affinity);
  if (result < 0) {
    return StartError(fmt::format("DPDK does not start: {}", FatalLine(printed)),
                      "`log: {level: debug}` in penstockd.yaml shows what it says");
  }
  started_ = true;
  // EAL makes a folder for files that we told it not to share; no one else would remove it.
  std::error_code not_empty;
  std::filesystem::remove(rte_eal_get_runtime_dir(), not_empty);
  return absl::OkStatus();
}

Eal::~Eal() {
  if (started_) rte_eal_cleanup();
  rte_openlog_stream(nullptr);
}

absl::Status Eal::Probe(const config::PortConfig& port) {
  (void)log_.TakeComplaint();
  StderrCapture capture(log_);
  const int result = rte_dev_probe(port.device.c_str());
  capture.Finish();
  // A PCI device that was named on the command line is open since EAL's start.
  if (result == 0 || result == -EEXIST) return absl::OkStatus();
  return ProbeError(port, result, log_.TakeComplaint());
}

}  // namespace penstock::dpdk

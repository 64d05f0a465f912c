#include "dpdk/host_checks.h"

#include <absl/strings/str_join.h>
#include <net/if.h>
#include <sched.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "dpdk/device.h"
#include "dpdk/start_error.h"

namespace penstock::dpdk {
namespace {

constexpr std::string_view kHugepages = "/sys/kernel/mm/hugepages";
constexpr std::string_view kPciDevices = "/sys/bus/pci/devices";
// Kernel drivers that hand a device to user space, or share it with DPDK (the last two).
constexpr std::array<std::string_view, 5> kUsableDrivers = {"vfio-pci", "uio_pci_generic",
                                                            "igb_uio", "mlx5_core", "mlx4_core"};
// Virtual devices that open an existing network interface, and the arguments that name it.
constexpr std::array<std::string_view, 3> kInterfaceDrivers = {"net_af_packet", "net_af_xdp",
                                                               "net_pcap"};
constexpr std::array<std::string_view, 4> kInterfaceArguments = {"iface", "rx_iface", "rx_iface_in",
                                                                 "tx_iface"};

absl::Status CheckCore(int core, const std::set<int>& allowed) {
  if (allowed.contains(core)) return absl::OkStatus();
  const std::string there = FormatCores(allowed);
  const std::string fix = fmt::format("choose dataplane.workers among cores {}", there);
  if (core >= sysconf(_SC_NPROCESSORS_CONF)) {
    return StartError(
        fmt::format("worker core {} is not there: this host has cores {}", core, there), fix);
  }
  return StartError(fmt::format("worker core {} is offline or not open to this process, which may "
                                "run on cores {}",
                                core, there),
                    fix + ", or widen its CPU affinity (taskset, CPUAffinity=)");
}

// Mebibytes that the kernel can give without swapping.
uint64_t AvailableMegabytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  uint64_t kilobytes = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream(line) >> name >> kilobytes;
    if (name == "MemAvailable:") return kilobytes / 1024;
  }
  return 0;
}

// Mebibytes in free hugepages of all sizes.
uint64_t FreeHugepageMegabytes() {
  uint64_t free_kilobytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kHugepages, error)) {
    const std::string name = entry.path().filename();  // "hugepages-2048kB"
    uint64_t page_kilobytes = 0;
    uint64_t free_pages = 0;
    std::istringstream(name.substr(name.find('-') + 1)) >> page_kilobytes;
    std::ifstream(entry.path() / "free_hugepages") >> free_pages;
    free_kilobytes += page_kilobytes * free_pages;
  }
  return free_kilobytes >> 10;
}

absl::Status CheckPciDevice(const config::PortConfig& port) {
  const std::filesystem::path path = std::filesystem::path(kPciDevices) / port.device;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return StartError(fmt::format("port {}: there is no PCI device {}", port.name, port.device),
                      "take an address that `dpdk-devbind.py --status-dev net` lists");
  }
  const std::string driver = std::filesystem::read_symlink(path / "driver", error).filename();
  if (std::ranges::find(kUsableDrivers, driver) != kUsableDrivers.end()) return absl::OkStatus();
  return StartError(fmt::format("port {}: PCI device {} is bound to {}, not to vfio-pci", port.name,
                                port.device, driver.empty() ? "no driver" : driver),
                    fmt::format("dpdk-devbind.py --bind=vfio-pci {}", port.device));
}

}  // namespace

std::set<int> AllowedCores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::set<int> cores;
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<unsigned>(core), &mask)) cores.insert(core);
  }
  return cores;
}

std::string FormatCores(const std::set<int>& cores) {
  std::vector<std::string> ranges;
  for (auto it = cores.begin(); it != cores.end();) {
    const int first = *it;
    int last = first;
    for (++it; it != cores.end() && *it == last + 1; ++it) last = *it;
    ranges.push_back(first == last ? fmt::to_string(first) : fmt::format("{}-{}", first, last));
  }
  return absl::StrJoin(ranges, ",");
}

absl::StatusOr<std::vector<int>> WorkerCores(const config::DataplaneConfig& config) {
  const std::set<int> allowed = AllowedCores();
  if (allowed.empty()) {
    return StartError("the CPU affinity of this process cannot be read", "fewer than 1024 CPUs");
  }
  if (config.workers.empty()) return std::vector<int>{*allowed.rbegin()};
  for (const int core : config.workers) {
    if (absl::Status status = CheckCore(core, allowed); !status.ok()) return status;
  }
  return config.workers;
}

namespace {

absl::Status CheckOrdinaryMemory(const config::MemoryConfig& memory) {
  const uint64_t available = AvailableMegabytes();
  if (available >= memory.megabytes) return absl::OkStatus();
  return StartError(fmt::format("dataplane.memory wants {} MB and {} MB are available",
                                memory.megabytes, available),
                    "a smaller dataplane.memory.megabytes");
}

}  // namespace

absl::Status CheckMemory(const config::MemoryConfig& memory) {
  if (!memory.hugepages) return CheckOrdinaryMemory(memory);
  const uint64_t free_megabytes = FreeHugepageMegabytes();
  if (free_megabytes >= memory.megabytes) return absl::OkStatus();
  return StartError(
      fmt::format("dataplane.memory wants {} MB of hugepages and {} MB are free", memory.megabytes,
                  free_megabytes),
      fmt::format("sysctl -w vm.nr_hugepages={} (pages of 2 MB), or dataplane.memory.hugepages: "
                  "false for a lab",
                  (memory.megabytes + 1) / 2));
}

absl::Status CheckDevice(const config::PortConfig& port) {
  if (IsPciAddress(port.device)) return CheckPciDevice(port);
  const std::string_view driver = DriverOf(port.device);
  if (std::ranges::find(kInterfaceDrivers, driver) == kInterfaceDrivers.end()) {
    return absl::OkStatus();
  }
  for (const std::string_view key : kInterfaceArguments) {
    const std::optional<std::string> interface = DeviceArgument(port.device, key);
    if (interface.has_value() && if_nametoindex(interface->c_str()) == 0) {
      return StartError(
          fmt::format("port {}: there is no network interface {} in this network namespace",
                      port.name, *interface),
          fmt::format("correct {}= in the port's device (`ip link` lists interfaces), or start "
                      "penstockd in the right namespace",
                      key));
    }
  }
  return absl::OkStatus();
}

}  // namespace penstock::dpdk

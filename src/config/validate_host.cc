#include <algorithm>
#include <array>
#include <string_view>

#include "config/names.h"
#include "config/prefix.h"
#include "config/schema.h"
#include "config/shared_interface.h"
#include "config/text.h"
#include "penstock/config/validate.h"

namespace penstock::config {
namespace {

constexpr int kLastCore = 1023;  // what a cpu_set_t holds
constexpr uint32_t kMinMegabytes = 64;
constexpr uint32_t kMaxMegabytes = 1048576;
constexpr uint32_t kMinFlows = 1024;
constexpr uint32_t kMaxFlows = uint32_t{1} << 27;
constexpr uint16_t kMinMtu = 1280;  // RFC 8200 section 5
constexpr uint16_t kMaxMtu = 9600;
constexpr uint16_t kMaxVlan = 4094;  // IEEE 802.1Q: 4095 is reserved
constexpr uint32_t kMaxIcmpRate = 1000000;
constexpr std::chrono::milliseconds kMaxIdleSleep{10};
constexpr std::size_t kMaxSocketPath = 107;  // sun_path holds 108 with the final zero
// PATH_MAX is 4096, and the files in it have names.
constexpr std::size_t kMaxStateDir = 4000;

// What a device string opens: two packet sockets on one interface would each get every packet.
// Other drivers may share an interface, by queues.
std::string WhatItOpens(std::string_view device) {
  constexpr std::string_view kPacketSocket = "net_af_packet";
  constexpr std::string_view kInterface = "iface=";
  const std::size_t at = device.find(kInterface);
  if (!device.starts_with(kPacketSocket) || at == std::string_view::npos) {
    return std::string(device);
  }
  const std::string_view rest = device.substr(at + kInterface.size());
  return Concat(kPacketSocket, " on ", rest.substr(0, rest.find(',')));
}

class HostValidator {
 public:
  explicit HostValidator(const HostConfig& config) : config_(config) {}

  Violations Run() {
    CheckWorkers();
    CheckSizes();
    const std::vector<PortConfig>& ports = config_.dataplane.ports;
    if (ports.empty()) Add("dataplane.ports", "at least one is required");
    for (std::size_t i = 0; i < ports.size(); ++i) CheckPort(i);
    CheckSharedInterfaces(ports, violations_);
    CheckListen();
    CheckStateDir();
    return std::move(violations_);
  }

 private:
  void Add(std::string path, std::string reason) {
    violations_.push_back({std::move(path), std::move(reason)});
  }

  void CheckWorkers() {
    UniqueValues<int> cores;
    for (std::size_t i = 0; i < config_.dataplane.workers.size(); ++i) {
      const int core = config_.dataplane.workers[i];
      const std::string path = Item("dataplane.workers", i);
      if (core < 0 || core > kLastCore) {
        Add(path, Concat(core, " is not in 0..", kLastCore));
      } else {
        cores.Add(core, path, violations_);
      }
    }
  }

  void CheckRange(std::string path, uint32_t value, uint32_t first, uint32_t last) {
    if (value >= first && value <= last) return;
    Add(std::move(path), Concat(value, " is not in ", first, "..", last));
  }

  void CheckSizes() {
    const DataplaneConfig& dataplane = config_.dataplane;
    CheckRange("dataplane.memory.megabytes", dataplane.memory.megabytes, kMinMegabytes,
               kMaxMegabytes);
    const FlowTableConfig& table = dataplane.flow_table;
    CheckRange("dataplane.flow_table.v4_entries_per_worker", table.v4_entries_per_worker, kMinFlows,
               kMaxFlows);
    CheckRange("dataplane.flow_table.v6_entries_per_worker", table.v6_entries_per_worker, kMinFlows,
               kMaxFlows);
    CheckRange("dataplane.icmp_rate", dataplane.icmp_rate, 0, kMaxIcmpRate);
    if (dataplane.idle_sleep < decltype(dataplane.idle_sleep){0} ||
        dataplane.idle_sleep > kMaxIdleSleep) {
      Add("dataplane.idle_sleep", "is not in 0us..10ms");
    }
  }

  void CheckPort(std::size_t index) {
    const PortConfig& port = config_.dataplane.ports[index];
    const std::string path = Item("dataplane.ports", index);
    if (const auto problem = NameProblem(port.name)) {
      Add(Below(path, "name"), *problem);
    } else {
      names_.Add(port.name, Below(path, "name"), violations_);
    }
    if (port.device.empty()) {
      Add(Below(path, "device"), "is required");
    } else {
      devices_.Add(WhatItOpens(port.device), Below(path, "device"), violations_);
    }
    if (port.mtu < kMinMtu || port.mtu > kMaxMtu) {
      Add(Below(path, "mtu"), Concat("is not in ", kMinMtu, "..", kMaxMtu));
    }
    if (port.vlan > kMaxVlan) Add(Below(path, "vlan"), Concat("is not in 0..", kMaxVlan));
    // Those of another queue of an interface are the same, and that is checked elsewhere.
    if (!FirstOfInterface(config_.dataplane.ports, index)) {
      CheckAddresses(port, Below(path, "addresses"));
    }
    CheckGateways(port, Below(path, "gateways"));
    if (port.gateway_mac && (port.gateway_mac->IsZero() || port.gateway_mac->IsMulticast())) {
      Add(Below(path, "gateway_mac"), "is not the address of one machine");
    }
  }

  void CheckAddresses(const PortConfig& port, const std::string& path) {
    if (port.addresses.empty()) Add(path, "at least one is required");
    for (std::size_t i = 0; i < port.addresses.size(); ++i) {
      const net::IpAddress& address = port.addresses[i].address;
      if (const auto problem = PrefixProblem(port.addresses[i])) {
        Add(Item(path, i), *problem);
      } else {
        addresses_.Add(address.ToString(), Item(path, i), violations_);
      }
    }
  }

  static std::optional<std::string> PrefixProblem(const net::IpPrefix& prefix) {
    if (auto problem = AddressProblem(prefix.address)) return problem;
    const int shortest = prefix.address.IsV4() ? 8 : 16;
    if (prefix.length < shortest) {
      return Concat("/", prefix.length, " is shorter than /", shortest);
    }
    // RFC 3021: a /31 has neither.
    if (!prefix.address.IsV4() || prefix.length > 30) return std::nullopt;
    if (prefix.address == FirstAddress(prefix)) return "is the address of the network itself";
    if (prefix.address == LastAddress(prefix)) return "is the network's broadcast address";
    return std::nullopt;
  }

  void CheckGateways(const PortConfig& port, const std::string& path) {
    std::array<bool, 2> seen{};
    for (std::size_t i = 0; i < port.gateways.size(); ++i) {
      const net::IpAddress& gateway = port.gateways[i];
      bool& before = seen[gateway.IsV4() ? 0 : 1];
      if (const auto problem = GatewayProblem(port, gateway)) {
        Add(Item(path, i), *problem);
      } else if (before) {
        Add(Item(path, i), "is the second gateway of its family");
      }
      before = true;
    }
  }

  static std::optional<std::string> GatewayProblem(const PortConfig& port,
                                                   const net::IpAddress& gateway) {
    const auto& own = port.addresses;
    const auto is_own = [&](const net::IpPrefix& prefix) { return prefix.address == gateway; };
    const auto reaches = [&](const net::IpPrefix& prefix) { return prefix.Contains(gateway); };
    if (auto problem = AddressProblem(gateway)) return problem;
    if (std::any_of(own.begin(), own.end(), is_own)) return "is an address of the port itself";
    if (std::any_of(own.begin(), own.end(), reaches)) return std::nullopt;
    return gateway.ToString() + " is outside the prefixes of the port's addresses";
  }

  void CheckListen() {
    const std::vector<std::string>& listen = config_.control.listen;
    if (listen.empty()) Add("control.listen", "at least one is required");
    UniqueValues<std::string> unique;
    for (std::size_t i = 0; i < listen.size(); ++i) {
      const std::string path = Item("control.listen", i);
      if (auto problem = ListenProblem(listen[i])) {
        Add(path, *std::move(problem));
      } else {
        unique.Add(listen[i], path, violations_);
      }
    }
  }

  static std::optional<std::string> ListenProblem(std::string_view address) {
    constexpr std::string_view kUnix = "unix:";
    if (!address.starts_with("unix")) {
      return Concat("a TCP address ", kNotYetSupported, ": needs tls");
    }
    if (!address.starts_with("unix:/")) {
      return Concat("is not unix:/ABSOLUTE/PATH: ", QuoteShort(address));
    }
    if (address.size() - kUnix.size() > kMaxSocketPath) {
      return Concat("the path is longer than ", kMaxSocketPath, " bytes");
    }
    return std::nullopt;
  }

  void CheckStateDir() {
    constexpr const char* kPath = "control.state_dir";
    const std::string& folder = config_.control.state_dir;
    if (folder.empty()) return;
    if (folder[0] != '/') Add(kPath, Concat("is not an absolute path: ", QuoteShort(folder)));
    if (folder.find('\0') != std::string::npos) Add(kPath, "holds a zero byte");
    if (folder.size() > kMaxStateDir) {
      Add(kPath, Concat("is longer than ", kMaxStateDir, " bytes"));
    }
  }

  const HostConfig& config_;
  Violations violations_;
  UniqueValues<std::string> names_;
  UniqueValues<std::string> devices_;
  UniqueValues<std::string> addresses_;
};

}  // namespace

Violations Validate(const HostConfig& config) {
  return HostValidator(config).Run();
}

}  // namespace penstock::config

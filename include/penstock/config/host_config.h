// penstockd.yaml as plain values: the machine a daemon runs on. Read once at start.

#ifndef PENSTOCK_CONFIG_HOST_CONFIG_H_
#define PENSTOCK_CONFIG_HOST_CONFIG_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/net/address.h"

namespace penstock::config {

// Memory for packet buffers and tables, taken at start.
struct MemoryConfig {
  // false: ordinary pages, for labs and CI.
  bool hugepages = true;

  // MiB, at least 64.
  uint32_t megabytes = 1024;

  friend bool operator==(const MemoryConfig&, const MemoryConfig&) = default;
};

// Room for flows of each worker. Any number from 1024 to 2^28; the table rounds it up.
struct FlowTableConfig {
  uint32_t v4_entries_per_worker = 1048576;
  uint32_t v6_entries_per_worker = 262144;

  friend bool operator==(const FlowTableConfig&, const FlowTableConfig&) = default;
};

// A network interface that DPDK drives.
struct PortConfig {
  // Unique.
  std::string name{};

  // A PCI address "0000:3b:00.0", or a DPDK virtual device string "net_af_packet0,iface=eth0".
  std::string device{};

  // Bytes of the largest IP packet, 1280 to 9600.
  uint16_t mtu = 1500;

  // Access VLAN, 1 to 4094; 0: untagged. Its tag is not part of `mtu`.
  uint16_t vlan = 0;

  // Own addresses with the prefix of the segment (host bits set); at least one. The first of a
  // family is the outer source of that family.
  std::vector<net::IpPrefix> addresses{};

  // Next hops: at most one of each family, each inside a prefix of `addresses`.
  std::vector<net::IpAddress> gateways{};

  // When set, the MAC of the gateways of both families; nobody is asked by ARP or neighbour
  // discovery.
  std::optional<net::MacAddress> gateway_mac{};

  friend bool operator==(const PortConfig&, const PortConfig&) = default;
};

// What forwards packets.
struct DataplaneConfig {
  // Cores that poll, one worker each. Empty: one worker on the last core.
  std::vector<int> workers{};

  MemoryConfig memory{};

  FlowTableConfig flow_table{};

  // Sleep of a worker that found no packets, at most 10 ms. 0 on cores of its own; labs that share
  // cores use 50 us.
  std::chrono::microseconds idle_sleep{0};

  // ICMP messages of our own making a second, all clients together, at most 1000000; 0: none.
  uint32_t icmp_rate = 1000;

  // At least one.
  std::vector<PortConfig> ports{};

  friend bool operator==(const DataplaneConfig&, const DataplaneConfig&) = default;
};

// What listens for operators, and what it keeps.
struct ControlConfig {
  // gRPC addresses "unix:/absolute/path"; at least one.
  std::vector<std::string> listen{"unix:/run/penstock/penstockd.sock"};

  // Folder where the configuration survives a restart: an absolute path, at most 4000 bytes. Empty:
  // nothing is kept, and a restart starts empty or with the services file.
  std::string state_dir{};

  friend bool operator==(const ControlConfig&, const ControlConfig&) = default;
};

enum class LogLevel : uint8_t { kTrace, kDebug, kInfo, kWarn, kError };

enum class LogFormat : uint8_t { kText };

struct LogConfig {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;

  friend bool operator==(const LogConfig&, const LogConfig&) = default;
};

struct HostConfig {
  DataplaneConfig dataplane{};

  ControlConfig control{};

  // Services file to apply at start and on SIGHUP; empty: services come over gRPC.
  std::string services_file{};

  LogConfig log{};

  friend bool operator==(const HostConfig&, const HostConfig&) = default;
};

}  // namespace penstock::config

#endif  // PENSTOCK_CONFIG_HOST_CONFIG_H_

// What the control side answers to questions: plain values, consistent in themselves.

#ifndef PENSTOCK_CONTROL_VIEWS_H_
#define PENSTOCK_CONTROL_VIEWS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/config/services_config.h"
#include "penstock/lb/dataplane.h"
#include "penstock/net/address.h"

namespace penstock::control {

// Items of one generation.
template <typename T>
struct Listing {
  uint64_t generation = 0;
  std::vector<T> items;
};

struct ServiceView {
  config::Service service;
  uint32_t backends = 0;         // of its pool
  uint32_t usable_backends = 0;  // those of them that take new flows
};

struct PoolView {
  std::string name;
  uint32_t table_size = 0;
  std::string digest;  // of the table of services with `on_no_backend: drop`
  double max_share_error = 0;
  double rms_share_error = 0;
  double largest_share_ratio = 0;
  uint32_t backends = 0;
  uint32_t usable_backends = 0;
  std::vector<std::string> services;  // sorted
};

struct BackendView {
  std::string pool;
  net::IpAddress address;
  std::string name;
  uint32_t weight = 0;
  config::AdminState state = config::AdminState::kActive;
  uint32_t slots = 0;
  double share = 0;  // slots as a part of the table, [0, 1]
  uint64_t live_flows = 0;
  uint64_t new_flows = 0;
  uint64_t packets = 0;
  uint64_t bytes = 0;
  std::map<std::string, std::string> labels;
};

// A next hop of a port.
struct GatewayView {
  net::IpAddress address;
  std::optional<net::MacAddress> mac;  // nullopt while it is not known
};

struct PortView {
  lb::PortStatus status;
  std::vector<std::string> addresses;  // with prefix length, as configured
  std::vector<GatewayView> gateways;
};

struct StatusView {
  uint64_t generation = 0;  // 0 before the first apply
  std::vector<PortView> ports;
  std::vector<lb::WorkerStatus> workers;
};

struct CounterView {
  std::string name;
  std::string_view description;
  uint64_t value = 0;
  // By port name, in the order of the ports; empty for counters that belong to no port.
  std::vector<std::pair<std::string, uint64_t>> by_port;
};

}  // namespace penstock::control

#endif  // PENSTOCK_CONTROL_VIEWS_H_

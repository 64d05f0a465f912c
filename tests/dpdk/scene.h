// What the dataplane tests have in common: one port, one service with one backend.

#ifndef PENSTOCK_TESTS_DPDK_SCENE_H_
#define PENSTOCK_TESTS_DPDK_SCENE_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "penstock/config/host_config.h"
#include "penstock/lb/counters.h"
#include "penstock/lb/service_table.h"
#include "tests/support/frame.h"

namespace penstock::testing {

inline constexpr net::MacAddress kGatewayMac = {{2, 0, 0, 0, 0, 0xFE}};
inline constexpr const char* kPortAddress = "10.2.1.2";
inline constexpr const char* kVip = "203.0.113.10";
inline constexpr const char* kBackend = "10.3.1.2";

// A host with little memory and no hugepages.
inline config::HostConfig HostWithPort(const std::string& device) {
  config::PortConfig port;
  port.name = "uplink";
  port.device = device;
  port.addresses = {*net::IpPrefix::Parse(std::string(kPortAddress) + "/24")};
  port.gateways = {Ip("10.2.1.1")};
  port.gateway_mac = kGatewayMac;
  config::HostConfig host;
  host.dataplane.memory = {.hugepages = false, .megabytes = 64};
  host.dataplane.flow_table = {.v4_entries_per_worker = 4096, .v6_entries_per_worker = 4096};
  host.dataplane.idle_sleep = std::chrono::microseconds(50);
  host.dataplane.ports = {port};
  return host;
}

// TCP port 80 of kVip goes to kBackend. `counters`: an element for each worker.
inline std::shared_ptr<const lb::ServiceTable> OneService(lb::BackendCounters* counters,
                                                          uint64_t generation = 1) {
  lb::PoolTable::Spec pool;
  pool.members = {{.address = Ip(kBackend)}};
  pool.table_size = 101;
  pool.key = lb::HashKey::FromSeed("scene");
  lb::ServiceTableSpec spec;
  spec.key = pool.key;
  spec.generation = generation;
  const auto path = std::make_shared<lb::BackendPath>();
  spec.keep_alive.push_back(path);
  spec.ports = {{.addresses = {{Ip(kPortAddress), 24}}, .reaches_v4 = true, .mtu = 1500}};
  spec.pools = {{.table = lb::PoolTable::Build(pool),
                 .ids = {1},
                 .counters = {counters},
                 .paths = {path.get()}}};
  lb::ServiceTableSpec::ServiceSpec service;
  service.vip = {.prefix = {Ip(kVip), 32}, .ports = {{80, 80}}};
  service.service.id = 1;
  spec.services = {service};
  return std::make_shared<const lb::ServiceTable>(std::move(spec));
}

// Waits for what another thread brings about. False: not within ten seconds.
inline bool Eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace penstock::testing

#endif  // PENSTOCK_TESTS_DPDK_SCENE_H_

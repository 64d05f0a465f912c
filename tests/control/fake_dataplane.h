// Workers that are not there: they keep what is published and say what a test tells them to say.

#ifndef PENSTOCK_TESTS_CONTROL_FAKE_DATAPLANE_H_
#define PENSTOCK_TESTS_CONTROL_FAKE_DATAPLANE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "penstock/base/mutex.h"
#include "penstock/config/host_config.h"
#include "penstock/config/services_config.h"
#include "penstock/lb/dataplane.h"

namespace penstock::control {

class FakePublisher : public lb::SnapshotPublisher {
 public:
  lb::PublishResult Publish(std::shared_ptr<const lb::ServiceTable> next) override {
    if (before_publish) before_publish();
    const base::MutexLock lock(mutex_);
    current_ = std::move(next);
    ++count_;
    return {.acknowledged = silent.empty(), .silent_workers = silent};
  }

  std::shared_ptr<const lb::ServiceTable> current() const {
    const base::MutexLock lock(mutex_);
    return current_;
  }
  int count() const {
    const base::MutexLock lock(mutex_);
    return count_;
  }

  // Set by the test before it makes changes.
  std::vector<int> silent;
  std::function<void()> before_publish;

 private:
  mutable base::Mutex mutex_;
  std::shared_ptr<const lb::ServiceTable> current_ ABSL_GUARDED_BY(mutex_);
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};

class FakeReader : public lb::DataplaneReader {
 public:
  int worker_count() const override { return 2; }
  std::vector<lb::PortStatus> ReadPorts() const override {
    lb::PortStatus port;
    port.name = "uplink";
    port.device = "net_null0";
    port.driver = "net_null";
    port.link_up = link_up;
    port.gateway_v4 = net::MacAddress{{2, 0, 0, 0, 0, 0xFE}};
    if (gateway_v6_known) port.gateway_v6 = port.gateway_v4;
    return {port};
  }
  std::vector<lb::WorkerStatus> ReadWorkers() const override {
    std::vector<lb::WorkerStatus> workers(2);
    workers[1].index = 1;
    for (lb::WorkerStatus& worker : workers) {
      worker.heartbeat_age = heartbeat_age;
      if (generation) worker.generation = generation();
      worker.ports = ports_of_workers;
    }
    return workers;
  }
  lb::CounterTotals ReadCounters() const override { return counters; }
  lb::SweepCounts CompletedSweeps() const override {
    return lb::SweepCounts(static_cast<std::size_t>(worker_count()), sweeps);
  }

  std::atomic<bool> link_up = true;
  std::atomic<bool> gateway_v6_known = true;
  std::atomic<std::chrono::milliseconds> heartbeat_age{std::chrono::milliseconds(1)};
  std::atomic<uint64_t> sweeps = 0;
  // Set before the reader is shared.
  lb::CounterTotals counters;
  std::vector<lb::WorkerPort> ports_of_workers;  // of each
  std::function<uint64_t()> generation;          // that the workers run; unset: 0
};

inline net::IpAddress Address(std::string_view text) {
  return *net::IpAddress::Parse(text);
}

inline config::HostConfig TestHost() {
  config::PortConfig port;
  port.name = "uplink";
  port.device = "net_null0";
  port.mtu = 1600;
  port.addresses = {*net::IpPrefix::Parse("198.51.100.11/24"),
                    *net::IpPrefix::Parse("2001:db8:1::11/64")};
  port.gateways = {Address("198.51.100.1"), Address("2001:db8:1::1")};
  config::HostConfig host;
  host.dataplane.ports = {port};
  return host;
}

// "10.1.0.11", "10.1.0.12", ... named web1, web2, ...
inline config::Pool TestPool(std::string name, int backends) {
  config::Pool pool;
  pool.name = std::move(name);
  pool.table_size = 1009;
  for (int i = 1; i <= backends; ++i) {
    config::Backend backend;
    backend.address = Address("10.1.0." + std::to_string(10 + i));
    backend.name = "web" + std::to_string(i);
    pool.backends.push_back(backend);
  }
  return pool;
}

inline config::Service TestService(std::string name, std::string pool, uint16_t port) {
  config::Service service;
  service.name = std::move(name);
  service.prefix = *net::IpPrefix::Parse("203.0.113.10");
  service.ports = {{.first = port, .last = port}};
  service.pool = std::move(pool);
  return service;
}

// Pools web (three backends) and dns (two), services web-http and dns.
inline config::ServicesConfig TestConfig() {
  config::ServicesConfig config;
  config.hash.seed = "a secret";
  config.pools = {TestPool("web", 3), TestPool("dns", 2)};
  config.services = {TestService("web-http", "web", 80), TestService("dns", "dns", 53)};
  return config;
}

}  // namespace penstock::control

#endif  // PENSTOCK_TESTS_CONTROL_FAKE_DATAPLANE_H_

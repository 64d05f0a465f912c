// A network port that DPDK drives, with one receive and one transmit queue for each worker.

#ifndef PENSTOCK_DPDK_PORT_H_
#define PENSTOCK_DPDK_PORT_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>

#include "penstock/config/host_config.h"
#include "penstock/lb/dataplane.h"
#include "penstock/net/address.h"

struct rte_eth_dev_info;
struct rte_mempool;

namespace penstock::dpdk {

// Thread safety: Open, Start and Stop by one thread; ReadStatus and ReadStats by any but workers,
// between Start and Stop.
class Port {
 public:
  struct Options {
    config::PortConfig config;
    int workers = 1;
    int ports = 1;  // of the daemon: packets received here may wait in the rings of all of them
  };

  // Configures the device, which has been probed. An error is a StartError.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<Port>> Open(const Options& options);
  // Frees the buffers. REQUIRES: no other port still holds some of them: all have been stopped.
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  [[nodiscard]] absl::Status Start();
  // Stops and closes the device, so that capture files are complete. Again: nothing.
  void Stop();

  [[nodiscard]] const std::string& name() const { return options_.config.name; }
  [[nodiscard]] uint16_t id() const { return id_; }  // DPDK's number
  [[nodiscard]] int numa_node() const;               // -1: none in particular
  [[nodiscard]] rte_mempool* pool() const { return pool_; }
  [[nodiscard]] const net::MacAddress& mac() const { return mac_; }
  // All but the gateways, which the neighbours know.
  [[nodiscard]] lb::PortStatus ReadStatus() const;

  struct Stats {
    uint64_t missed = 0;  // the receive queue was full
    uint64_t errors = 0;
  };
  [[nodiscard]] Stats ReadStats() const;
  // Packet buffers that are neither in the pool nor in its caches.
  [[nodiscard]] uint32_t BuffersInUse() const;

 private:
  Port(Options options, uint16_t id) : options_(std::move(options)), id_(id) {}
  [[nodiscard]] absl::Status Configure();
  [[nodiscard]] absl::Status ConfigureDevice(const rte_eth_dev_info& info);
  [[nodiscard]] absl::Status CreatePool();
  [[nodiscard]] absl::Status SetUpQueues(const rte_eth_dev_info& info);
  [[nodiscard]] absl::Status SetMtu();
  void ReceiveMulticast();

  const Options options_;
  const uint16_t id_;
  std::string driver_;
  net::MacAddress mac_;
  rte_mempool* pool_ = nullptr;
  uint16_t rx_descriptors_ = 1024;
  uint16_t tx_descriptors_ = 1024;
  bool open_ = true;
};

}  // namespace penstock::dpdk

#endif  // PENSTOCK_DPDK_PORT_H_

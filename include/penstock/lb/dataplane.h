// What the control side may ask of the workers. Implemented by src/dpdk, faked in tests.

#ifndef PENSTOCK_LB_DATAPLANE_H_
#define PENSTOCK_LB_DATAPLANE_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/lb/counters.h"
#include "penstock/lb/kept_flows.h"
#include "penstock/lb/service_table.h"
#include "penstock/net/address.h"

namespace penstock::lb {

// Outcome of handing a generation to the workers.
struct PublishResult {
  // Every worker runs the new generation, and the old one is freed.
  bool acknowledged = false;
  // Otherwise: workers (by index) that did not pass a quiescent state in time. The new generation
  // is what they will run; the old one stays allocated until they have let go of it.
  std::vector<int> silent_workers;
};

class SnapshotPublisher {
 public:
  virtual ~SnapshotPublisher() = default;
  // Makes `next` the generation that workers read, waits at most 2 s until all of them have passed
  // a quiescent state, and then lets go of the former one. Thread safety: one caller at a time,
  // never a worker.
  virtual PublishResult Publish(std::shared_ptr<const ServiceTable> next) = 0;
};

struct PortStatus {
  std::string name;
  std::string device;  // as configured
  std::string driver;  // such as net_af_packet
  net::MacAddress mac;
  bool link_up = false;
  uint32_t speed_mbps = 0;  // 0: unknown
  uint16_t mtu = 0;
  uint16_t rx_queues = 0;
  uint16_t tx_queues = 0;
  std::optional<net::MacAddress> gateway_v4;  // nullopt while it is not known
  std::optional<net::MacAddress> gateway_v6;
};

// What one worker did with the packets of one port.
// Identity: received = forwarded + answered + held + dropped, at any quiet moment.
struct WorkerPort {
  std::string name;
  uint64_t received = 0;
  uint64_t forwarded = 0;
  uint64_t answered = 0;     // read by us and done with: answered or learned
  uint64_t held = 0;         // that wait now
  uint64_t dropped = 0;      // for whatever reason
  uint64_t transmitted = 0;  // sent through this port, wherever they were received; own ones too
};

// The sums over `counters` by kind of verdict; without a name.
[[nodiscard]] WorkerPort SumOf(const PortCounters& counters);

struct WorkerStatus {
  int index = 0;
  int core = 0;
  double busy = 0;  // share of iterations in the last second that found packets, [0, 1]
  std::chrono::milliseconds heartbeat_age{0};
  uint64_t generation = 0;  // that it runs
  uint64_t v4_flows = 0;
  uint64_t v4_capacity = 0;
  uint64_t v6_flows = 0;
  uint64_t v6_capacity = 0;
  std::vector<WorkerPort> ports;  // in the order of penstockd.yaml
};

// Plain numbers of one port, summed over workers.
struct PortTotals {
  std::string name;
  uint64_t received_packets = 0;
  uint64_t received_bytes = 0;
  uint64_t transmitted_packets = 0;
  uint64_t transmitted_bytes = 0;
  uint64_t own_packets = 0;
  uint64_t own_tx_full = 0;
  uint64_t device_missed = 0;  // lost in front of us: the receive queue was full
  uint64_t device_errors = 0;
  std::array<uint64_t, kVerdictCount> verdicts{};  // indexed by Verdict
};

struct CounterTotals {
  std::vector<PortTotals> ports;
  std::array<uint64_t, static_cast<std::size_t>(FlowEvent::kCount)> flow_events{};
};

// Full passes over its flow tables that each worker has completed since start, by worker index; at
// most one a second counts. An id that no generation uses is in no table once every worker has
// completed two more passes after the first generation without it was acknowledged.
using SweepCounts = std::vector<uint64_t>;

// Flows over a restart of the daemon. Thread safety: the main thread, while no worker runs.
class FlowKeeper {
 public:
  virtual ~FlowKeeper() = default;
  // Flows of all workers that the generation last published would lose (CollectFlows).
  [[nodiscard]] virtual std::vector<KeptFlow> CollectFlows() const = 0;
  // Into the workers' empty tables; returns how many found a place. Ids are those of the generation
  // last published.
  virtual std::size_t RestoreFlows(std::span<const KeptFlow> flows) = 0;
};

class DataplaneReader {
 public:
  virtual ~DataplaneReader() = default;
  // Number of workers: the length of each BackendCounters array. Constant.
  [[nodiscard]] virtual int worker_count() const = 0;
  // Thread safety: any thread but workers; never waits for a worker.
  [[nodiscard]] virtual std::vector<PortStatus> ReadPorts() const = 0;
  [[nodiscard]] virtual std::vector<WorkerStatus> ReadWorkers() const = 0;
  [[nodiscard]] virtual CounterTotals ReadCounters() const = 0;
  [[nodiscard]] virtual SweepCounts CompletedSweeps() const = 0;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_DATAPLANE_H_

// The machine that forwards: EAL, ports, neighbours and workers, in the order they need.

#ifndef PENSTOCK_DPDK_DATAPLANE_H_
#define PENSTOCK_DPDK_DATAPLANE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "dpdk/eal.h"
#include "dpdk/port.h"
#include "dpdk/snapshot.h"
#include "dpdk/worker.h"
#include "penstock/config/host_config.h"
#include "penstock/lb/dataplane.h"
#include "penstock/lb/fragment_table.h"
#include "penstock/lb/neighbors.h"

namespace penstock::dpdk {

// Thread safety: Start, Launch and Stop by the main thread; the rest as in lb/dataplane.h, between
// Start and Stop.
class Dataplane final : public lb::SnapshotPublisher,
                        public lb::DataplaneReader,
                        public lb::FlowKeeper {
 public:
  // Takes memory and starts the ports; no packet is touched before Launch. An error is a
  // StartError. Once a process.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<Dataplane>> Start(
      const config::HostConfig& config);
  // Stops.
  ~Dataplane() override;

  // Sets the workers going. What was published before is what their first packet meets.
  [[nodiscard]] absl::Status Launch();
  // Workers end after the burst in hand; then ports are stopped and closed. Again: nothing.
  void Stop();

  lb::PublishResult Publish(std::shared_ptr<const lb::ServiceTable> next) override;

  [[nodiscard]] int worker_count() const override { return static_cast<int>(workers_.size()); }
  [[nodiscard]] std::vector<lb::PortStatus> ReadPorts() const override;
  [[nodiscard]] std::vector<lb::WorkerStatus> ReadWorkers() const override;
  [[nodiscard]] lb::CounterTotals ReadCounters() const override;
  [[nodiscard]] lb::SweepCounts CompletedSweeps() const override;

  [[nodiscard]] std::vector<lb::KeptFlow> CollectFlows() const override;
  std::size_t RestoreFlows(std::span<const lb::KeptFlow> flows) override;

  // Packet buffers of all ports that are somewhere on their way.
  [[nodiscard]] uint32_t BuffersInUse() const;

 private:
  explicit Dataplane(std::unique_ptr<Eal> eal) : eal_(std::move(eal)) {}
  [[nodiscard]] absl::Status OpenPorts(const config::DataplaneConfig& config);
  [[nodiscard]] absl::Status MakeWorkers(const config::DataplaneConfig& config);
  [[nodiscard]] std::vector<const lb::FlowTable*> PeersOf(const Worker& worker) const;
  void WarnAboutNuma() const;
  [[nodiscard]] lb::PortTotals ReadPortCounters(std::size_t port) const;

  // Destroyed from the last to the first.
  const std::unique_ptr<Eal> eal_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::unique_ptr<lb::Neighbors> neighbors_;
  std::unique_ptr<SnapshotStore> snapshots_;
  std::unique_ptr<lb::FragmentTable> fragments_;
  std::vector<std::unique_ptr<Worker>> workers_;
  bool launched_ = false;
};

}  // namespace penstock::dpdk

#endif  // PENSTOCK_DPDK_DATAPLANE_H_

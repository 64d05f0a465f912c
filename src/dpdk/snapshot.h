// The pointer through which workers read the configuration, and the proof that nobody reads an old
// one any more (quiescent-state-based reclamation, rte_rcu_qsbr).

#ifndef PENSTOCK_DPDK_SNAPSHOT_H_
#define PENSTOCK_DPDK_SNAPSHOT_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/base/cache_line.h"
#include "penstock/lb/dataplane.h"
#include "penstock/lb/service_table.h"

struct rte_rcu_qsbr;

namespace penstock::dpdk {

// Thread safety: Publish by one thread at a time, never a worker. The worker functions by that
// worker's own thread.
class SnapshotStore final : public lb::SnapshotPublisher {
 public:
  static constexpr std::chrono::milliseconds kPublishTimeout{2000};

  // REQUIRES: initial is not null; workers > 0.
  SnapshotStore(int workers, std::shared_ptr<const lb::ServiceTable> initial,
                std::chrono::milliseconds publish_timeout = kPublishTimeout);
  // REQUIRES: every worker has unregistered.
  ~SnapshotStore() override;
  SnapshotStore(const SnapshotStore&) = delete;
  SnapshotStore& operator=(const SnapshotStore&) = delete;

  // REQUIRES: next is not null.
  lb::PublishResult Publish(std::shared_ptr<const lb::ServiceTable> next) override;
  // The generation last published. Same thread as Publish.
  [[nodiscard]] const lb::ServiceTable& Latest() const { return *owner_; }
  // Former generations that some worker may still read. Same thread as Publish.
  [[nodiscard]] std::size_t retired_count() const { return retired_.size(); }

  // From here on Publish waits for the worker. `worker` counts from 0.
  void Register(int worker);
  void Unregister(int worker);
  // The running generation. Valid until the worker's next Quiescent, Offline or Unregister.
  [[nodiscard]] const lb::ServiceTable& Read() const {
    return *current_.load(std::memory_order_acquire);
  }
  // The worker holds nothing that Read has returned so far.
  void Quiescent(int worker);
  // Around a sleep: Publish does not wait for a worker that is offline, and it may not Read.
  void Offline(int worker);
  void Online(int worker);

 private:
  struct Retired {
    uint64_t token;  // nobody reads `table` once all workers have reported this
    std::shared_ptr<const lb::ServiceTable> table;
  };
  struct FreeQsbr {
    void operator()(rte_rcu_qsbr* qsbr) const;
  };

  // Whether all workers have passed `token` before the publish timeout.
  [[nodiscard]] bool WaitFor(uint64_t token) const;
  [[nodiscard]] std::vector<int> SilentWorkers(uint64_t token) const;
  void FreePassed();

  // Written by the publisher, read by every worker once an iteration.
  alignas(base::kCacheLine) std::atomic<const lb::ServiceTable*> current_;
  // The rest belongs to the publisher; inside `qsbr_` each worker writes a line of its own.
  alignas(base::kCacheLine) const int workers_;
  const std::chrono::milliseconds publish_timeout_;
  std::unique_ptr<rte_rcu_qsbr, FreeQsbr> qsbr_;
  std::shared_ptr<const lb::ServiceTable> owner_;  // of *current_
  std::vector<Retired> retired_;
};

}  // namespace penstock::dpdk

#endif  // PENSTOCK_DPDK_SNAPSHOT_H_

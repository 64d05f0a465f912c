// One core's loop: receive, forward, transmit, housekeeping, quiescent.

#ifndef PENSTOCK_DPDK_WORKER_H_
#define PENSTOCK_DPDK_WORKER_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "dpdk/fragments.h"
#include "dpdk/snapshot.h"
#include "penstock/base/cache_line.h"
#include "penstock/base/counter.h"
#include "penstock/lb/burst.h"
#include "penstock/lb/counters.h"
#include "penstock/lb/flow_table.h"
#include "penstock/lb/fragment_table.h"
#include "penstock/lb/held_packets.h"
#include "penstock/lb/icmp_limiter.h"
#include "penstock/lb/neighbors.h"
#include "penstock/lb/new_flow_limiter.h"
#include "penstock/lb/pipeline.h"

struct rte_mbuf;
struct rte_mempool;

namespace penstock::dpdk {

// Thread safety: Run by the worker's own thread; everything const, and RequestStop, by any.
class Worker {
 public:
  // A port as the worker uses it. Queue `index` of each is its own.
  struct PortHandle {
    uint16_t id = 0;              // DPDK's number
    rte_mempool* pool = nullptr;  // for packets of our own making
  };
  struct Options {
    int index = 0;
    uint32_t workers = 1;  // how many there are
    int core = 0;
    std::vector<PortHandle> ports;  // in the order of penstockd.yaml
    std::chrono::microseconds idle_sleep{0};
    uint32_t icmp_rate = 0;                // this worker's share, messages a second
    rte_mempool* fragment_pool = nullptr;  // with room for any port's frames
  };

  // What all workers share. It outlives them.
  struct Shared {
    SnapshotStore& snapshots;
    lb::Neighbors& neighbors;
    lb::FragmentTable& fragments;
  };

  // REQUIRES: flows is not null.
  Worker(Options options, const Shared& shared, std::unique_ptr<lb::FlowTable> flows);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // The other workers' flow tables, which outlive this one's run. Before Run.
  void SetPeers(std::vector<const lb::FlowTable*> peers) { peers_ = std::move(peers); }

  // Forwards until RequestStop. Does not allocate, lock or log.
  void Run();
  void RequestStop() { stop_.store(true, std::memory_order_relaxed); }

  // Its ports have no names.
  [[nodiscard]] lb::WorkerStatus ReadStatus() const;
  [[nodiscard]] const lb::PortCounters& counters(std::size_t port) const { return counters_[port]; }
  [[nodiscard]] const lb::FlowCounters& flow_counters() const { return flow_counters_; }
  [[nodiscard]] const lb::FlowTable& flows() const { return *flows_; }
  // Before Run and after it.
  [[nodiscard]] lb::FlowTable& mutable_flows() { return *flows_; }

 private:
  // Written by the worker about each millisecond, read by any thread.
  struct alignas(base::kCacheLine) Progress {
    base::Counter heartbeat;   // nanoseconds since start
    base::Counter busy;        // millionths of the iterations of the last whole second
    base::Counter generation;  // that it runs
  };
  // What belongs to one burst beside the lb::PacketBurst; index i is its packet i.
  using Buffers = std::array<rte_mbuf*, lb::kBurstSize>;

  using Held = lb::HeldPackets<rte_mbuf*>;

  [[nodiscard]] bool Iterate();
  [[nodiscard]] bool Receive(uint8_t port);
  void HoldFragments(std::chrono::nanoseconds now);
  void RetryHeld(const lb::ForwardContext& context, std::chrono::nanoseconds now);
  void KeepHolding(const Held::Taken& taken);
  void CountReleased();
  void GiveUpHeld();
  void Transmit();
  void TransmitFragments();
  void TransmitThrough(uint8_t port);
  void FreeUnsent();
  void CountVerdicts(uint8_t port);
  void Housekeep(const lb::ForwardContext& context, std::chrono::nanoseconds now);
  void Solicit(const lb::ForwardContext& context);
  void SendOwn(const lb::Solicitation& solicitation);
  void AccountBusy(bool found, std::chrono::nanoseconds now);
  void Rest();

  const Options options_;
  SnapshotStore& snapshots_;
  lb::Neighbors& neighbors_;
  lb::FragmentTable& shared_fragments_;
  const std::unique_ptr<lb::FlowTable> flows_;
  std::vector<const lb::FlowTable*> peers_;

  // The worker's own.
  lb::PacketBurst burst_;
  lb::IcmpLimiter icmp_;
  lb::NewFlowLimiter new_flows_;
  Fragments fragments_;
  Buffers buffers_{};
  Held held_;
  std::chrono::nanoseconds retried_{0};
  std::chrono::nanoseconds housekept_{0};
  base::Tick busy_second_ = 0;
  uint64_t iterations_ = 0;
  uint64_t busy_iterations_ = 0;

  // Written by this worker, read by any thread.
  std::vector<lb::PortCounters> counters_;
  lb::FlowCounters flow_counters_;
  Progress progress_;

  // Written by the main thread, read by the worker each iteration.
  alignas(base::kCacheLine) std::atomic<bool> stop_ = false;
};

}  // namespace penstock::dpdk

#endif  // PENSTOCK_DPDK_WORKER_H_

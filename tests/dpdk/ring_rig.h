// A worker between rings: the test is the other end of each link, packet by packet and at memory
// speed. EAL starts once a process: one rig for all tests of a program.

#ifndef PENSTOCK_TESTS_DPDK_RING_RIG_H_
#define PENSTOCK_TESTS_DPDK_RING_RIG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dpdk/eal.h"
#include "dpdk/port.h"
#include "dpdk/snapshot.h"
#include "dpdk/worker.h"
#include "penstock/lb/fragment_table.h"
#include "penstock/lb/service_table.h"
#include "tests/support/frame.h"

struct rte_mbuf;
struct rte_mempool;
struct rte_ring;

namespace penstock::dpdk {

// Port 0, "uplink", has addresses of both families and an IPv4 gateway whose MAC is given. Port 1,
// "silent", has an IPv6 address and a gateway that never answers, and its transmit queue takes one
// packet. What the worker sends, the test takes.
class RingRig {
 public:
  static constexpr std::size_t kPorts = 2;
  static constexpr unsigned kReceiveRing = 1024;
  static constexpr net::MacAddress kMac = {{2, 0, 0, 0, 0, 1}};  // of port 0

  // `sent_room`: packets that the transmit queue of port 0 takes. Aborts the program if DPDK does
  // not start.
  explicit RingRig(unsigned sent_room);
  ~RingRig();
  RingRig(const RingRig&) = delete;
  RingRig& operator=(const RingRig&) = delete;

  [[nodiscard]] lb::PublishResult Publish(std::shared_ptr<const lb::ServiceTable> table) {
    return snapshots_.Publish(std::move(table));
  }

  // A buffer of port 0 with a copy of the frame, as a device would hand it over; behind `headroom`
  // bytes. Never null.
  [[nodiscard]] rte_mbuf* Buffer(const testing::Bytes& frame, uint16_t headroom = 128);
  // The worker receives these together at port 0, 32 at a time if it had nothing to do.
  // REQUIRES: there is room for them in the receive ring.
  void Feed(std::span<rte_mbuf* const> buffers);
  void Feed(const std::vector<testing::Bytes>& frames);
  // Waits until the worker is done with all that was fed but the last `but` packets. False: not
  // within ten seconds.
  [[nodiscard]] bool WaitDone(uint64_t but = 0) const;

  // Frames that wait in the port's transmit ring.
  [[nodiscard]] unsigned SentCount(std::size_t port) const;
  // Takes and frees at most `limit` of them, the oldest first. Returns how many.
  unsigned TakeSent(std::size_t port, unsigned limit = UINT32_MAX);
  // The same, and returns them.
  [[nodiscard]] std::vector<testing::Bytes> ReadSent(std::size_t port);

  [[nodiscard]] const lb::PortCounters& counters(std::size_t port) const {
    return worker_->counters(port);
  }
  [[nodiscard]] uint64_t Count(lb::Verdict verdict) const {
    return counters(0).verdicts[static_cast<std::size_t>(verdict)].Read();
  }
  // Buffers of both ports, and of fragments, that are neither in a pool nor in a cache.
  [[nodiscard]] uint32_t BuffersInUse() const;
  // The pool that the worker's fragments are from. It has no caches: who takes all has all.
  [[nodiscard]] rte_mempool* fragment_pool() const { return fragment_pool_; }

 private:
  [[nodiscard]] uint64_t done() const;

  std::unique_ptr<Eal> eal_;
  std::array<rte_ring*, kPorts> received_{};
  std::array<rte_ring*, kPorts> sent_{};
  std::vector<std::unique_ptr<Port>> ports_;
  rte_mempool* fragment_pool_ = nullptr;
  std::unique_ptr<lb::Neighbors> neighbors_;
  const std::unique_ptr<lb::FragmentTable> fragments_;
  SnapshotStore snapshots_;
  std::unique_ptr<Worker> worker_;
  uint64_t fed_ = 0;
};

}  // namespace penstock::dpdk

#endif  // PENSTOCK_TESTS_DPDK_RING_RIG_H_

// Buffers for the fragments that a worker makes, and their way out.

#ifndef PENSTOCK_DPDK_FRAGMENTS_H_
#define PENSTOCK_DPDK_FRAGMENTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/lb/counters.h"
#include "penstock/lb/extra_frames.h"

struct rte_mbuf;
struct rte_mempool;

namespace penstock::dpdk {

// Thread safety: one worker's own.
class Fragments final : public lb::ExtraFrames {
 public:
  // What one burst may add: eight fragments for each of its packets.
  static constexpr std::size_t kMaxFrames = 256;

  // REQUIRES: `pool` outlives it.
  explicit Fragments(rte_mempool* pool);
  ~Fragments() override;
  Fragments(const Fragments&) = delete;
  Fragments& operator=(const Fragments&) = delete;

  [[nodiscard]] bool Reserve(std::size_t count, std::size_t size) override;
  [[nodiscard]] uint8_t* Add(uint8_t port, std::size_t size) override;

  // Hands the frames for `port`, DPDK's port `id`, to its queue, once; what it does not take is
  // freed. Counts both as packets of our own making.
  void Send(uint8_t port, uint16_t id, uint16_t queue, lb::PortCounters& counters);
  // Call after Send for every port.
  void Clear() { added_ = 0; }
  [[nodiscard]] bool empty() const { return added_ == 0; }

 private:
  rte_mempool* pool_;
  std::size_t room_;          // bytes of the largest frame
  std::size_t reserved_ = 0;  // buffers_ that are allocated and not added
  std::size_t added_ = 0;
  std::array<rte_mbuf*, kMaxFrames> buffers_{};  // added_, then reserved_
  std::array<uint8_t, kMaxFrames> port_{};
};

}  // namespace penstock::dpdk

#endif  // PENSTOCK_DPDK_FRAGMENTS_H_

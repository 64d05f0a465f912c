// Later fragments that came before their first one, waiting for it.

#ifndef PENSTOCK_LB_HELD_PACKETS_H_
#define PENSTOCK_LB_HELD_PACKETS_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "penstock/lb/burst.h"

namespace penstock::lb {

// A queue of fixed size. The packets' bytes stay in their buffers, unchanged, and go through
// ForwardBurst again. `Buffer` is a handle to one, such as a pointer. Thread safety: one thread.
template <typename Buffer>
class HeldPackets {
 public:
  static constexpr std::size_t kCapacity = 256;
  // The network reorders within milliseconds. Who comes later than this has lost its first
  // fragment.
  static constexpr std::chrono::milliseconds kPatience{500};
  // Time between two tries. Each one costs as much as the packets did when they came: a flood that
  // keeps the queue full must not keep the worker busy with it.
  static constexpr std::chrono::microseconds kRetryInterval{250};

  struct Packet {
    Buffer buffer{};
    uint8_t port = 0;  // that it came from
    std::chrono::nanoseconds since{0};

    [[nodiscard]] bool IsTired(std::chrono::nanoseconds now) const {
      return now - since >= kPatience;
    }
  };
  using Taken = std::array<Packet, kBurstSize>;

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // Keeps a packet; false: there is no room.
  [[nodiscard]] bool Push(const Packet& packet) {
    if (size_ == kCapacity) return false;
    packets_[(first_ + size_++) % kCapacity] = packet;
    return true;
  }
  // Takes the longest waiting packets, at most `limit`, as many as came from one port in a row.
  // Returns their number: 0 when there are none.
  [[nodiscard]] std::size_t Take(std::size_t limit, Taken& taken) {
    std::size_t count = 0;
    while (size_ > 0 && count < limit && count < taken.size() &&
           (count == 0 || packets_[first_].port == taken[0].port)) {
      taken[count++] = packets_[first_];
      first_ = (first_ + 1) % kCapacity;
      --size_;
    }
    return count;
  }

 private:
  std::array<Packet, kCapacity> packets_{};
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_HELD_PACKETS_H_

// A 64-bit event count that one thread writes and any thread reads.

#ifndef PENSTOCK_BASE_COUNTER_H_
#define PENSTOCK_BASE_COUNTER_H_

#include <atomic>
#include <cstdint>

namespace penstock::base {

// Thread safety: one writer, any number of readers. A relaxed load and store instead of an atomic
// increment: the same machine code as a plain integer, without a locked instruction per packet.
class Counter {
 public:
  void Add(uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  // REQUIRES: the count is at least n.
  void Subtract(uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) - n, std::memory_order_relaxed);
  }
  void Increment() { Add(1); }
  void Set(uint64_t v) { value_.store(v, std::memory_order_relaxed); }
  [[nodiscard]] uint64_t Read() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_ = 0;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

}  // namespace penstock::base

#endif  // PENSTOCK_BASE_COUNTER_H_

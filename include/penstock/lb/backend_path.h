// What has been learned about the way to a backend. It lives as long as the backend's identity and
// outlasts every snapshot that names it.

#ifndef PENSTOCK_LB_BACKEND_PATH_H_
#define PENSTOCK_LB_BACKEND_PATH_H_

#include <atomic>
#include <cstdint>

#include "penstock/base/clock.h"
#include "penstock/lb/neighbor.h"

namespace penstock::lb {

// The largest outer packet, in bytes, that the fabric's ICMP errors have left. Thread safety: any.
class PathMtu {
 public:
  // RFC 1191 section 6.3: what was learned is forgotten after ten minutes.
  static constexpr base::Tick kLifetime = 600;

  // Lowers the limit. A larger value does not raise it: errors for older packets may come late.
  void Lower(uint16_t mtu, base::Tick now) {
    const uint64_t lower = static_cast<uint64_t>(now + kLifetime) << 16 | mtu;
    uint64_t word = word_.load(std::memory_order_relaxed);
    while (mtu <= LimitOf(word, UINT16_MAX, now)) {
      if (word_.compare_exchange_weak(word, lower, std::memory_order_relaxed)) return;
    }
  }
  // `unlimited`, or less.
  [[nodiscard]] uint16_t Limit(uint16_t unlimited, base::Tick now) const {
    return LimitOf(word_.load(std::memory_order_relaxed), unlimited, now);
  }

 private:
  static uint16_t LimitOf(uint64_t word, uint16_t unlimited, base::Tick now) {
    const auto mtu = static_cast<uint16_t>(word);
    return now < word >> 16 && mtu < unlimited ? mtu : unlimited;
  }

  std::atomic<uint64_t> word_ = 0;  // bits 0..15 MTU, the rest the tick when it ends; 0: nothing
};

struct BackendPath {
  PathMtu mtu;
  Neighbor neighbor;  // for services with encapsulation l2
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_BACKEND_PATH_H_

// How much ICMP of our own making leaves: a bound for all, and one for each source address, so that
// one client cannot use up what the others need (RFC 1812 section 4.3.2.8, RFC 4443 section 2.4 f).

#ifndef PENSTOCK_LB_ICMP_LIMITER_H_
#define PENSTOCK_LB_ICMP_LIMITER_H_

#include <array>
#include <cstdint>

#include "penstock/base/clock.h"

namespace penstock::lb {

// Thread safety: one thread; each worker has its own.
class IcmpLimiter {
 public:
  static constexpr std::size_t kBuckets = 1024;  // sources, by hash
  static constexpr uint16_t kPerSource = 10;     // messages a second

  // `rate`: messages a second, the worker's share. Half of it is kept for known flows: in a flood
  // from invented sources, every one of which is new, connections still learn their MTU.
  explicit IcmpLimiter(uint32_t rate) : strangers_{rate - rate / 2}, known_{rate / 2} {}

  // Whether a message to the source with this hash may leave. Counts it if so.
  [[nodiscard]] bool Allow(uint64_t source_hash, bool known_flow, base::Tick now);

 private:
  // What a second has had so far.
  struct Window {
    base::Tick tick = 0;
    uint32_t used = 0;
  };
  struct Class {
    explicit Class(uint32_t per_second) : rate(per_second) {}
    [[nodiscard]] bool Allow(uint64_t source_hash, base::Tick now);
    uint32_t rate;
    Window all;
    std::array<Window, kBuckets> sources{};
  };
  Class strangers_;
  Class known_;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_ICMP_LIMITER_H_

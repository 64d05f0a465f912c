#include "penstock/lb/icmp_limiter.h"

namespace penstock::lb {
namespace {

template <typename Window>
uint32_t& UsedIn(Window& window, base::Tick now) {
  if (window.tick != now) window = {now, 0};
  return window.used;
}

}  // namespace

bool IcmpLimiter::Allow(uint64_t source_hash, bool known_flow, base::Tick now) {
  const bool has_half = known_.rate > 0;  // a rate of 1 is shared
  return (known_flow && has_half ? known_ : strangers_).Allow(source_hash, now);
}

bool IcmpLimiter::Class::Allow(uint64_t source_hash, base::Tick now) {
  uint32_t& total = UsedIn(all, now);
  uint32_t& source = UsedIn(sources[source_hash % kBuckets], now);
  if (total >= rate || source >= kPerSource) return false;
  ++total;
  ++source;
  return true;
}

}  // namespace penstock::lb

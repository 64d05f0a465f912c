// How many new flows a second a service takes, and how many of them from one source.

#ifndef PENSTOCK_LB_NEW_FLOW_LIMITER_H_
#define PENSTOCK_LB_NEW_FLOW_LIMITER_H_

#include <array>
#include <cstdint>
#include <memory>

#include "penstock/base/cache_line.h"
#include "penstock/base/clock.h"
#include "penstock/lb/flow_key.h"

namespace penstock::lb {

// New flows a second on the whole host. 0: no limit.
struct NewFlowRate {
  uint32_t per_source = 0;  // an IPv6 source is its /64
  uint32_t total = 0;

  [[nodiscard]] bool IsSet() const { return per_source != 0 || total != 0; }
  friend bool operator==(const NewFlowRate&, const NewFlowRate&) = default;
};

// What a service's present second has had at one worker, which alone reads and writes it. An array
// of these, one element a worker, lives as long as the service's identity: a second goes on when
// the configuration changes, and no two services share one.
struct alignas(base::kCacheLine) NewFlowWindow {
  base::Tick tick = 0;
  uint32_t used = 0;
};

// Who starts a flow where: 64 bits under the fleet's secret. Of an IPv6 source only the /64 counts.
[[nodiscard]] uint64_t HashSource(const FlowKey4& key, const HashKey& secret);
[[nodiscard]] uint64_t HashSource(const FlowKey6& key, const HashKey& secret);

// Counts in whole seconds, each limit while it is set. Each worker has its equal share of every
// limit, rounded up.
//
// Sources are kept in 8-way buckets, marked by 32 bits of their hash: two of them share a limit
// only if 42 bits are equal, which without the seed nobody can aim at. When more sources are there
// in a second than have room, the one with the fewest flows is forgotten. So nobody is refused for
// what others do; a source may get more than its limit while a flood of others goes on.
//
// Thread safety: one thread; each worker has its own.
class NewFlowLimiter {
 public:
  static constexpr std::size_t kBuckets = 1024;
  static constexpr std::size_t kWays = 8;

  // REQUIRES: workers > 0.
  explicit NewFlowLimiter(uint32_t workers);

  // Whether a new flow may start. Counts it if so. `service` is this worker's window of the
  // service.
  [[nodiscard]] bool Allow(const NewFlowRate& rate, NewFlowWindow& service, uint64_t source_hash,
                           base::Tick now);

 private:
  // A source's present second. With another tick: free.
  struct Source {
    uint32_t mark = 0;
    base::Tick tick = UINT32_MAX;
    uint32_t used = 0;
  };
  using Bucket = std::array<Source, kWays>;

  [[nodiscard]] uint32_t ShareOf(uint32_t limit) const;
  [[nodiscard]] static Source& LeastUsed(Bucket& bucket, uint64_t source_hash);
  [[nodiscard]] bool AllowSource(uint32_t share, uint64_t source_hash, base::Tick now);

  const uint32_t workers_;
  const std::unique_ptr<std::array<Bucket, kBuckets>> sources_;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_NEW_FLOW_LIMITER_H_

// Which backend a flow has: 8-way buckets, exact keys, memory given at start and never grown.
//
// One table belongs to one worker. All inserts go through one function, and the rules for who may
// push out whom stand there (docs/CONSISTENCY.md).

#ifndef PENSTOCK_LB_FLOW_TABLE_H_
#define PENSTOCK_LB_FLOW_TABLE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include "penstock/base/cache_line.h"
#include "penstock/base/clock.h"
#include "penstock/lb/counters.h"
#include "penstock/lb/flow_bucket.h"
#include "penstock/lb/flow_key.h"

namespace penstock::lb {

// An insert leaves at most this many unconfirmed entries in a bucket, so that a flood of new flows
// cannot push out the confirmed ones. (A confirmed flow whose backend is taken from it starts over
// as unconfirmed in its place; nobody outside can cause that.)
inline constexpr int kUnconfirmedWays = 4;
// A flow of which only SYNs were seen is given up after this: the client's last retransmission.
inline constexpr base::Tick kSynOnlyTimeout = 130;
// A closing flow may be evicted once it has been silent for this long; half-closed downloads live.
inline constexpr base::Tick kClosingSilence = 10;

// Says what entries are worth under the running configuration. Asked only when a bucket is full,
// and by the sweep.
template <typename Key>
class FlowJudge {
 public:
  virtual ~FlowJudge() = default;
  // Idle too long, or its backend or service is gone: nobody misses it.
  [[nodiscard]] virtual bool IsOver(const Key& key, const FlowEntry& entry) const = 0;
  // Without it, the pool's table sends the flow's next packet to the same backend.
  [[nodiscard]] virtual bool IsRedundant(const Key& key, const FlowEntry& entry) const = 0;
};

// Thread safety: the worker's own thread; Peek and the numbers by any.
template <typename Key>
class FlowTableOf {
 public:
  using Bucket = FlowBucket<Key>;
  using Judge = FlowJudge<Key>;

  struct InsertResult {
    int way = -1;                            // -1: no way was free for it, the flow goes untracked
    FlowEvent event = FlowEvent::kInserted;  // how room was made
    BackendId evicted = kNoId;               // the backend whose entry had to go
    // A flow of which only the SYN was seen has no entry, and its next packet would go to another
    // backend without one: this flow, or the one that had to go for it.
    bool risks_new_flow = false;
  };

  // Memory for `entries` (rounded up to a power of two of buckets), in bytes.
  [[nodiscard]] static std::size_t BytesFor(std::size_t entries);
  // REQUIRES: `memory` zeroed, aligned to a cache line, of BytesFor(n) bytes for some n; it
  // outlives the table.
  explicit FlowTableOf(std::span<std::byte> memory);

  void Prefetch(FlowHash hash) const {
    const Bucket& bucket = BucketOf(hash);
    base::Prefetch(&bucket);
    base::Prefetch(&bucket.key[0]);
    base::Prefetch(&bucket.key[kWays / 2]);
  }
  // True if `way` still holds `key`: an insert may have reused it since Find.
  [[nodiscard]] bool Holds(FlowHash hash, int way, const Key& key) const;
  // The way that holds `key` in its bucket, or -1.
  [[nodiscard]] int Find(FlowHash hash, const Key& key) const;
  [[nodiscard]] FlowEntry Entry(FlowHash hash, int way, base::Tick now) const;
  // The key's entry as another thread sees it. nullopt: there is none, or the bucket's owner was
  // writing all the time.
  [[nodiscard]] std::optional<FlowEntry> Peek(FlowHash hash, const Key& key, base::Tick now) const;
  // Stores what a packet at `now` makes of an entry. REQUIRES: `way` holds an entry.
  void Update(FlowHash hash, int way, BackendId backend, uint8_t state, base::Tick now);
  // As if the entry's last packet had come at `tick`. REQUIRES: `way` holds an entry.
  void SetLastSeen(FlowHash hash, int way, base::Tick tick);
  // True if Insert would make an entry.
  [[nodiscard]] bool HasRoom(FlowHash hash, base::Tick now, bool must_record,
                             const Judge& judge) const;
  // Makes an entry, unconfirmed unless `state` says otherwise. `must_record`: redundant entries may
  // go for it, even confirmed ones. REQUIRES: Find(hash, key) < 0.
  InsertResult Insert(FlowHash hash, const Key& key, BackendId backend, uint8_t state,
                      base::Tick now, bool must_record, const Judge& judge);
  // Looks at the next `buckets` buckets and erases entries that are over, calling `erased` for each
  // one's backend. Of the passes that end within a tick only the first counts, so that n counted
  // passes take more than n - 2 ticks, however small the table.
  void Sweep(uint32_t buckets, base::Tick now, const Judge& judge,
             const std::function<void(BackendId)>& erased);

  // Calls `visit(key, entry)` for each entry. The owner's thread, or none.
  template <typename Visit>
  void ForEach(base::Tick now, Visit&& visit) const {
    for (std::size_t b = 0; b <= mask_; ++b) {
      for (int way = 0; way < kWays; ++way) {
        const auto w = static_cast<std::size_t>(way);
        const uint8_t state = buckets_[b].state[w];
        if ((state & kFlowUsed) == 0) continue;
        const auto age = static_cast<uint16_t>(now - buckets_[b].last_seen[w]);
        visit(buckets_[b].key[w],
              FlowEntry{.backend = buckets_[b].backend(way), .age = age, .state = state});
      }
    }
  }

  [[nodiscard]] std::size_t capacity() const { return (mask_ + 1) * kWays; }
  [[nodiscard]] uint64_t size() const { return size_.Read(); }      // any thread
  [[nodiscard]] uint64_t sweeps() const { return sweeps_.Read(); }  // counted passes; any thread
  [[nodiscard]] uint32_t bucket_count() const { return static_cast<uint32_t>(mask_ + 1); }

 private:
  [[nodiscard]] Bucket& BucketOf(FlowHash hash) const {
    return buckets_[hash.bucket_bits() & mask_];
  }
  Bucket* buckets_;
  std::size_t mask_;
  uint32_t sweep_position_ = 0;
  base::Tick last_counted_ = UINT32_MAX;  // tick of the latest pass that counts
  base::Counter size_;                    // entries in use
  base::Counter sweeps_;                  // full passes of Sweep, at most one a tick
};

extern template class FlowTableOf<FlowKey4>;
extern template class FlowTableOf<FlowKey6>;

// Both families of one worker, and the memory under them.
class FlowTable {
 public:
  struct Options {
    std::size_t v4_entries = 1048576;
    std::size_t v6_entries = 262144;
  };
  // Zeroed, cache-line aligned bytes, freed by the deleter. Null when there is not enough.
  using Memory = std::unique_ptr<std::byte[], void (*)(std::byte*)>;
  using Allocate = std::function<Memory(std::size_t bytes)>;

  // Null when `allocate` has not enough memory.
  [[nodiscard]] static std::unique_ptr<FlowTable> Create(const Options& options,
                                                         const Allocate& allocate);
  // From the heap, for tests and tools.
  [[nodiscard]] static Memory AllocateFromHeap(std::size_t bytes);

  template <typename Key>
  [[nodiscard]] FlowTableOf<Key>& of() {
    if constexpr (std::is_same_v<Key, FlowKey4>) {
      return v4_;
    } else {
      return v6_;
    }
  }
  // Counted passes over both tables since the start. Any thread.
  [[nodiscard]] uint64_t CompletedSweeps() const { return std::min(v4_.sweeps(), v6_.sweeps()); }
  template <typename Key>
  [[nodiscard]] const FlowTableOf<Key>& of() const {
    if constexpr (std::is_same_v<Key, FlowKey4>) {
      return v4_;
    } else {
      return v6_;
    }
  }
  // Until `end` there may be entries of flows whose whole packets come to another worker
  // (kFlowStray). The owner notes it, any thread asks.
  void NoteStray(base::Tick end) {
    if (end > stray_end_.Read()) stray_end_.Set(end);
  }
  [[nodiscard]] bool MayHoldStray(base::Tick now) const { return now <= stray_end_.Read(); }
  [[nodiscard]] const FlowTableOf<FlowKey4>& v4() const { return v4_; }
  [[nodiscard]] const FlowTableOf<FlowKey6>& v6() const { return v6_; }

 private:
  FlowTable(Memory v4, std::size_t v4_bytes, Memory v6, std::size_t v6_bytes);

  Memory v4_memory_;
  Memory v6_memory_;
  FlowTableOf<FlowKey4> v4_;
  FlowTableOf<FlowKey6> v6_;
  base::Counter stray_end_;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_FLOW_TABLE_H_

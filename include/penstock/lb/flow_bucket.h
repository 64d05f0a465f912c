// Eight flow entries: what the owner writes and other workers may read meanwhile.

#ifndef PENSTOCK_LB_FLOW_BUCKET_H_
#define PENSTOCK_LB_FLOW_BUCKET_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "penstock/base/cache_line.h"
#include "penstock/base/clock.h"
#include "penstock/base/shared_bytes.h"
#include "penstock/lb/flow_key.h"

namespace penstock::lb {

inline constexpr int kWays = 8;

// Bits of an entry's state.
inline constexpr uint8_t kFlowUsed = 1;
inline constexpr uint8_t kFlowSeenData = 2;   // a packet that is not a SYN
inline constexpr uint8_t kFlowConfirmed = 4;  // ... and another one in a later tick
inline constexpr uint8_t kFlowClosing = 8;    // FIN seen
// Made by fragments, which come to any worker: the flow's whole packets may go by another worker's
// table, and the entry there is the one that counts.
inline constexpr uint8_t kFlowStray = 16;

// One entry without its key.
struct FlowEntry {
  BackendId backend = kNoId;
  base::Tick age = 0;  // ticks since the last packet, modulo 2^16
  uint8_t state = 0;
};

// Line 0 answers "is it here, and where does it go"; the keys follow. The owner reads the fields as
// they are and writes them with the functions below, inside a Change what must be seen as one.
template <typename Key>
struct alignas(base::kCacheLine) FlowBucket {
  alignas(8) std::array<uint8_t, kWays> tag;
  std::array<uint16_t, kWays> last_seen;       // low 16 bits of the tick
  std::array<uint8_t, 3 * kWays> backend_ids;  // 24 bits each, little endian
  std::array<uint8_t, kWays> state;
  uint32_t version;  // odd while a way changes its key or its backend
  uint8_t hand;      // where the search for a way begins: behind the latest insertion; owner only
  std::array<uint8_t, 3> spare;
  std::array<Key, kWays> key;

  [[nodiscard]] BackendId backend(int way) const { return IdFrom(IdAt(way)); }
  void set_backend(int way, BackendId id) {
    uint8_t* b = &backend_ids[static_cast<std::size_t>(way) * 3];
    base::StoreWords(b[0], static_cast<uint8_t>(id));
    base::StoreWords(b[1], static_cast<uint8_t>(id >> 8));
    base::StoreWords(b[2], static_cast<uint8_t>(id >> 16));
  }
  // The backend as another thread reads it.
  [[nodiscard]] BackendId shared_backend(int way) const {
    const uint8_t* b = &backend_ids[static_cast<std::size_t>(way) * 3];
    return IdFrom({base::LoadWords(b[0]), base::LoadWords(b[1]), base::LoadWords(b[2])});
  }

 private:
  using IdBytes = std::array<uint8_t, 3>;
  [[nodiscard]] IdBytes IdAt(int way) const {
    const uint8_t* b = &backend_ids[static_cast<std::size_t>(way) * 3];
    return {b[0], b[1], b[2]};
  }
  static BackendId IdFrom(const IdBytes& b) {
    return static_cast<BackendId>(b[0] | b[1] << 8 | b[2] << 16);
  }
};
static_assert(sizeof(FlowBucket<FlowKey4>) == 192);  // 24 bytes an entry
static_assert(sizeof(FlowBucket<FlowKey6>) == 384);  // 48 bytes an entry
static_assert(offsetof(FlowBucket<FlowKey4>, key) == base::kCacheLine);

// While it lives, readers in other threads wait. Thread safety: the bucket's owner.
class BucketChange {
 public:
  explicit BucketChange(uint32_t& version) : version_(version) {
    base::StoreWords(version_, version_ + 1);
  }
  ~BucketChange() { base::StoreWords(version_, version_ + 1); }
  BucketChange(const BucketChange&) = delete;
  BucketChange& operator=(const BucketChange&) = delete;

 private:
  uint32_t& version_;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_FLOW_BUCKET_H_

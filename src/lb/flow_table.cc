#include "penstock/lb/flow_table.h"

#include <bit>
#include <cstdlib>
#include <cstring>

namespace penstock::lb {
namespace {

// A bit for each way whose tag is `tag`, lowest way first, spread over the bytes of a word: bit 7
// of byte w belongs to way w.
uint64_t MatchTags(const std::array<uint8_t, kWays>& tags, uint8_t tag) {
  constexpr uint64_t kLow7 = 0x7F7F7F7F7F7F7F7F;
  uint64_t word = 0;
  std::memcpy(&word, tags.data(), sizeof(word));
  const uint64_t difference = word ^ (tag * uint64_t{0x0101010101010101});
  // Exact zero-byte test: no carry crosses a byte, so nothing but zero bytes is marked.
  return ~(((difference & kLow7) + kLow7) | difference | kLow7);
}

template <typename Key>
FlowEntry EntryOf(const FlowBucket<Key>& bucket, int way, base::Tick now) {
  const auto w = static_cast<std::size_t>(way);
  return {.backend = bucket.backend(way),
          .age = static_cast<uint16_t>(now - bucket.last_seen[w]),
          .state = bucket.state[w]};
}

// An entry's age by this thread's clock; its owner may be in the next tick already.
base::Tick AgeOf(uint16_t last_seen, base::Tick now) {
  const auto age = static_cast<uint16_t>(now - last_seen);
  return age == UINT16_MAX ? 0 : age;
}

// What another thread finds under the key, valid if the bucket's version did not change meanwhile.
template <typename Key>
std::optional<FlowEntry> ReadShared(const FlowBucket<Key>& bucket, uint8_t tag, const Key& key,
                                    base::Tick now) {
  for (int way = 0; way < kWays; ++way) {
    const auto w = static_cast<std::size_t>(way);
    const uint8_t state = base::LoadWords(bucket.state[w]);
    if ((state & kFlowUsed) == 0 || base::LoadWords(bucket.tag[w]) != tag) continue;
    if (base::LoadWords(bucket.key[w]) != key) continue;
    return FlowEntry{.backend = bucket.shared_backend(way),
                     .age = AgeOf(base::LoadWords(bucket.last_seen[w]), now),
                     .state = state};
  }
  return std::nullopt;
}

bool IsConfirmed(uint8_t state) {
  return (state & kFlowConfirmed) != 0;
}

// Chooses the way that a new, unconfirmed entry takes (docs/CONSISTENCY.md, "Who gives way").
template <typename Key>
class VictimSearch {
 public:
  using Result = typename FlowTableOf<Key>::InsertResult;

  VictimSearch(const FlowBucket<Key>& bucket, base::Tick now, const FlowJudge<Key>& judge)
      : bucket_(bucket), now_(now), judge_(judge) {
    int unconfirmed = 0;
    for (int n = 0; n < kWays; ++n) {
      const int way = FromHand(n);
      const uint8_t state = bucket.state[static_cast<std::size_t>(way)];
      if ((state & kFlowUsed) == 0) {
        if (free_ < 0) free_ = way;
      } else if (!IsConfirmed(state)) {
        ++unconfirmed;
      }
    }
    // With the quota used up, an unconfirmed entry has to make room for an unconfirmed one.
    quota_used_ = unconfirmed >= kUnconfirmedWays;
  }

  [[nodiscard]] Result Choose(bool must_record) const {
    if (free_ >= 0 && !quota_used_) return {.way = free_, .event = FlowEvent::kInserted};
    const auto over = [&](const Key& k, const FlowEntry& e) { return judge_.IsOver(k, e); };
    if (const int way = Oldest(over); way >= 0) return Evict(way, FlowEvent::kEvictedExpired);
    const auto redundant = [&](const Key& k, const FlowEntry& e) {
      return !IsConfirmed(e.state) && judge_.IsRedundant(k, e);
    };
    if (const int way = Oldest(redundant); way >= 0) {
      return Evict(way, FlowEvent::kEvictedRedundant);
    }
    // Who is left needs his entry. A flow that the table decides alike does without one instead.
    if (!must_record) return ChooseAmongLeaving(/*risks_new_flow=*/false);
    const auto syn_only = [](const Key&, const FlowEntry& e) { return IsSynOnly(e.state); };
    if (const int way = Oldest(syn_only); way >= 0) {
      // Not redundant, as was just asked: its ACK will miss it.
      return Evict(way, FlowEvent::kEvictedSynOnly, /*risks_new_flow=*/true);
    }
    return ChooseAmongSeen();
  }

 private:
  static bool IsSynOnly(uint8_t state) { return (state & kFlowSeenData) == 0; }

  [[nodiscard]] Result ChooseAmongLeaving(bool risks_new_flow) const {
    const auto closing = [](const Key&, const FlowEntry& e) {
      return (e.state & kFlowClosing) != 0 && e.age >= kClosingSilence;
    };
    if (const int way = Oldest(closing); way >= 0) return Evict(way, FlowEvent::kEvictedClosing);
    return {.way = -1, .event = FlowEvent::kUntracked, .risks_new_flow = risks_new_flow};
  }

  // For a flow that needs an entry. Every candidate has been seen with data, or is confirmed.
  [[nodiscard]] Result ChooseAmongSeen() const {
    const Result leaving = ChooseAmongLeaving(/*risks_new_flow=*/true);
    if (leaving.way >= 0) return leaving;
    const auto redundant = [&](const Key& k, const FlowEntry& e) {
      return judge_.IsRedundant(k, e);
    };
    if (const int way = Oldest(redundant); way >= 0) {
      return Evict(way, FlowEvent::kEvictedRedundant);
    }
    const auto unconfirmed = [](const Key&, const FlowEntry& e) { return !IsConfirmed(e.state); };
    if (const int way = Oldest(unconfirmed); way >= 0) return Evict(way, FlowEvent::kEvictedOldest);
    return leaving;
  }

  // Ways in the order in which they were filled, as long as nothing else moves them: in a flood all
  // entries of a second are equally old, and the one that was there first has waited longest.
  [[nodiscard]] int FromHand(int n) const { return (bucket_.hand + n) % kWays; }

  // The least recently used way among the candidates that `accepts` takes; -1: none.
  template <typename Accepts>
  [[nodiscard]] int Oldest(const Accepts& accepts) const {
    int best = -1;
    base::Tick best_age = 0;
    for (int n = 0; n < kWays; ++n) {
      const int way = FromHand(n);
      const FlowEntry entry = EntryOf(bucket_, way, now_);
      if ((entry.state & kFlowUsed) == 0) continue;
      if (quota_used_ && IsConfirmed(entry.state)) continue;
      if (!accepts(bucket_.key[static_cast<std::size_t>(way)], entry)) continue;
      if (best < 0 || entry.age > best_age) {
        best = way;
        best_age = entry.age;
      }
    }
    return best;
  }

  [[nodiscard]] Result Evict(int way, FlowEvent event, bool risks_new_flow = false) const {
    return {.way = way,
            .event = event,
            .evicted = bucket_.backend(way),
            .risks_new_flow = risks_new_flow};
  }

  const FlowBucket<Key>& bucket_;
  base::Tick now_;
  const FlowJudge<Key>& judge_;
  int free_ = -1;
  bool quota_used_ = false;
};

}  // namespace

template <typename Key>
std::size_t FlowTableOf<Key>::BytesFor(std::size_t entries) {
  return std::bit_ceil((entries + kWays - 1) / kWays) * sizeof(Bucket);
}

template <typename Key>
FlowTableOf<Key>::FlowTableOf(std::span<std::byte> memory)
    : buckets_(reinterpret_cast<Bucket*>(memory.data())),
      mask_(memory.size() / sizeof(Bucket) - 1) {}

template <typename Key>
bool FlowTableOf<Key>::Holds(FlowHash hash, int way, const Key& key) const {
  const Bucket& bucket = BucketOf(hash);
  const auto w = static_cast<std::size_t>(way);
  return (bucket.state[w] & kFlowUsed) != 0 && bucket.key[w] == key;
}

template <typename Key>
int FlowTableOf<Key>::Find(FlowHash hash, const Key& key) const {
  const Bucket& bucket = BucketOf(hash);
  for (uint64_t match = MatchTags(bucket.tag, hash.tag()); match != 0; match &= match - 1) {
    const int way = std::countr_zero(match) / 8;
    if (Holds(hash, way, key)) return way;
  }
  return -1;
}

template <typename Key>
FlowEntry FlowTableOf<Key>::Entry(FlowHash hash, int way, base::Tick now) const {
  return EntryOf(BucketOf(hash), way, now);
}

template <typename Key>
std::optional<FlowEntry> FlowTableOf<Key>::Peek(FlowHash hash, const Key& key,
                                                base::Tick now) const {
  constexpr int kTries = 4;  // a change takes a few nanoseconds
  const Bucket& bucket = BucketOf(hash);
  for (int tries = 0; tries < kTries; ++tries) {
    const uint32_t version = base::LoadWords(bucket.version);
    if ((version & 1) != 0) continue;
    const std::optional<FlowEntry> entry = ReadShared(bucket, hash.tag(), key, now);
    // The loads before acquire: this one comes after them.
    if (base::LoadWords(bucket.version) == version) return entry;
  }
  return std::nullopt;
}

template <typename Key>
void FlowTableOf<Key>::Update(FlowHash hash, int way, BackendId backend, uint8_t state,
                              base::Tick now) {
  Bucket& bucket = BucketOf(hash);
  const auto w = static_cast<std::size_t>(way);
  const auto seen = static_cast<uint16_t>(now);
  const auto new_state = static_cast<uint8_t>(state | kFlowUsed);
  // Most packets of a flow change nothing within a tick: then the line stays clean.
  if (bucket.last_seen[w] != seen) base::StoreWords(bucket.last_seen[w], seen);
  if (bucket.state[w] != new_state) base::StoreWords(bucket.state[w], new_state);
  if (bucket.backend(way) == backend) return;
  const BucketChange change(bucket.version);
  bucket.set_backend(way, backend);
}

template <typename Key>
void FlowTableOf<Key>::SetLastSeen(FlowHash hash, int way, base::Tick tick) {
  base::StoreWords(BucketOf(hash).last_seen[static_cast<std::size_t>(way)],
                   static_cast<uint16_t>(tick));
}

template <typename Key>
bool FlowTableOf<Key>::HasRoom(FlowHash hash, base::Tick now, bool must_record,
                               const Judge& judge) const {
  return VictimSearch<Key>(BucketOf(hash), now, judge).Choose(must_record).way >= 0;
}

template <typename Key>
typename FlowTableOf<Key>::InsertResult FlowTableOf<Key>::Insert(FlowHash hash, const Key& key,
                                                                 BackendId backend, uint8_t state,
                                                                 base::Tick now, bool must_record,
                                                                 const Judge& judge) {
  Bucket& bucket = BucketOf(hash);
  const InsertResult result = VictimSearch<Key>(bucket, now, judge).Choose(must_record);
  if (result.way < 0) return result;
  const auto w = static_cast<std::size_t>(result.way);
  if (result.event == FlowEvent::kInserted) size_.Increment();
  bucket.hand = static_cast<uint8_t>((result.way + 1) % kWays);
  const BucketChange change(bucket.version);
  base::StoreWords(bucket.tag[w], hash.tag());
  base::StoreWords(bucket.last_seen[w], static_cast<uint16_t>(now));
  bucket.set_backend(result.way, backend);
  base::StoreWords(bucket.state[w], static_cast<uint8_t>(state | kFlowUsed));
  base::StoreWords(bucket.key[w], key);
  return result;
}

template <typename Key>
void FlowTableOf<Key>::Sweep(uint32_t buckets, base::Tick now, const Judge& judge,
                             const std::function<void(BackendId)>& erased) {
  for (uint32_t i = 0; i < buckets; ++i) {
    Bucket& bucket = buckets_[sweep_position_];
    for (int way = 0; way < kWays; ++way) {
      const auto w = static_cast<std::size_t>(way);
      const FlowEntry entry = EntryOf(bucket, way, now);
      if ((entry.state & kFlowUsed) == 0 || !judge.IsOver(bucket.key[w], entry)) continue;
      base::StoreWords(bucket.state[w], uint8_t{0});
      size_.Subtract(1);
      erased(entry.backend);
    }
    if (sweep_position_++ < mask_) continue;
    sweep_position_ = 0;
    if (last_counted_ == now) continue;
    last_counted_ = now;
    sweeps_.Increment();
  }
}

template class FlowTableOf<FlowKey4>;
template class FlowTableOf<FlowKey6>;

FlowTable::FlowTable(Memory v4, std::size_t v4_bytes, Memory v6, std::size_t v6_bytes)
    : v4_memory_(std::move(v4)),
      v6_memory_(std::move(v6)),
      v4_({v4_memory_.get(), v4_bytes}),
      v6_({v6_memory_.get(), v6_bytes}) {}

std::unique_ptr<FlowTable> FlowTable::Create(const Options& options, const Allocate& allocate) {
  const std::size_t v4_bytes = FlowTableOf<FlowKey4>::BytesFor(options.v4_entries);
  const std::size_t v6_bytes = FlowTableOf<FlowKey6>::BytesFor(options.v6_entries);
  Memory v4 = allocate(v4_bytes);
  Memory v6 = allocate(v6_bytes);
  if (v4 == nullptr || v6 == nullptr) return nullptr;
  return std::unique_ptr<FlowTable>(
      new FlowTable(std::move(v4), v4_bytes, std::move(v6), v6_bytes));
}

FlowTable::Memory FlowTable::AllocateFromHeap(std::size_t bytes) {
  void* memory = std::aligned_alloc(base::kCacheLine, bytes);
  if (memory != nullptr) std::memset(memory, 0, bytes);
  return {static_cast<std::byte*>(memory), [](std::byte* p) { std::free(p); }};
}

}  // namespace penstock::lb

#include "penstock/lb/fragment_table.h"

#include <algorithm>
#include <cstring>

namespace penstock::lb {
namespace {

// Words 0 to 3: addresses. Word 4: id, protocol and family, above them the verdict. Word 5:
// backend, service. Word 6: hash.
constexpr std::size_t kMisc = 4;
constexpr int kProtocolShift = 32;
constexpr int kFamilyShift = 40;
constexpr int kVerdictShift = 48;
constexpr uint64_t kMiscKeyMask = (uint64_t{1} << kVerdictShift) - 1;

// Workers read the clock for themselves: another one may be in the next second already.
bool IsLive(base::Tick noted, base::Tick now) {
  const auto age = static_cast<int32_t>(now - noted);
  return age >= -1 && age <= static_cast<int32_t>(FragmentTable::kMaxAge);
}

}  // namespace

FragmentTable::FragmentTable(const HashKey& secret)
    : secret_(secret), buckets_(std::make_unique<std::array<Bucket, kEntries / kWays>>()) {}

FragmentTable::Words FragmentTable::Pack(const FragmentKey& key, const FragmentDecision& decision) {
  Words words{};
  std::memcpy(&words[0], key.source.data(), key.source.size());
  std::memcpy(&words[2], key.destination.data(), key.destination.size());
  words[kMisc] = key.id | static_cast<uint64_t>(key.protocol) << kProtocolShift |
                 static_cast<uint64_t>(key.family) << kFamilyShift |
                 static_cast<uint64_t>(decision.verdict) << kVerdictShift;
  words[5] = decision.backend | static_cast<uint64_t>(decision.service) << 32;
  words[6] = decision.hash.bits;
  return words;
}

bool FragmentTable::SameKey(const Words& a, const Words& b) {
  return std::equal(a.begin(), a.begin() + kMisc, b.begin()) &&
         ((a[kMisc] ^ b[kMisc]) & kMiscKeyMask) == 0;
}

FragmentDecision FragmentTable::Unpack(const Words& words) {
  return {.verdict = static_cast<Verdict>(words[kMisc] >> kVerdictShift),
          .service = static_cast<ServiceId>(words[5] >> 32),
          .backend = static_cast<BackendId>(words[5]),
          .hash = {words[6]}};
}

std::size_t FragmentTable::BucketOf(const Words& words) const {
  const auto& k = secret_.words;
  const uint64_t source = Mix(words[0] ^ k[0], words[1] ^ k[1]);
  const uint64_t destination = Mix(words[2] ^ k[2], words[3] ^ k[3]);
  const uint64_t rest = (words[kMisc] & kMiscKeyMask) ^ k[5];
  return Mix(Mix(source ^ k[4], destination ^ rest) ^ k[2], k[3]) % buckets_->size();
}

// Acquire loads keep the second look at the version behind them; the writer's releases keep its odd
// version in front of its words.
std::optional<FragmentTable::Words> FragmentTable::Read(const Entry& entry, base::Tick& tick) {
  const uint32_t version = entry.version.load(std::memory_order_acquire);
  if ((version & 1) != 0) return std::nullopt;
  Words words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = entry.words[i].load(std::memory_order_acquire);
  }
  tick = entry.tick.load(std::memory_order_acquire);
  if (entry.version.load(std::memory_order_relaxed) != version) return std::nullopt;
  return words;
}

bool FragmentTable::Write(Entry& entry, const Words& words, base::Tick now) {
  uint32_t version = entry.version.load(std::memory_order_relaxed);
  if ((version & 1) != 0 ||
      !entry.version.compare_exchange_strong(version, version + 1, std::memory_order_acq_rel)) {
    return false;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    entry.words[i].store(words[i], std::memory_order_release);
  }
  entry.tick.store(now, std::memory_order_release);
  entry.version.store(version + 2, std::memory_order_release);
  return true;
}

bool FragmentTable::Note(const FragmentKey& key, const FragmentDecision& decision, base::Tick now) {
  const Words words = Pack(key, decision);
  Bucket& bucket = (*buckets_)[BucketOf(words)];
  // The key's own place first, then the longest unused.
  std::array<std::pair<uint32_t, std::size_t>, kWays> order;  // {age, way}
  for (std::size_t way = 0; way < kWays; ++way) {
    base::Tick tick = 0;
    const auto there = Read(bucket[way], tick);
    const auto age = static_cast<int32_t>(now - tick);
    uint32_t rank = there ? static_cast<uint32_t>(std::max(age, 0)) : 0;
    if (there && SameKey(*there, words)) rank = UINT32_MAX;
    order[way] = {rank, way};
  }
  std::sort(order.begin(), order.end(), std::greater<>());
  return std::any_of(order.begin(), order.end(),
                     [&](const auto& place) { return Write(bucket[place.second], words, now); });
}

std::optional<FragmentDecision> FragmentTable::Find(const FragmentKey& key, base::Tick now) const {
  constexpr int kTries = 4;  // a writer needs a few nanoseconds
  const Words wanted = Pack(key, {});
  for (const Entry& entry : (*buckets_)[BucketOf(wanted)]) {
    base::Tick tick = 0;
    std::optional<Words> words;
    for (int tries = 0; tries < kTries && !words; ++tries) words = Read(entry, tick);
    if (words && SameKey(*words, wanted) && IsLive(tick, now)) return Unpack(*words);
  }
  return std::nullopt;
}

}  // namespace penstock::lb

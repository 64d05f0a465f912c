// What was decided about the first fragment of a datagram, for all workers: later fragments have no
// ports, come to any worker, and must follow it.

#ifndef PENSTOCK_LB_FRAGMENT_TABLE_H_
#define PENSTOCK_LB_FRAGMENT_TABLE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "penstock/base/cache_line.h"
#include "penstock/base/clock.h"
#include "penstock/lb/flow_key.h"
#include "penstock/lb/verdict.h"
#include "penstock/net/address.h"

namespace penstock::lb {

// What the fragments of one datagram have in common: IPv4 (RFC 791 section 3.2) all of it, IPv6
// (RFC 8200 section 4.5) without the protocol, which later fragments may state differently.
struct FragmentKey {
  std::array<uint8_t, 16> source{};  // IPv4 uses the first 4 bytes
  std::array<uint8_t, 16> destination{};
  uint32_t id = 0;
  net::Family family = net::Family::kIpv4;
  uint8_t protocol = 0;  // 0 for IPv6

  friend bool operator==(const FragmentKey&, const FragmentKey&) = default;
};

// The first fragment's fate: the others share it.
struct FragmentDecision {
  Verdict verdict = Verdict::kForward;  // kForward, or why the datagram is dropped
  ServiceId service = kNoId;
  BackendId backend = kNoId;
  FlowHash hash;  // outer headers of all fragments are those of the flow
};

// Fixed memory: a new decision takes the place of an old one. Thread safety: any worker; no locks.
class FragmentTable {
 public:
  static constexpr std::size_t kEntries = 16384;
  // A decision holds for less than two seconds: its age is at most this many ticks.
  static constexpr base::Tick kMaxAge = 1;

  // `secret` spreads the keys, so that nobody can aim datagrams at one bucket.
  explicit FragmentTable(const HashKey& secret);
  FragmentTable(const FragmentTable&) = delete;
  FragmentTable& operator=(const FragmentTable&) = delete;

  // Remembers a decision; of two for the same key the later one holds. False: every place that it
  // may take is being written by other workers, and nothing was kept.
  bool Note(const FragmentKey& key, const FragmentDecision& decision, base::Tick now);
  [[nodiscard]] std::optional<FragmentDecision> Find(const FragmentKey& key, base::Tick now) const;

 private:
  static constexpr std::size_t kWays = 4;
  static constexpr std::size_t kWords = 8;
  // A key and its decision as words, so that other threads may read while one writes.
  using Words = std::array<uint64_t, kWords - 1>;

  // `version` is odd while somebody writes. Any worker writes, after it has made it odd.
  struct alignas(base::kCacheLine) Entry {
    std::atomic<uint32_t> version = 0;
    std::atomic<uint32_t> tick = 0;
    std::array<std::atomic<uint64_t>, kWords - 1> words{};
  };
  static_assert(sizeof(Entry) == base::kCacheLine);
  using Bucket = std::array<Entry, kWays>;

  static Words Pack(const FragmentKey& key, const FragmentDecision& decision);
  static bool SameKey(const Words& a, const Words& b);
  static FragmentDecision Unpack(const Words& words);
  // A consistent copy; nullopt while somebody writes.
  static std::optional<Words> Read(const Entry& entry, base::Tick& tick);
  static bool Write(Entry& entry, const Words& words, base::Tick now);
  [[nodiscard]] std::size_t BucketOf(const Words& words) const;

  HashKey secret_;
  std::unique_ptr<std::array<Bucket, kEntries / kWays>> buckets_;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_FRAGMENT_TABLE_H_

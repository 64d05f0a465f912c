// Reading what other workers write: never a key with another key's backend. Under the thread
// sanitizer this also shows that nothing is read unawares.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "penstock/lb/flow_table.h"
#include "penstock/lb/fragment_table.h"
#include "penstock/net/wire.h"

namespace penstock::lb {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr uint32_t kRounds = 20'000;
#else
constexpr uint32_t kRounds = 300'000;
#endif

template <typename Key>
class NothingIsOver final : public FlowJudge<Key> {
 public:
  bool IsOver(const Key&, const FlowEntry&) const override { return false; }
  bool IsRedundant(const Key&, const FlowEntry&) const override { return true; }
};

// Key n, and the backend that belongs to it.
template <typename Key>
Key KeyOf(uint32_t n) {
  Key key;
  net::Store(reinterpret_cast<uint8_t*>(&key.source), n);
  net::Store(reinterpret_cast<uint8_t*>(&key.destination), ~n);
  key.source_port = base::be16_t(static_cast<uint16_t>(n));
  key.service = ServiceAndProtocol::Of(n & 0xFFF, 6);
  return key;
}
BackendId BackendOf(uint32_t n) {
  return (n * 2654435761U >> 8) | 1;
}

template <typename Key>
void PeekWhileTheOwnerWrites() {
  std::vector<std::byte> heap(FlowTableOf<Key>::BytesFor(8) + base::kCacheLine);
  void* memory = heap.data();
  std::size_t space = heap.size();
  std::align(base::kCacheLine, FlowTableOf<Key>::BytesFor(8), memory, space);
  FlowTableOf<Key> table({static_cast<std::byte*>(memory), FlowTableOf<Key>::BytesFor(8)});
  const NothingIsOver<Key> judge;
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> found = 0;
  std::thread reader([&] {
    for (uint32_t n = 0; !stop.load(std::memory_order_relaxed); ++n) {
      const uint32_t which = n % 64;
      const auto entry = table.Peek(FlowHash{which}, KeyOf<Key>(which), 5);
      if (!entry) continue;
      ASSERT_EQ(entry->backend, BackendOf(which));
      found.fetch_add(1, std::memory_order_relaxed);
    }
  });
  for (uint32_t round = 0; round < kRounds; ++round) {
    const uint32_t which = round % 64;
    const FlowHash hash{which};  // one bucket, one tag
    if (table.Find(hash, KeyOf<Key>(which)) < 0) {
      table.Insert(hash, KeyOf<Key>(which), BackendOf(which), kFlowSeenData, 5, true, judge);
    }
  }
  while (found.load() == 0) std::this_thread::yield();
  stop = true;
  reader.join();
}

TEST(Peek, KeysAndBackendsBelongTogetherV4) {
  PeekWhileTheOwnerWrites<FlowKey4>();
}
TEST(Peek, KeysAndBackendsBelongTogetherV6) {
  PeekWhileTheOwnerWrites<FlowKey6>();
}

FragmentKey DatagramOf(uint32_t n) {
  FragmentKey key{.id = n};
  net::Store(key.source.data(), n ^ 0x5555);
  net::Store(key.destination.data(), n ^ 0xAAAA);
  return key;
}

TEST(FragmentTable, WorkersWriteAndReadAtOnce) {
  const auto table = std::make_unique<FragmentTable>(HashKey::FromSeed("threads"));
  std::atomic<uint64_t> found = 0;
  const auto work = [&](uint32_t start) {
    for (uint32_t round = 0; round < kRounds; ++round) {
      const uint32_t n = (start + round * 7) % 512;
      const FragmentDecision decision{Verdict::kForward, n & 0xFF, BackendOf(n), FlowHash{~n}};
      table->Note(DatagramOf(n), decision, 5);
      const uint32_t other = (n * 31 + 3) % 512;
      const auto there = table->Find(DatagramOf(other), 5);
      if (!there) continue;
      ASSERT_EQ(there->backend, BackendOf(other));
      ASSERT_EQ(there->hash.bits, FlowHash{~other}.bits);
      found.fetch_add(1, std::memory_order_relaxed);
    }
  };
  std::thread one(work, 0);
  std::thread two(work, 256);
  one.join();
  two.join();
  EXPECT_GT(found.load(), kRounds / 2);
}

TEST(FragmentTable, KeysDifferInEveryPart) {
  const auto table = std::make_unique<FragmentTable>(HashKey::FromSeed("parts"));
  const FragmentKey key{.source = {1}, .destination = {2}, .id = 3, .protocol = 17};
  ASSERT_TRUE(table->Note(key, {Verdict::kDropDenied, 4, 5, FlowHash{6}}, 100));
  ASSERT_TRUE(table->Find(key, 100).has_value());
  EXPECT_EQ(table->Find(key, 100)->verdict, Verdict::kDropDenied);
  FragmentKey other = key;
  other.source[15] = 1;
  EXPECT_FALSE(table->Find(other, 100));
  other = key;
  other.destination[0] = 3;
  EXPECT_FALSE(table->Find(other, 100));
  other = key;
  other.id = 4;
  EXPECT_FALSE(table->Find(other, 100));
  other = key;
  other.protocol = 6;
  EXPECT_FALSE(table->Find(other, 100));
  other = key;
  other.family = net::Family::kIpv6;
  EXPECT_FALSE(table->Find(other, 100));
  // Expect: the later of two decisions, and none after its time.
  ASSERT_TRUE(table->Note(key, {Verdict::kForward, 4, 7, FlowHash{6}}, 101));
  EXPECT_EQ(table->Find(key, 102)->backend, 7U);
  EXPECT_FALSE(table->Find(key, 103));
}

}  // namespace
}  // namespace penstock::lb

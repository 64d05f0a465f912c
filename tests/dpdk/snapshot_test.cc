// Publication with real threads: no worker ever holds a generation that has been freed.

#include "dpdk/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace penstock::dpdk {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kGenerations = 4000;

// Tables that note their own end, so that a use after free shows without a sanitizer.
class Graveyard {
 public:
  std::shared_ptr<const lb::ServiceTable> Make(uint64_t generation) {
    lb::ServiceTableSpec spec;
    spec.generation = generation;
    return {new lb::ServiceTable(spec), [this, generation](const lb::ServiceTable* table) {
              freed_[generation].store(true, std::memory_order_relaxed);
              delete table;
            }};
  }
  [[nodiscard]] bool IsFreed(uint64_t generation) const {
    return freed_[generation].load(std::memory_order_relaxed);
  }

 private:
  // Written by whoever frees a table, read by every thread of a test.
  std::array<std::atomic<bool>, kGenerations + 1> freed_{};
};

// What a reader saw that it must not see.
struct Findings {
  uint64_t reads = 0;
  uint64_t used_after_free = 0;
  uint64_t went_back = 0;
};

void ReadUntil(const std::atomic<bool>& stop, SnapshotStore& store, int worker,
               const Graveyard& graveyard, std::atomic<int>& started, Findings& findings) {
  store.Register(worker);
  started.fetch_add(1);
  uint64_t last = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    const lb::ServiceTable& table = store.Read();
    const uint64_t generation = table.generation();
    if (generation < last) ++findings.went_back;
    last = generation;
    if (findings.reads % 64 == 0)
      std::this_thread::yield();  // lets the publisher free, if it dares
    if (graveyard.IsFreed(generation) || table.generation() != generation) {
      ++findings.used_after_free;
    }
    ++findings.reads;
    store.Quiescent(worker);
    if (findings.reads % 32768 == 0) {
      store.Offline(worker);
      std::this_thread::sleep_for(std::chrono::microseconds(10));
      store.Online(worker);
    }
  }
  store.Unregister(worker);
}

TEST(SnapshotStore, NoReaderMeetsAFreedGeneration) {
  Graveyard graveyard;
  SnapshotStore store(2, graveyard.Make(0));
  std::atomic<bool> stop = false;
  std::atomic<int> started = 0;
  std::array<Findings, 2> findings;
  std::vector<std::thread> readers;
  for (int worker = 0; worker < 2; ++worker) {
    readers.emplace_back([&, worker] {
      ReadUntil(stop, store, worker, graveyard, started,
                findings[static_cast<std::size_t>(worker)]);
    });
  }
  while (started.load() < 2) std::this_thread::yield();
  uint64_t unacknowledged = 0;
  uint64_t kept_too_long = 0;
  for (uint64_t generation = 1; generation <= kGenerations; ++generation) {
    if (!store.Publish(graveyard.Make(generation)).acknowledged) ++unacknowledged;
    if (!graveyard.IsFreed(generation - 1)) ++kept_too_long;
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  // Expect: every publish acknowledged, its predecessor freed at once, and nobody reading a dead
  // generation or an older one than before.
  EXPECT_EQ(unacknowledged, 0);
  EXPECT_EQ(kept_too_long, 0);
  for (const Findings& found : findings) {
    EXPECT_GT(found.reads, 0);
    EXPECT_EQ(found.used_after_free, 0);
    EXPECT_EQ(found.went_back, 0);
  }
}

// A worker that does what it is told, one step at a time.
class StepWorker {
 public:
  StepWorker(SnapshotStore& store, int index) : store_(store), index_(index) {
    Do([this] { store_.Register(index_); });
  }
  ~StepWorker() {
    Do([this] { store_.Unregister(index_); });
  }
  void Quiescent() {
    Do([this] { store_.Quiescent(index_); });
  }
  void Offline() {
    Do([this] { store_.Offline(index_); });
  }
  void Online() {
    Do([this] { store_.Online(index_); });
  }

 private:
  // The thread's identity does not matter to the store, its order of calls does.
  static void Do(const std::function<void()>& step) { std::thread(step).join(); }

  SnapshotStore& store_;
  const int index_;
};

TEST(SnapshotStore, ASilentWorkerIsNamedAndItsGenerationStays) {
  Graveyard graveyard;
  SnapshotStore store(3, graveyard.Make(0), std::chrono::milliseconds(50));
  StepWorker silent(store, 1);
  // Expect: the two others, which never registered, are not waited for.
  const lb::PublishResult first = store.Publish(graveyard.Make(1));
  EXPECT_FALSE(first.acknowledged);
  EXPECT_THAT(first.silent_workers, ElementsAre(1));
  EXPECT_FALSE(graveyard.IsFreed(0));
  // Expect: new readers get the new generation all the same.
  EXPECT_EQ(store.Read().generation(), 1);
  EXPECT_EQ(store.retired_count(), 1);
}

TEST(SnapshotStore, ARetiredGenerationIsFreedOnceItsReaderMovesOn) {
  Graveyard graveyard;
  SnapshotStore store(1, graveyard.Make(0), std::chrono::milliseconds(20));
  StepWorker worker(store, 0);
  EXPECT_FALSE(store.Publish(graveyard.Make(1)).acknowledged);
  worker.Quiescent();
  EXPECT_FALSE(graveyard.IsFreed(0));
  // Expect: the later publish frees what has passed, and keeps what its own worker may read.
  EXPECT_FALSE(store.Publish(graveyard.Make(2)).acknowledged);
  EXPECT_TRUE(graveyard.IsFreed(0));
  EXPECT_FALSE(graveyard.IsFreed(1));
  EXPECT_EQ(store.retired_count(), 1);
}

TEST(SnapshotStore, AnOfflineWorkerIsNotWaitedFor) {
  Graveyard graveyard;
  SnapshotStore store(1, graveyard.Make(0), std::chrono::milliseconds(20));
  StepWorker worker(store, 0);
  worker.Offline();
  const lb::PublishResult result = store.Publish(graveyard.Make(1));
  EXPECT_TRUE(result.acknowledged);
  EXPECT_THAT(result.silent_workers, IsEmpty());
  EXPECT_TRUE(graveyard.IsFreed(0));
  worker.Online();
  EXPECT_FALSE(store.Publish(graveyard.Make(2)).acknowledged);
}

TEST(SnapshotStore, PublishingBeforeAnyWorkerRunsIsAcknowledged) {
  Graveyard graveyard;
  SnapshotStore store(4, graveyard.Make(0));
  EXPECT_TRUE(store.Publish(graveyard.Make(1)).acknowledged);
  EXPECT_TRUE(graveyard.IsFreed(0));
}

}  // namespace
}  // namespace penstock::dpdk

// What is kept, for how long, and what is refused.

#include "penstock/store/state_store.h"

#include <absl/status/status.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/store/scene.h"

namespace penstock::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<uint64_t> NumbersOf(const StateStore& store) {
  std::vector<uint64_t> numbers;
  const auto list = store.List();
  EXPECT_TRUE(list.ok()) << list.status();
  for (const control::GenerationInfo& info : *list) numbers.push_back(info.number);
  return numbers;
}

TEST_F(StoreTest, ANewDirectoryHoldsNothing) {
  const auto store = StateStore::Open(directory);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_THAT(NumbersOf(**store), IsEmpty());
  EXPECT_TRUE(absl::IsNotFound((*store)->Get(1).status()));
  EXPECT_TRUE(absl::IsNotFound((*store)->Acknowledge(1)));
  EXPECT_THAT((*store)->notes(), IsEmpty());
}

TEST_F(StoreTest, OnlyTheOwnerMayReadWhatIsMade) {
  umask(0);
  const auto store = StateStore::Open(directory);
  ASSERT_TRUE(store.ok()) << store.status();
  Fill(**store, 1, 1);
  EXPECT_EQ(ModeOf(directory), 0700U);
  EXPECT_EQ(ModeOf(database), 0600U);
  EXPECT_EQ(ModeOf(directory + "/lock"), 0600U);
  umask(022);
}

TEST_F(StoreTest, GenerationsComeBackAsTheyWere) {
  {
    const auto store = StateStore::Open(directory);
    ASSERT_TRUE(store.ok()) << store.status();
    Fill(**store, 1, 4);
    ASSERT_TRUE((*store)->Append(GenerationOf(7)).ok());  // numbers may have gaps
  }
  const auto store = StateStore::Open(directory);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_THAT(NumbersOf(**store), ElementsAre(7, 4, 3, 2, 1));
  for (const uint64_t number : {1U, 2U, 3U, 4U, 7U}) {
    const auto generation = (*store)->Get(number);
    ASSERT_TRUE(generation.ok()) << generation.status();
    EXPECT_EQ(*generation, GenerationOf(number, number != 7)) << number;
  }
  EXPECT_EQ((*store)->List()->at(1), GenerationOf(4, true).info);
}

TEST_F(StoreTest, AnyTextIsKept) {
  control::Generation generation = GenerationOf(1, true);
  generation.info.note = {.author = std::string("nul\0inside", 10), .comment = "\xff'; -- \n"};
  generation.config = {};
  const auto store = StateStore::Open(directory);
  ASSERT_TRUE((*store)->Append(generation).ok());
  EXPECT_EQ(*(*store)->Get(1), generation);
}

// What is desired (a drain) outlives the daemon; what is observed (health) has no place in it, so
// it cannot come back as a wish.
TEST_F(StoreTest, C03_ADrainOutlivesTheProcess) {
  EXPECT_EQ(InChild([&]() -> std::string {
              const auto store = StateStore::Open(directory);
              if (!store.ok() || !(*store)->Append(GenerationOf(1, true)).ok()) return "not kept";
              return "";
            }),
            "");
  const auto store = StateStore::Open(directory);
  ASSERT_TRUE(store.ok()) << store.status();
  const auto last = Last(**store);
  ASSERT_TRUE(last.ok()) << last.status();
  const std::vector<config::Backend>& backends = last->config.pools[0].backends;
  EXPECT_EQ(backends[0].state, config::AdminState::kDraining);
  EXPECT_EQ(backends[1].state, config::AdminState::kActive);
}

TEST_F(StoreTest, WhatWasNotAcknowledgedIsSaidAtTheNextStart) {
  {
    const auto store = StateStore::Open(directory);
    ASSERT_TRUE((*store)->Append(GenerationOf(1)).ok());  // no news once a later one is there
    Fill(**store, 2, 2);
    ASSERT_TRUE((*store)->Append(GenerationOf(3)).ok());
    EXPECT_THAT((*store)->notes(), IsEmpty());
  }
  const auto store = StateStore::Open(directory);
  EXPECT_THAT((*store)->notes(), ElementsAre("generation 3 in " + database +
                                             " is not used: not every worker acknowledged it"));
  EXPECT_EQ(*Last(**store), GenerationOf(2, true));
}

TEST_F(StoreTest, NumbersOnlyGrow) {
  const auto store = StateStore::Open(directory);
  Fill(**store, 5, 5);
  for (const uint64_t number :
       {uint64_t{0}, uint64_t{4}, uint64_t{5}, std::numeric_limits<uint64_t>::max()}) {
    const absl::Status status = (*store)->Append(GenerationOf(number));
    EXPECT_TRUE(absl::IsAlreadyExists(status)) << number << " " << status;
  }
  EXPECT_THAT(NumbersOf(**store), ElementsAre(5));
  EXPECT_EQ(*(*store)->Get(5), GenerationOf(5, true));
}

TEST_F(StoreTest, AHundredAreKept) {
  const auto store = StateStore::Open(directory);
  Fill(**store, 1, kKeptGenerations + 3);
  const std::vector<uint64_t> numbers = NumbersOf(**store);
  EXPECT_EQ(numbers.size(), kKeptGenerations);
  EXPECT_EQ(numbers.front(), kKeptGenerations + 3);
  EXPECT_EQ(numbers.back(), 4U);
  EXPECT_TRUE(absl::IsNotFound((*store)->Get(3).status()));
}

TEST_F(StoreTest, TheLastAcknowledgedOneIsNeverForgotten) {
  const auto store = StateStore::Open(directory);
  Fill(**store, 1, 2);
  for (uint64_t number = 3; number <= kKeptGenerations + 5; ++number) {
    ASSERT_TRUE((*store)->Append(GenerationOf(number)).ok());
  }
  const std::vector<uint64_t> numbers = NumbersOf(**store);
  EXPECT_EQ(numbers.size(), kKeptGenerations + 1);
  EXPECT_EQ(numbers.back(), 2U);
  EXPECT_EQ(*Last(**store), GenerationOf(2, true));
  ASSERT_TRUE((*store)->Acknowledge(50).ok());
  ASSERT_TRUE((*store)->Append(GenerationOf(kKeptGenerations + 6)).ok());
  EXPECT_EQ(NumbersOf(**store).size(), kKeptGenerations);  // now 2 could go
}

}  // namespace
}  // namespace penstock::store

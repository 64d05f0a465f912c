#include "penstock/lb/era.h"

#include <gtest/gtest.h>

#include "tests/lb/eras.h"

namespace penstock::lb {
namespace {

using std::chrono::seconds;

constexpr seconds kTransition{300};

std::vector<int64_t> Beginnings(const Eras& eras) {
  std::vector<int64_t> all;
  for (const Era& era : eras) all.push_back(era.since.time_since_epoch().count());
  return all;
}

Eras ErasAt(const std::vector<int64_t>& beginnings) {
  Eras eras;
  for (std::size_t i = 0; i < beginnings.size(); ++i) {
    eras = Succeed(std::move(eras), {BaseOf(0, i, 31), At(beginnings[i])}, kTransition);
  }
  return eras;
}

TEST(Era, ChangesFollowEachOther) {
  const Eras eras = ErasAt({0, 1000, 1100});
  EXPECT_EQ(Beginnings(eras), (std::vector<int64_t>{0, 1000, 1100}));
  EXPECT_EQ(eras.back().base->members().size(), 3U);
}

TEST(Era, WhatEndedTwoTransitionsAgoIsForgottenButTheBirthStays) {
  Eras eras = ErasAt({0, 1000, 1100});
  EXPECT_EQ(NextForgotten(eras, kTransition), At(1600));
  EXPECT_EQ(Remembered(eras, kTransition, At(1599)).size(), 3U);
  eras = Remembered(eras, kTransition, At(1600));
  EXPECT_EQ(Beginnings(eras), (std::vector<int64_t>{0, 1100}));
  eras = Remembered(eras, kTransition, At(5000));
  EXPECT_EQ(Beginnings(eras), (std::vector<int64_t>{0}));
  EXPECT_EQ(eras.back().base->members().size(), 3U);
  EXPECT_EQ(NextForgotten(eras, kTransition), std::chrono::sys_seconds::max());
}

TEST(Era, TheShortestOfTooManyIsMergedIntoItsSuccessor) {
  Eras eras = ErasAt({0, 10, 20, 30, 40, 45, 55, 65, 75});
  ASSERT_EQ(eras.size(), kMaxEarlierEras + 1);
  eras = Succeed(std::move(eras), {BaseOf(0, 9, 31), At(76)}, kTransition);
  // Expect: 75..76 was the shortest; the time counts as that of the present.
  EXPECT_EQ(Beginnings(eras), (std::vector<int64_t>{0, 10, 20, 30, 40, 45, 55, 65, 75}));
  EXPECT_EQ(eras.back().base->members().size(), 10U);
  eras = Succeed(std::move(eras), {BaseOf(0, 10, 31), At(90)}, kTransition);
  EXPECT_EQ(Beginnings(eras), (std::vector<int64_t>{0, 10, 20, 30, 40, 55, 65, 75, 90}));
}

TEST(Era, AnotherSizeOrSeedBeginsAnew) {
  const Eras eras = ErasAt({0, 1000});
  EXPECT_EQ(Beginnings(Succeed(eras, {BaseOf(0, 1, 37), At(1100)}, kTransition)),
            (std::vector<int64_t>{1100}));
  const auto other_seed = BaseWith({{BackendAddress(0), 100}}, 31, "other");
  EXPECT_EQ(Beginnings(Succeed(eras, {other_seed, At(1100)}, kTransition)),
            (std::vector<int64_t>{1100}));
}

TEST(Era, TimeThatRunsBackwardsStandsStill) {
  EXPECT_EQ(Beginnings(ErasAt({100, 50})), (std::vector<int64_t>{100, 100}));
}

}  // namespace
}  // namespace penstock::lb

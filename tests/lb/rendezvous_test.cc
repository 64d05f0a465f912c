#include "lb/rendezvous.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

namespace penstock::lb {
namespace {

TEST(Rendezvous, LogarithmIsCloseToTheRealOne) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t u = random() >> (random() % 60);
    const double real = 64 - std::log2(std::max<double>(static_cast<double>(u), 1));
    EXPECT_NEAR(static_cast<double>(NegativeLog2(u)) / 4294967296.0, real, 1e-6) << u;
  }
}

TEST(Rendezvous, LogarithmFallsAsTheNumberGrows) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t a = random() >> (random() % 60);
    const uint64_t b = a + random() % (UINT64_MAX - a);
    EXPECT_GE(NegativeLog2(a), NegativeLog2(b));
  }
  EXPECT_EQ(NegativeLog2(0), NegativeLog2(1));
}

TEST(Rendezvous, WinsInProportionToWeight) {
  std::mt19937_64 random(3);
  int heavy = 0;
  constexpr int kRounds = 100000;
  for (int i = 0; i < kRounds; ++i) {
    const Bid light{NegativeLog2(random()), 1};
    const Bid triple{NegativeLog2(random()), 3};
    if (triple.Beats(light)) ++heavy;
  }
  // Expect: three quarters, within 5 standard deviations (137 each).
  EXPECT_NEAR(heavy, kRounds * 0.75, 5 * 137);
}

// Many equal candidates: the winning logarithms are all close to zero, where a coarse table would
// make ties that always fall to the first of the list.
TEST(Rendezvous, AThousandEqualCandidatesWinEqually) {
  std::mt19937_64 random(4);
  constexpr int kCandidates = 1000;
  constexpr int kRounds = 40000;
  std::array<int, 4> wins{};  // by quarter of the list
  for (int round = 0; round < kRounds; ++round) {
    Bid best;
    int winner = 0;
    for (int i = 0; i < kCandidates; ++i) {
      const Bid bid{NegativeLog2(random()), 100};
      if (!bid.Beats(best)) continue;
      best = bid;
      winner = i;
    }
    ++wins[static_cast<std::size_t>(winner * 4 / kCandidates)];
  }
  // Expect: a quarter each, within 5 standard deviations (87 each).
  for (const int count : wins) EXPECT_NEAR(count, kRounds / 4, 5 * 87);
}

}  // namespace
}  // namespace penstock::lb

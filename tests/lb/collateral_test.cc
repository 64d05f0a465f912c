// Collateral: slots that change hands without need when backends come, go or change weight.

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "tests/lb/eras.h"

namespace penstock::lb {
namespace {

constexpr uint32_t kSlots = 65537;

std::vector<WeightedAddress> Members(std::size_t count, bool skewed) {
  std::vector<WeightedAddress> members;
  std::mt19937_64 random(count);
  for (std::size_t n = 0; n < count; ++n) {
    const uint32_t weight = skewed ? static_cast<uint32_t>(10 << random() % 6) : 100;
    members.push_back({BackendAddress(n), weight});
  }
  return members;
}

// Slots that move between two backends of both tables, neither of which is `changed`.
double CollateralShare(const BaseTable& before, const BaseTable& after,
                       const net::IpAddress& changed) {
  uint32_t collateral = 0;
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    const net::IpAddress& from = before.members()[before.owner(slot)].address;
    const net::IpAddress& to = after.members()[after.owner(slot)].address;
    if (from != to && from != changed && to != changed) ++collateral;
  }
  return static_cast<double>(collateral) / kSlots;
}

// The largest share that one of a few members, coming or going, moves among the others.
double OfComingAndGoing(std::size_t count, bool skewed) {
  const std::vector<WeightedAddress> members = Members(count, skewed);
  const auto with = BaseWith(members, kSlots);
  double largest = 0;
  for (std::size_t n = 0; n < count; n += count / 5) {
    std::vector<WeightedAddress> others = members;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(n));
    const auto without = BaseWith(others, kSlots);
    const double share = CollateralShare(*with, *without, members[n].address);
    EXPECT_EQ(share, CollateralShare(*without, *with, members[n].address));  // the way back
    largest = std::max(largest, share);
  }
  return largest;
}

TEST(Collateral, OneThatComesOrGoesMovesFewOthers) {
  std::printf("collateral of adding or removing one, the largest of five, %% of %u slots\n",
              kSlots);
  for (const std::size_t count : {10U, 30U, 100U, 300U, 1000U}) {
    const double equal = OfComingAndGoing(count, false);
    const double skewed = OfComingAndGoing(count, true);
    std::printf("%5zu backends: equal weights %.2f, skewed %.2f\n", count, 100 * equal,
                100 * skewed);
    EXPECT_LE(equal, 0.01) << count;
    EXPECT_LE(skewed, 0.015) << count;
  }
}

}  // namespace
}  // namespace penstock::lb

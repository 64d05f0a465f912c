#include "penstock/lb/maglev.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace penstock::lb {
namespace {

std::vector<uint32_t> CountSlots(const std::vector<MemberIndex>& table, std::size_t members) {
  std::vector<uint32_t> counts(members);
  for (const MemberIndex m : table) ++counts.at(m);
  return counts;
}

std::vector<MaglevEntry> RandomEntries(std::mt19937_64& random, std::size_t n, uint32_t size,
                                       uint32_t max_weight) {
  std::vector<MaglevEntry> entries(n);
  for (MaglevEntry& e : entries) {
    e.offset = static_cast<uint32_t>(random() % size);
    e.skip = static_cast<uint32_t>(random() % (size - 1) + 1);
    e.weight = static_cast<uint32_t>(random() % max_weight + 1);
  }
  return entries;
}

// The paper's table 1: three backends, seven slots.
const std::vector<MaglevEntry> kPaper = {{3, 4, 1}, {0, 2, 1}, {3, 1, 1}};

TEST(Maglev, GivesThePapersTable) {
  EXPECT_EQ(BuildMaglev(kPaper, 7), (std::vector<MemberIndex>{1, 0, 1, 0, 2, 2, 0}));
  const std::vector<MaglevEntry> without_b1 = {kPaper[0], kPaper[2]};
  EXPECT_EQ(BuildMaglev(without_b1, 7), (std::vector<MemberIndex>{0, 0, 0, 0, 1, 1, 1}));
  const std::vector<MaglevEntry> without_b0 = {kPaper[1], kPaper[2]};
  EXPECT_EQ(BuildMaglev(without_b0, 7), (std::vector<MemberIndex>{0, 0, 0, 1, 1, 1, 0}));
  const std::vector<MaglevEntry> without_b2 = {kPaper[0], kPaper[1]};
  EXPECT_EQ(BuildMaglev(without_b2, 7), (std::vector<MemberIndex>{1, 0, 1, 0, 0, 0, 1}));
}

TEST(Maglev, WeightZeroTakesNoSlot) {
  std::vector<MaglevEntry> entries = kPaper;
  entries[1].weight = 0;
  EXPECT_EQ(BuildMaglev(entries, 7), (std::vector<MemberIndex>{0, 0, 0, 0, 2, 2, 2}));
  for (MaglevEntry& e : entries) e.weight = 0;
  EXPECT_EQ(BuildMaglev(entries, 7), std::vector<MemberIndex>(7, kNoMember));
  EXPECT_EQ(BuildMaglev({}, 7), std::vector<MemberIndex>(7, kNoMember));
}

TEST(Maglev, SharesAreWithinOneSlotOfTheQuotaBeyondTheMinimum) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 60; ++round) {
    const std::size_t n = 1 + random() % 60;
    const uint32_t size = round % 2 == 0 ? 65537 : 4999;
    const auto entries = RandomEntries(random, n, size, round % 3 == 0 ? 1 : 1000);
    const auto counts = CountSlots(BuildMaglev(entries, size), n);
    const double total = std::accumulate(entries.begin(), entries.end(), 0.0,
                                         [](double sum, const auto& e) { return sum + e.weight; });
    // Those lifted to one slot take theirs from the rest.
    double lifted = 0;
    for (const auto& e : entries) lifted += std::max(0.0, 1 - size * e.weight / total);
    for (std::size_t i = 0; i < n; ++i) {
      const double quota = size * entries[i].weight / total;
      EXPECT_GE(counts[i], 1U);
      EXPECT_NEAR(counts[i], std::max(1.0, quota), 1.5 + lifted)
          << "weight " << entries[i].weight << " of " << total << ", " << n << " backends";
    }
  }
}

// H04: small weights beside large ones get their slot.
TEST(Maglev, H04_EveryWeightHasASlot) {
  std::mt19937_64 random(6);
  auto entries = RandomEntries(random, 1000, 65537, 1);
  entries[500].weight = 65535;
  const auto counts = CountSlots(BuildMaglev(entries, 65537), entries.size());
  EXPECT_GE(*std::min_element(counts.begin(), counts.end()), 1U);
  EXPECT_GT(counts[500], 60000U);
}

TEST(Maglev, AsManyBackendsAsSlots) {
  std::mt19937_64 random(7);
  const auto entries = RandomEntries(random, 997, 997, 50);
  const auto counts = CountSlots(BuildMaglev(entries, 997), entries.size());
  EXPECT_EQ(*std::max_element(counts.begin(), counts.end()), 1U);
}

}  // namespace
}  // namespace penstock::lb

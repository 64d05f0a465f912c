// The previous column of a pool with a past.

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "tests/lb/eras.h"

namespace penstock::lb {
namespace {

// Ten backends since second 0, and the first of them removed or added at second 1000.
Eras Shrunk() {
  return {{BaseOf(0, 9), At(0)}, {BaseOf(1, 9), At(1000)}};
}
Eras Grown() {
  return {{BaseOf(1, 9), At(0)}, {BaseOf(0, 9), At(1000)}};
}

const net::IpAddress& AddressOf(const PoolTable& table, MemberIndex m) {
  return table.members()[m].address;
}

TEST(PoolHistory, AnAddedBackendLeavesMidStreamPacketsWhereTheyWere) {
  const Eras eras = Grown();
  const auto table = PoolTable::Build(SpecOf(eras, At(1299)));
  int taken = 0;
  for (uint32_t slot = 0; slot < table->table_size(); ++slot) {
    const net::IpAddress& before = eras[0].base->members()[eras[0].base->owner(slot)].address;
    // Expect: everyone goes on where it began, and new flows go where the new table says.
    ASSERT_EQ(AddressOf(*table, table->slot(slot).mid_stream()), before);
    ASSERT_EQ(table->slot(slot).current, table->base_owner(slot));
    taken += table->slot(slot).previous != kNoMember;
  }
  EXPECT_GT(taken, 450);  // a tenth of 4999 slots
  EXPECT_EQ(table->valid_until(), At(1300));
  const auto later = PoolTable::Build(SpecOf(eras, At(1300)));
  for (uint32_t slot = 0; slot < later->table_size(); ++slot) {
    ASSERT_EQ(later->slot(slot).previous, kNoMember);
  }
  EXPECT_NE(table->digest(), later->digest());
  EXPECT_EQ(later->digest(), PoolTable::Build(SpecOf({eras.back()}, At(1300)))->digest());
}

TEST(PoolHistory, OnlyTheSlotsOfARemovedBackendMove) {
  const Eras eras = Shrunk();
  const auto table = PoolTable::Build(SpecOf(eras, At(1100)));
  const net::IpAddress removed = BackendAddress(0);
  int collateral = 0;
  for (uint32_t slot = 0; slot < table->table_size(); ++slot) {
    const net::IpAddress& before = eras[0].base->members()[eras[0].base->owner(slot)].address;
    if (before == removed) {
      ASSERT_EQ(table->slot(slot).previous, kNoMember);  // it is nobody any more
      continue;
    }
    ASSERT_EQ(AddressOf(*table, table->slot(slot).mid_stream()), before);
    collateral += table->slot(slot).previous != kNoMember;
  }
  EXPECT_GT(collateral, 0);
}

TEST(PoolHistory, ADrainedPreviousOwnerServesADisabledOneDoesNot) {
  PoolTable::Spec spec = SpecOf(Grown(), At(1100));
  const auto plain = PoolTable::Build(spec);
  for (const AdminState state : {AdminState::kDraining, AdminState::kDisabled}) {
    spec.members[3].state = state;
    const auto table = PoolTable::Build(spec);
    int seen = 0;
    for (uint32_t slot = 0; slot < table->table_size(); ++slot) {
      if (plain->slot(slot).previous != 3) continue;
      ++seen;
      ASSERT_EQ(table->slot(slot).previous, state == AdminState::kDraining ? 3 : kNoMember);
    }
    EXPECT_GT(seen, 0);
  }
}

// Expect: a slot's own owner, which steps aside for new flows only, comes before one from the past.
TEST(PoolHistory, AnOwnerThatStepsAsideWinsOverThePast) {
  PoolTable::Spec spec = SpecOf(Grown(), At(1100));
  const auto plain = PoolTable::Build(spec);
  spec.members[0].healthy = false;
  const auto failed = PoolTable::Build(spec);
  spec.members[0].state = AdminState::kDisabled;
  const auto disabled = PoolTable::Build(spec);
  int back = 0;
  for (uint32_t slot = 0; slot < plain->table_size(); ++slot) {
    if (plain->slot(slot).current != 0) continue;
    ASSERT_EQ(failed->slot(slot).previous, 0);
    ASSERT_NE(disabled->slot(slot).previous, 0);
    // The stand-in may be the very one that held the slot before.
    const MemberIndex before = plain->slot(slot).previous;
    if (disabled->slot(slot).current == before) {
      ++back;
      ASSERT_EQ(disabled->slot(slot).previous, kNoMember);
    } else {
      ASSERT_EQ(disabled->slot(slot).previous, before);
    }
  }
  EXPECT_GT(back, 0);
}

TEST(PoolHistory, AReweightedBackendKeepsItsFlows) {
  std::vector<WeightedAddress> members;
  for (std::size_t n = 0; n < 10; ++n) members.push_back({BackendAddress(n), 100});
  Eras eras = {{BaseWith(members), At(0)}};
  members[4].weight = 0;
  eras.push_back({BaseWith(members), At(1000)});
  const auto table = PoolTable::Build(SpecOf(eras, At(1001)));
  EXPECT_EQ(table->SlotsOf(4), 0U);
  for (uint32_t slot = 0; slot < table->table_size(); ++slot) {
    ASSERT_EQ(table->slot(slot).mid_stream(), eras[0].base->owner(slot));
  }
}

// H01, H06: with a past too, neither the order of the list nor what was built before shows.
TEST(PoolHistory, OrderAndHostHaveNoInfluence) {
  std::mt19937_64 random(3);
  Eras here;
  Eras there;
  for (int64_t second = 0; second < 4000; second += static_cast<int64_t>(random() % 400)) {
    std::vector<WeightedAddress> members;
    for (std::size_t n = 0; n < 8; ++n) {
      if (random() % 3 > 0) {
        members.push_back({BackendAddress(n), static_cast<uint32_t>(random() % 3 * 50)});
      }
    }
    here = Succeed(std::move(here), {BaseWith(members), At(second)}, std::chrono::seconds(300));
    std::shuffle(members.begin(), members.end(), random);
    there = Succeed(std::move(there), {BaseWith(members), At(second)}, std::chrono::seconds(300));
    PoolTable::Spec spec = SpecOf(there, At(second + 7));
    std::shuffle(spec.members.begin(), spec.members.end(), random);
    ASSERT_EQ(PoolTable::Build(SpecOf(here, At(second + 7)))->digest(),
              PoolTable::Build(spec)->digest());
  }
}

TEST(PoolHistory, OneTableStandsForAnotherWhileNothingChanges) {
  PoolTable::Spec spec = SpecOf(Grown(), At(1100));
  const auto table = PoolTable::Build(spec);
  EXPECT_TRUE(table->IsOf(spec));
  spec.now = At(1299);
  EXPECT_TRUE(table->IsOf(spec));
  spec.now = At(1300);
  EXPECT_FALSE(table->IsOf(spec));
  spec.now = At(1100);
  spec.transition += std::chrono::seconds(1);
  EXPECT_FALSE(table->IsOf(spec));
  spec = SpecOf(Grown(), At(1100));
  spec.eras.back().since = At(1001);
  EXPECT_FALSE(table->IsOf(spec));
  spec = SpecOf(Grown(), At(1100));
  spec.members[0].state = AdminState::kDraining;
  EXPECT_FALSE(table->IsOf(spec));
}

}  // namespace
}  // namespace penstock::lb

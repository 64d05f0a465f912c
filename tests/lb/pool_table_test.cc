#include "penstock/lb/pool_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/frame.h"

namespace penstock::lb {
namespace {

using testing::Ip;

PoolTable::Spec SpecOf(std::size_t n, uint32_t size = 65537) {
  PoolTable::Spec spec;
  spec.table_size = size;
  spec.key = HashKey::FromSeed("test");
  for (std::size_t i = 0; i < n; ++i) {
    spec.members.push_back(
        {.address = Ip("10.3." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1))});
  }
  return spec;
}

// The address that owns a slot for new flows; unspecified if nobody.
net::IpAddress Owner(const PoolTable& table, uint32_t slot) {
  const MemberIndex m = table.slot(slot).current;
  return m == kNoMember ? net::IpAddress{} : table.members()[m].address;
}

// H01: the table is a function of the set, not of the list's order.
TEST(PoolTable, H01_OrderOfTheListHasNoInfluence) {
  std::mt19937_64 random(1);
  PoolTable::Spec spec = SpecOf(50, 4999);
  for (auto& m : spec.members) m.weight = static_cast<uint32_t>(random() % 100 + 1);
  const auto table = PoolTable::Build(spec);
  for (int round = 0; round < 10; ++round) {
    std::shuffle(spec.members.begin(), spec.members.end(), random);
    const auto shuffled = PoolTable::Build(spec);
    EXPECT_EQ(shuffled->digest(), table->digest());
    for (uint32_t i = 0; i < 4999; ++i) ASSERT_EQ(Owner(*shuffled, i), Owner(*table, i));
  }
}

TEST(PoolTable, FailureAndDrainMoveNoOtherSlotAndComeBackExactly) {
  for (const AdminState state :
       {AdminState::kDraining, AdminState::kDisabled, AdminState::kActive}) {
    PoolTable::Spec spec = SpecOf(20);
    const auto before = PoolTable::Build(spec);
    spec.members[7].state = state;
    spec.members[7].healthy = state != AdminState::kActive;  // active: it fails its check instead
    const auto during = PoolTable::Build(spec, before.get());
    int moved = 0;
    for (uint32_t i = 0; i < spec.table_size; ++i) {
      if (Owner(*before, i) != spec.members[7].address) {
        ASSERT_EQ(Owner(*during, i), Owner(*before, i));
        ASSERT_EQ(during->slot(i).previous, kNoMember);
        continue;
      }
      ++moved;
      ASSERT_NE(Owner(*during, i), spec.members[7].address);
      // Expect: a disabled backend serves nobody, the others keep what they have.
      ASSERT_EQ(during->slot(i).previous,
                state == AdminState::kDisabled ? kNoMember : during->base_owner(i));
    }
    EXPECT_GT(moved, 3000);
    spec.members[7] = before->members()[7];
    EXPECT_EQ(PoolTable::Build(spec, during.get())->digest(), before->digest());
  }
}

// H06: the way to a state does not show in it.
TEST(PoolTable, H06_HistoryHasNoInfluence) {
  std::mt19937_64 random(2);
  PoolTable::Spec spec = SpecOf(30, 4999);
  auto table = PoolTable::Build(spec);
  for (int step = 0; step < 300; ++step) {
    PoolMember& m = spec.members[random() % spec.members.size()];
    switch (random() % 4) {
      case 0:
        m.state = static_cast<AdminState>(random() % 3);
        break;
      case 1:
        m.healthy = random() % 2 == 0;
        break;
      case 2:
        m.weight = static_cast<uint32_t>(random() % 5 * 50);
        break;
      default:
        m = {.address = m.address};
    }
    table = PoolTable::Build(spec, table.get());
    ASSERT_EQ(table->digest(), PoolTable::Build(spec)->digest()) << "step " << step;
  }
}

TEST(PoolTable, StandInsShareTheLoadByWeight) {
  PoolTable::Spec spec = SpecOf(100);
  for (std::size_t i = 0; i < 90; ++i) spec.members[i].healthy = false;
  const auto table = PoolTable::Build(spec);
  EXPECT_LT(table->share_errors().max, 0.06);
  for (MemberIndex m = 0; m < 100; ++m) {
    EXPECT_EQ(table->SlotsOf(m) > 0, table->members()[m].healthy);
  }
}

TEST(PoolTable, RendezvousFindsTheFewThatAreLeft) {
  PoolTable::Spec spec = SpecOf(1000);
  for (std::size_t i = 2; i < 1000; ++i) spec.members[i].state = AdminState::kDraining;
  spec.members[0].weight = 300;
  const auto table = PoolTable::Build(spec);
  const double share = table->SlotsOf(0) / 65537.0;
  EXPECT_NEAR(share, 0.75, 0.02);
  EXPECT_EQ(table->SlotsOf(0) + table->SlotsOf(1), 65537U);
}

TEST(PoolTable, NoUsableBackendFollowsThePolicy) {
  PoolTable::Spec spec = SpecOf(3, 4999);
  for (auto& m : spec.members) m.healthy = false;
  spec.members[2].state = AdminState::kDraining;
  auto drop = PoolTable::Build(spec);
  EXPECT_EQ(drop->slot(0).current, kNoMember);
  EXPECT_EQ(drop->slot(0).previous, drop->base_owner(0));  // flows that exist go on

  spec.on_no_backend = OnNoBackend::kUseAll;
  const auto all = PoolTable::Build(spec);
  EXPECT_GT(all->SlotsOf(0), 0U);
  EXPECT_GT(all->SlotsOf(1), 0U);
  EXPECT_EQ(all->SlotsOf(2), 0U);  // it is leaving; the active ones come first

  for (auto& m : spec.members) m.state = AdminState::kDisabled;
  spec.members[1].state = AdminState::kDraining;
  spec.members[1].healthy = true;
  EXPECT_EQ(PoolTable::Build(spec)->SlotsOf(1), 4999U);
  spec.members[1].weight = 0;
  EXPECT_EQ(PoolTable::Build(spec)->slot(5), Slot{});
}

// H02: weight 0 takes no new flow.
TEST(PoolTable, H02_WeightZeroTakesNoNewFlow) {
  PoolTable::Spec spec = SpecOf(3, 4999);
  spec.members[1].weight = 0;
  const auto table = PoolTable::Build(spec);
  EXPECT_EQ(table->SlotsOf(1), 0U);
  EXPECT_EQ(table->SlotsOf(0) + table->SlotsOf(2), 4999U);
}

// H05: nobody is a destination that cannot be reached by mistake.
TEST(PoolTable, H05_EmptyPoolOwnsNothing) {
  const auto table = PoolTable::Build(SpecOf(0, 4999));
  for (uint32_t i = 0; i < 4999; ++i) ASSERT_EQ(table->slot(i), Slot{});
}

TEST(PoolTable, RemovalMovesFewOthers) {
  PoolTable::Spec spec = SpecOf(100);
  const auto before = PoolTable::Build(spec);
  const net::IpAddress gone = spec.members[40].address;
  spec.members.erase(spec.members.begin() + 40);
  const auto after = PoolTable::Build(spec);
  int collateral = 0;
  for (uint32_t i = 0; i < 65537; ++i) {
    if (Owner(*before, i) != gone && Owner(*before, i) != Owner(*after, i)) ++collateral;
  }
  EXPECT_LT(collateral, 65537 / 100);
}

// Expect: pools that differ only in who their backends are, or how heavy, differ in the digest.
TEST(PoolTable, AddressesAndWeightsChangeTheDigest) {
  PoolTable::Spec a = SpecOf(1, 4999);
  PoolTable::Spec b = a;
  b.members[0].address = Ip("10.9.9.9");
  EXPECT_NE(PoolTable::Build(a)->digest(), PoolTable::Build(b)->digest());
  b = a;
  b.members[0].weight = 7;
  EXPECT_NE(PoolTable::Build(a)->digest(), PoolTable::Build(b)->digest());
}

TEST(PoolTable, SeedAndSizeChangeTheDigest) {
  PoolTable::Spec spec = SpecOf(10, 4999);
  const auto a = PoolTable::Build(spec);
  spec.key = HashKey::FromSeed("other");
  const auto b = PoolTable::Build(spec, a.get());
  EXPECT_NE(a->digest(), b->digest());
  spec.table_size = 5003;
  EXPECT_NE(PoolTable::Build(spec, b.get())->digest(), b->digest());
  EXPECT_EQ(a->digest().size(), 16U);
}

TEST(PoolTable, SlotIndexCoversExactlyTheTable) {
  const auto table = PoolTable::Build(SpecOf(1, 4999));
  EXPECT_EQ(table->SlotIndex(0), 0U);
  EXPECT_EQ(table->SlotIndex(UINT32_MAX), 4998U);
}

}  // namespace
}  // namespace penstock::lb

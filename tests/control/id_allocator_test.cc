#include "control/id_allocator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "control/identity.h"
#include "tests/control/fake_dataplane.h"

namespace penstock::control {
namespace {

TEST(IdAllocatorTest, F01_RetiredIdIsFreeThreeSweepsAfterAcknowledgement) {
  IdAllocator ids(10);
  ASSERT_EQ(ids.Allocate({0}), 1U);
  ids.Retire(1);
  // Expect: unacknowledged, it is never free, however many sweeps pass.
  EXPECT_EQ(ids.Allocate({100}), 2U);
  ids.Acknowledged({100});
  EXPECT_EQ(ids.Allocate({102}), 3U);
  EXPECT_EQ(ids.Allocate({103}), 1U);
}

// Workers sweep at their own pace: each has to make its three passes after the acknowledgement.
TEST(IdAllocatorTest, EveryWorkerMakesItsOwnThreeSweeps) {
  IdAllocator ids(10);
  ASSERT_EQ(ids.Allocate({0, 0}), 1U);
  ids.Retire(1);
  ids.Acknowledged({110, 100});
  EXPECT_EQ(ids.Allocate({110, 103}), 2U);
  EXPECT_EQ(ids.Allocate({112, 500}), 3U);
  EXPECT_EQ(ids.Allocate({113, 103}), 1U);
}

TEST(IdAllocatorTest, ExhaustionIsSaidAndEnds) {
  IdAllocator ids(2);
  ASSERT_EQ(ids.Allocate({0}), 1U);
  ASSERT_EQ(ids.Allocate({0}), 2U);
  EXPECT_EQ(ids.Allocate({0}), std::nullopt);
  ids.Retire(2);
  ids.Acknowledged({5});
  EXPECT_EQ(ids.Allocate({7}), std::nullopt);
  EXPECT_EQ(ids.Allocate({8}), 2U);
}

// Against a model that remembers, for each id, when it may be given again.
TEST(IdAllocatorTest, NeverEarlyNeverTwice) {
  std::mt19937 random(20240501);
  IdAllocator ids(64);
  std::set<uint32_t> used;
  std::set<uint32_t> retired;
  std::map<uint32_t, uint64_t> free_at;
  uint64_t sweeps = 0;
  for (int step = 0; step < 20000; ++step) {
    switch (random() % 4) {
      case 0:
        if (const auto id = ids.Allocate({sweeps}); id.has_value()) {
          ASSERT_TRUE(used.insert(*id).second);
          ASSERT_FALSE(retired.contains(*id));
          ASSERT_LE(free_at[*id], sweeps);  // 0 for a fresh one
        }
        break;
      case 1:
        if (!used.empty()) {
          const uint32_t id = *used.begin();
          used.erase(id);
          retired.insert(id);
          ids.Retire(id);
        }
        break;
      case 2:
        for (const uint32_t id : retired) free_at[id] = sweeps + 3;
        retired.clear();
        ids.Acknowledged({sweeps});
        break;
      default:
        sweeps += random() % 2;
    }
  }
}

TEST(IdentityRegistryTest, FailedAssignmentTakesNothing) {
  IdentityRegistry registry(1, /*max_id=*/4);
  config::ServicesConfig four;
  four.pools = {TestPool("web", 4)};
  config::ServicesConfig five;
  five.pools = {TestPool("web", 5)};
  EXPECT_EQ(registry.Assign(five, {}, {0}).status().code(), absl::StatusCode::kResourceExhausted);
  const auto assigned = registry.Assign(four, {}, {0});
  ASSERT_TRUE(assigned.ok()) << assigned.status();
  EXPECT_EQ(assigned->pools.at("web").size(), 4U);
}

}  // namespace
}  // namespace penstock::control

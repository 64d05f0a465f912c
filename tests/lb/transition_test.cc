// Flows that move to another host after the pool has changed.

#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

#include "tests/lb/eras.h"
#include "tests/lb/fixture.h"

namespace penstock::lb {
namespace {

using testing::PacketSpec;

constexpr int kFlows = 10000;
constexpr int kFresh = 2000;
constexpr std::size_t kBackends = 10;
constexpr std::size_t kRemoved = 3;

PacketSpec Flow(int n, uint8_t flags) {
  PacketSpec spec;
  spec.source = "192.0.2." + std::to_string(n % 200 + 1);
  spec.source_port = static_cast<uint16_t>(1024 + n / 200);
  spec.tcp_flags = flags;
  return spec;
}

// Two hosts with the same services; each has a flow table of its own.
class Transition : public World {
 protected:
  Transition() {
    UseOtherHost();
    for (std::size_t n = 0; n < kBackends; ++n) members_.push_back({BackendAddress(n), 100});
    Change(0);
  }

  // A host that has seen none of the flows.
  void UseOtherHost() {
    flows_ =
        FlowTable::Create({.v4_entries = 65536, .v6_entries = 4096}, FlowTable::AllocateFromHeap);
  }
  // members_ hold from now on; it is `second`.
  void Change(int64_t second) {
    eras_ = Succeed(std::move(eras_), {BaseWith(members_, 65537), At(second)},
                    std::chrono::seconds(300));
    Show(second);
  }
  void Show(int64_t second) {
    web_ = SpecOf(eras_, At(second));
    Rebuild();
  }
  std::vector<net::IpAddress> Open(int first, int count) {
    std::vector<net::IpAddress> backends;
    for (int n = first; n < first + count; ++n)
      backends.push_back(BackendOf(Flow(n, net::kTcpSyn)));
    return backends;
  }
  std::vector<net::IpAddress> Continue(int first, int count) {
    std::vector<net::IpAddress> backends;
    for (int n = first; n < first + count; ++n)
      backends.push_back(BackendOf(Flow(n, net::kTcpAck)));
    return backends;
  }

  std::vector<WeightedAddress> members_;
  Eras eras_;
};

int Differences(const std::vector<net::IpAddress>& a, const std::vector<net::IpAddress>& b) {
  int count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

// Expect: the removed backend's own flows move, once, and of the others none.
TEST_F(Transition, F08_RemovalAndAnotherHostMoveOnlyTheRemovedOnesFlows) {
  const std::vector<net::IpAddress> began = Open(0, kFlows);
  const net::IpAddress removed = members_[kRemoved].address;
  const auto of_removed = static_cast<int>(std::count(began.begin(), began.end(), removed));
  members_.erase(members_.begin() + kRemoved);
  Change(1000);
  const std::vector<net::IpAddress> after = Continue(0, kFlows);
  EXPECT_EQ(Differences(began, after), of_removed);
  const std::vector<net::IpAddress> fresh = Open(kFlows, kFresh);
  EXPECT_EQ(Differences(fresh, Continue(kFlows, kFresh)), 0);

  UseOtherHost();
  const int moved = Differences(after, Continue(0, kFlows));
  const int fresh_moved = Differences(fresh, Continue(kFlows, kFresh));
  UseOtherHost();
  eras_ = {eras_.back()};  // a host without the past
  Show(1000);
  const int moved_without_past = Differences(after, Continue(0, kFlows));
  std::printf(
      "1 of %zu backends removed, %d flows, all moved to another host: %d of the removed "
      "one chosen anew, %d others moved; %d of %d begun after the removal moved; without "
      "the past %d would have\n",
      kBackends, kFlows, of_removed, moved, fresh_moved, kFresh, moved_without_past);
  EXPECT_EQ(moved, 0);
  EXPECT_LE(fresh_moved, kFresh / 100);
  EXPECT_GT(moved_without_past, 0);
}

TEST_F(Transition, AnAddedBackendTakesNewFlowsAndNoOldOnes) {
  const std::vector<net::IpAddress> began = Open(0, kFlows);
  members_.push_back({BackendAddress(kBackends), 100});
  Change(1000);
  UseOtherHost();
  EXPECT_EQ(Differences(began, Continue(0, kFlows)), 0);
  const std::vector<net::IpAddress> fresh = Open(kFlows, kFresh);
  const auto taken = std::count(fresh.begin(), fresh.end(), BackendAddress(kBackends));
  EXPECT_GT(taken, kFresh / 20);
  // Expect: their ACKs follow their SYNs, though the slots have previous owners.
  EXPECT_EQ(Differences(fresh, Continue(kFlows, kFresh)), 0);
}

TEST_F(Transition, AfterTheTransitionTheTableAloneDecides) {
  const std::vector<net::IpAddress> began = Open(0, kFlows);
  members_.push_back({BackendAddress(kBackends), 100});
  Change(1000);
  Show(1300);
  UseOtherHost();
  const int moved = Differences(began, Continue(0, kFlows));
  EXPECT_GT(moved, kFlows / 20);
  EXPECT_LT(moved, kFlows / 5);
}

TEST_F(Transition, ReweightingMovesNoFlow) {
  const std::vector<net::IpAddress> began = Open(0, kFlows);
  members_[0].weight = 0;
  members_[1].weight = 300;
  Change(1000);
  UseOtherHost();
  EXPECT_EQ(Differences(began, Continue(0, kFlows)), 0);
}

}  // namespace
}  // namespace penstock::lb

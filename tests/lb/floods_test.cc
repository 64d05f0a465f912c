// What floods may not do: move a flow, hinder a new one, take memory.

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/lb/fixture.h"
#include "tests/lb/flood.h"
#include "tests/support/counting_new.h"

namespace penstock::lb {
namespace {

using testing::PacketSpec;

constexpr std::size_t kEntries = 4096;  // of the fixture's table
constexpr int kFlows = 1000;

PacketSpec Flow(int n, uint8_t flags) {
  PacketSpec spec;
  spec.source = "198.18." + std::to_string(n / 250) + "." + std::to_string(n % 250 + 1);
  spec.source_port = 4242;
  spec.tcp_flags = flags;
  return spec;
}

class FloodTest : public World {
 protected:
  FloodTest() {
    for (int n = 4; n <= 8; ++n) AddMember(n);
    Rebuild();
  }
  void AddMember(int n) {
    web_.members.push_back({.address = testing::Ip("10.3." + std::to_string(n) + ".2")});
  }
  // As the worker's housekeeping does within a second.
  void NextSecond() {
    ++now_;
    SweepFlows(Context(), flows_->v4().bucket_count());
  }
  // Flows that have an entry and are confirmed, by number.
  std::map<int, net::IpAddress> Establish(int count) {
    std::map<int, net::IpAddress> flows;
    int next = 0;
    while (static_cast<int>(flows.size()) < count) {
      std::map<int, net::IpAddress> some;
      for (int i = 0; i < 50; ++i, ++next) some[next] = BackendOf(Flow(next, net::kTcpSyn));
      for (int second = 0; second < 2; ++second) {
        for (const auto& [n, backend] : some) BackendOf(Flow(n, net::kTcpAck));
        NextSecond();
      }
      for (const auto& [n, backend] : some) {
        const uint64_t hits = Events(FlowEvent::kHit);
        EXPECT_EQ(BackendOf(Flow(n, net::kTcpAck)), backend);
        if (Events(FlowEvent::kHit) > hits) flows[n] = backend;
      }
    }
    return flows;
  }
  // Every flow is where it was, by its entry.
  void ExpectUnmoved(const std::map<int, net::IpAddress>& flows, const net::IpAddress& except) {
    int compared = 0;
    for (const auto& [n, backend] : flows) {
      if (backend == except) continue;
      const uint64_t hits = Events(FlowEvent::kHit);
      ASSERT_EQ(BackendOf(Flow(n, net::kTcpAck)), backend) << n;
      ASSERT_EQ(Events(FlowEvent::kHit), hits + 1) << n;
      ++compared;
    }
    EXPECT_GT(compared, kFlows / 2);
  }
  void FloodFor(Flood& flood, std::size_t tables) {
    for (std::size_t i = 0; i < tables; ++i) {
      const std::size_t forwarded = flood.Send(Context(), kEntries);
      // Expect: nobody is refused for a full table; a later fragment waits for its first one.
      EXPECT_EQ(forwarded, flood.kind() == FloodKind::kLaterFragments ? 0 : kEntries);
      if (i % 5 == 4) NextSecond();
    }
  }
  // Connections that begin amid the flood: none goes to `drained`, and each stays where it began.
  void ConnectDuring(Flood& flood, int first, int count, const net::IpAddress& drained) {
    for (int n = first; n < first + count; ++n) {
      const net::IpAddress backend = BackendOf(Flow(n, net::kTcpSyn));
      ASSERT_NE(backend, drained);
      flood.Send(Context(), kEntries / 16);
      ASSERT_EQ(BackendOf(Flow(n, net::kTcpAck)), backend) << n;
      flood.Send(Context(), kEntries / 16);
      if (n % 10 == 0) NextSecond();
      ASSERT_EQ(BackendOf(Flow(n, net::kTcpAck)), backend) << n;
    }
  }
};

class Floods : public FloodTest, public ::testing::WithParamInterface<FloodKind> {};

// F05: 100 times as many packets as the table has entries, then a drain, an addition and a removal.
TEST_P(Floods, F05_MoveNoEstablishedFlowWhateverChangesAfterThem) {
  const auto flows = Establish(kFlows);
  Flood flood(GetParam(), 1);
  FloodFor(flood, 100);
  const net::IpAddress drained = flows.begin()->second;
  MemberAt(drained).state = AdminState::kDraining;
  Rebuild();
  ExpectUnmoved(flows, {});
  ConnectDuring(flood, 2000, 300, drained);
  ExpectUnmoved(flows, {});
  AddMember(9);
  Rebuild();
  ExpectUnmoved(flows, {});
  std::erase_if(web_.members, [&](const PoolMember& m) { return m.address == drained; });
  Rebuild();
  FloodFor(flood, 5);
  ExpectUnmoved(flows, drained);
}

// F06: whatever the path, one guard: new entries leave half of every bucket to those that lasted.
TEST_P(Floods, F06_FillNoMoreThanTheWaysOfUnconfirmedFlows) {
  const auto flows = Establish(kFlows);
  const std::size_t before = flows_->v4().size();
  Flood flood(GetParam(), 2);
  FloodFor(flood, 20);
  EXPECT_LE(flows_->v4().size(), before + flows_->v4().bucket_count() * kUnconfirmedWays);
  if (GetParam() == FloodKind::kIcmpError || GetParam() == FloodKind::kLaterFragments) {
    EXPECT_EQ(flows_->v4().size(), before);
  }
  ExpectUnmoved(flows, {});
}

// F07: the packet path, its housekeeping included, asks for no memory, whatever comes.
TEST_P(Floods, F07_TakeNoMemory) {
  Establish(50);
  Flood flood(GetParam(), 3);
  const ForwardContext context = Context();
  const uint64_t before = testing::Allocations();
  ASSERT_GT(before, 0U);  // it counts
  flood.Send(context, 1 << 18);
  SweepFlows(context, flows_->v4().bucket_count());
  EXPECT_EQ(testing::Allocations(), before);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Floods,
                         ::testing::Values(FloodKind::kSyn, FloodKind::kAck, FloodKind::kUdp,
                                           FloodKind::kIcmpError, FloodKind::kFirstFragments,
                                           FloodKind::kLaterFragments));

// F06: a limit of new flows holds on each path that begins one.
TEST_F(FloodTest, F06_RateLimitBoundsTheEntriesOfEachFlood) {
  NewFlowWindow windows[2];
  for (const uint8_t protocol : {net::kProtocolTcp, net::kProtocolUdp}) {
    Service service = {.new_flow_rate = {.total = 100}};
    service.new_flows = &windows[protocol == net::kProtocolTcp ? 0 : 1];
    Add({.vip = {.prefix = *net::IpPrefix::Parse("203.0.113.10"),
                 .protocol = protocol,
                 .ports = {{443, 443}}},
         .service = service,
         .deny = {},
         .outer_source = {}});
  }
  const auto flows = Establish(kFlows);
  for (const FloodKind kind : {FloodKind::kSyn, FloodKind::kUdp}) {
    Flood flood(kind, 4, 443);
    for (int second = 0; second < 10; ++second) {
      const std::size_t before = flows_->v4().size();
      const std::size_t through = flood.Send(Context(), 1000);
      EXPECT_LE(through, 100U);
      EXPECT_GT(through, 90U);  // unless a port repeats
      EXPECT_LE(flows_->v4().size(), before + 100);
      NextSecond();
    }
  }
  ExpectUnmoved(flows, {});
}

}  // namespace
}  // namespace penstock::lb

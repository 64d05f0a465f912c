// Flows over a restart: those that the tables alone would lead elsewhere are live before the first
// packet.

#include "penstock/lb/kept_flows.h"

#include <gtest/gtest.h>

#include "lb/flow_judge.h"
#include "tests/lb/workers.h"

namespace penstock::lb {
namespace {

using testing::PacketSpec;

class KeptFlowsTest : public Workers {
 protected:
  static PacketSpec Flow(uint16_t port, uint8_t flags, bool v6) {
    PacketSpec spec;
    if (v6) {
      spec.source = "2001:db8:c::1";
      spec.destination = "2001:db8:53::10";
    }
    spec.source_port = port;
    spec.tcp_flags = flags;
    return spec;
  }

  // Connections over all workers, some of them made while a backend was draining that is well
  // again: their slots are the former owner's.
  void Establish() {
    for (const bool v6 : {false, true})
      (v6 ? web6_ : web_).members[1].state = AdminState::kDraining;
    Rebuild();
    for (uint16_t port = 1; port <= 200; ++port) {
      for (const bool v6 : {false, true}) {
        const auto backend = BackendAt(port % kCount, Flow(port, net::kTcpSyn, v6));
        EXPECT_EQ(BackendAt(port % kCount, Flow(port, net::kTcpAck, v6)), backend);
        backends_[{port, v6}] = backend;
      }
    }
    for (const bool v6 : {false, true}) (v6 ? web6_ : web_).members[1].state = AdminState::kActive;
    Rebuild();
  }
  std::vector<KeptFlow> CollectAll() {
    std::vector<KeptFlow> kept;
    for (const auto& table : tables_) CollectFlows(*services_, *table, now_, kept);
    return kept;
  }
  // Empty tables, as a new process has, and another clock.
  void Restart(base::Tick now) {
    for (auto& [id, counters] : counters_) {
      for (BackendCounters& c : counters) c.live_flows.Set(0);
    }
    NewTables();
    now_ = now;
  }
  std::size_t RestoreAll(const std::vector<KeptFlow>& kept) {
    std::vector<RestoreTarget> targets;
    for (std::size_t i = 0; i < kCount; ++i) {
      targets.push_back({tables_[i].get(), static_cast<int>(i)});
    }
    return RestoreFlows(*services_, targets, kept, now_);
  }
  int Broken() {
    int broken = 0;
    for (const auto& [flow, backend] : backends_) {
      // Whichever queue it comes to now.
      const std::size_t worker = (flow.first + 1U) % kCount;
      if (BackendAt(worker, Flow(flow.first, net::kTcpAck, flow.second)) != backend) ++broken;
    }
    return broken;
  }

  std::map<std::pair<uint16_t, bool>, net::IpAddress> backends_;
};

TEST_F(KeptFlowsTest, FlowsThatTheTableWouldMoveSurviveARestart) {
  Establish();
  const std::vector<KeptFlow> kept = CollectAll();
  EXPECT_GT(kept.size(), 50U);
  EXPECT_LT(kept.size(), 250U);  // the others need no entry
  Restart(3);
  EXPECT_EQ(RestoreAll(kept), kept.size());
  uint64_t live = 0;
  for (const auto& [id, counters] : counters_) {
    for (const BackendCounters& c : counters) live += c.live_flows.Read();
  }
  EXPECT_EQ(live, kept.size());
  EXPECT_EQ(Broken(), 0);
}

TEST_F(KeptFlowsTest, WithoutThemTheyWouldMove) {
  Establish();
  const std::size_t kept = CollectAll().size();
  Restart(3);
  EXPECT_EQ(Broken(), static_cast<int>(kept));
}

TEST_F(KeptFlowsTest, TimeGoesOnWhileNobodyRuns) {
  Establish();
  std::vector<KeptFlow> kept = CollectAll();
  Restart(3);
  for (KeptFlow& flow : kept) flow.idle += 890;
  EXPECT_EQ(RestoreAll(kept), kept.size());
  // Expect: gone when they have been silent for 900 s, by the new clock.
  for (std::size_t i = 0; i < kCount; ++i) {
    const GenerationJudge<FlowKey4> judge(*services_);
    tables_[i]->of<FlowKey4>().ForEach(now_ + 10, [&](const FlowKey4& key, const FlowEntry& entry) {
      EXPECT_EQ(entry.age, 900U);
      EXPECT_FALSE(judge.IsOver(key, entry));
    });
    EXPECT_TRUE(tables_[i]->MayHoldStray(now_ + 10));
    EXPECT_FALSE(tables_[i]->MayHoldStray(now_ + 11));
  }
  Restart(3);
  for (KeptFlow& flow : kept) flow.idle += 11;
  EXPECT_EQ(RestoreAll(kept), 0U);
}

TEST_F(KeptFlowsTest, WhatCannotBeIsLeftOut) {
  Establish();
  std::vector<KeptFlow> kept = CollectAll();
  Restart(3);
  kept.resize(4);
  kept[0].backend = 4000;
  kept[1].service = 4000;
  kept[2].idle = 1 << 20;
  EXPECT_EQ(RestoreAll(kept), 1U);
  EXPECT_EQ(RestoreAll(kept), 0U);  // it is there
  MemberAt(web_.members[0].address).state = AdminState::kDisabled;
  MemberAt(web_.members[1].address).state = AdminState::kDisabled;
  MemberAt(web_.members[2].address).state = AdminState::kDisabled;
  Rebuild();
  EXPECT_TRUE(CollectAll().empty());
}

TEST_F(KeptFlowsTest, OneWorkerNeedsNoStrayEntries) {
  Establish();
  const std::vector<KeptFlow> kept = CollectAll();
  Restart(3);
  const RestoreTarget target{tables_[0].get(), 0};
  EXPECT_EQ(RestoreFlows(*services_, {&target, 1}, kept, now_), kept.size());
  tables_[0]->of<FlowKey6>().ForEach(now_, [](const FlowKey6&, const FlowEntry& entry) {
    EXPECT_EQ(entry.state & kFlowStray, 0);
  });
  EXPECT_FALSE(tables_[0]->MayHoldStray(now_));
}

}  // namespace
}  // namespace penstock::lb

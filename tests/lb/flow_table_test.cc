#include "penstock/lb/flow_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace penstock::lb {
namespace {

// Keys of one bucket: the hash is given apart from the key, so a test may choose it.
constexpr FlowHash kHash = {0xABCD};

FlowKey4 Key(uint32_t n) {
  return {.source = n, .service = ServiceAndProtocol::Of(1, 6)};
}

class FakeJudge final : public FlowJudge<FlowKey4> {
 public:
  bool IsOver(const FlowKey4& key, const FlowEntry&) const override {
    return over.count(key.source) != 0;
  }
  bool IsRedundant(const FlowKey4& key, const FlowEntry&) const override {
    return redundant.count(key.source) != 0;
  }
  std::set<uint32_t> over;
  std::set<uint32_t> redundant;
};

class FlowTableTest : public ::testing::Test {
 protected:
  FlowTableTest()
      : memory_(FlowTable::AllocateFromHeap(FlowTableOf<FlowKey4>::BytesFor(1024))),
        table_({memory_.get(), FlowTableOf<FlowKey4>::BytesFor(1024)}) {}

  FlowTableOf<FlowKey4>::InsertResult Insert(uint32_t n, uint8_t state, base::Tick now = 100,
                                             bool must = false) {
    return table_.Insert(kHash, Key(n), n + 1000, state, now, must, judge_);
  }
  bool Has(uint32_t n) { return table_.Find(kHash, Key(n)) >= 0; }
  void Confirm(uint32_t n, base::Tick now = 100) {
    table_.Update(kHash, table_.Find(kHash, Key(n)), n + 1000, kFlowSeenData | kFlowConfirmed, now);
  }
  // Eight confirmed flows in the bucket, seen at tick 100.
  void FillWithConfirmed() {
    for (uint32_t n = 0; n < kWays; ++n) {
      ASSERT_EQ(Insert(n, kFlowSeenData).event, FlowEvent::kInserted);
      Confirm(n);
    }
  }

  FlowTable::Memory memory_;
  FlowTableOf<FlowKey4> table_;
  FakeJudge judge_;
};

TEST_F(FlowTableTest, FindsWhatWasInsertedAndNothingElse) {
  EXPECT_FALSE(Has(1));
  Insert(1, kFlowSeenData);
  ASSERT_TRUE(Has(1));
  EXPECT_FALSE(Has(2));  // same tag, other key
  const FlowEntry entry = table_.Entry(kHash, table_.Find(kHash, Key(1)), 107);
  EXPECT_EQ(entry.backend, 1001U);
  EXPECT_EQ(entry.age, 7U);
  EXPECT_EQ(entry.state, kFlowUsed | kFlowSeenData);
  EXPECT_EQ(table_.size(), 1U);
}

TEST_F(FlowTableTest, AllTwentyFourBitsOfABackendIdAreKept) {
  table_.Insert(kHash, Key(1), kMaxId, 0, 0, false, judge_);
  EXPECT_EQ(table_.Entry(kHash, table_.Find(kHash, Key(1)), 0).backend, kMaxId);
}

TEST_F(FlowTableTest, AgeSurvivesTheWrapOfSixteenBitTicks) {
  Insert(1, 0, 65530);
  EXPECT_EQ(table_.Entry(kHash, table_.Find(kHash, Key(1)), 65530 + 20).age, 20U);
}

TEST_F(FlowTableTest, UnconfirmedEntriesHoldAtMostFourWays) {
  for (uint32_t n = 0; n < 4; ++n)
    EXPECT_EQ(Insert(n, kFlowSeenData, 100 + n).event, FlowEvent::kInserted);
  // Expect: who needs his entry keeps it from one that does not.
  EXPECT_EQ(Insert(4, kFlowSeenData, 110).event, FlowEvent::kUntracked);
  EXPECT_TRUE(Has(0));
  const auto result = Insert(4, kFlowSeenData, 110, true);
  EXPECT_EQ(result.event, FlowEvent::kEvictedOldest);
  EXPECT_EQ(result.evicted, 1000U);  // the least recently used
  EXPECT_FALSE(Has(0));
  EXPECT_EQ(table_.size(), 4U);
}

// F05: no flood of new flows pushes out a confirmed one.
TEST_F(FlowTableTest, F05_FloodNeverEvictsConfirmedFlows) {
  FillWithConfirmed();
  for (uint32_t n = 100; n < 10000; ++n) {
    EXPECT_EQ(Insert(n, n % 2 == 0 ? 0 : kFlowSeenData, 101).event, FlowEvent::kUntracked);
  }
  for (uint32_t n = 0; n < kWays; ++n) EXPECT_TRUE(Has(n));
}

TEST_F(FlowTableTest, VictimsGoInTheOrderOfWhatTheyAreWorth) {
  // Two confirmed flows, one of them closing and silent; then two unconfirmed of each kind.
  Insert(0, kFlowSeenData, 50);
  Confirm(0, 50);
  Insert(1, kFlowSeenData, 50);
  table_.Update(kHash, table_.Find(kHash, Key(1)), 1001,
                kFlowSeenData | kFlowConfirmed | kFlowClosing, 50);
  Insert(2, 0, 90);              // SYN only
  Insert(3, kFlowSeenData, 60);  // unconfirmed, seen data, older than the SYN
  Insert(4, kFlowSeenData, 70);  // will be redundant
  Insert(5, kFlowSeenData, 80);  // will be over
  judge_.over = {5};
  judge_.redundant = {4};
  // The quota of four unconfirmed is used up: one of them has to go each time.
  EXPECT_EQ(Insert(10, kFlowSeenData).evicted, 1005U);
  EXPECT_EQ(Insert(11, kFlowSeenData).evicted, 1004U);
  EXPECT_EQ(Insert(12, kFlowSeenData).event, FlowEvent::kUntracked);
  EXPECT_EQ(Insert(12, kFlowSeenData, 100, true).evicted, 1002U);
  EXPECT_EQ(Insert(13, kFlowSeenData, 100, true).evicted, 1003U);
  EXPECT_TRUE(Has(0));
  EXPECT_TRUE(Has(1));
}

TEST_F(FlowTableTest, ClosingAndSilentConfirmedFlowGivesWay) {
  FillWithConfirmed();
  table_.Update(kHash, table_.Find(kHash, Key(3)), 1003,
                kFlowSeenData | kFlowConfirmed | kFlowClosing, 100);
  EXPECT_EQ(Insert(20, 0, 100 + kClosingSilence - 1).event, FlowEvent::kUntracked);
  const auto result = Insert(20, 0, 100 + kClosingSilence);
  EXPECT_EQ(result.event, FlowEvent::kEvictedClosing);
  EXPECT_EQ(result.evicted, 1003U);
}

TEST_F(FlowTableTest, OnlyAMustRecordEvictsARedundantConfirmedFlow) {
  FillWithConfirmed();
  judge_.redundant = {6};
  EXPECT_EQ(Insert(20, 0).event, FlowEvent::kUntracked);
  const auto result = Insert(20, 0, 100, true);
  EXPECT_EQ(result.event, FlowEvent::kEvictedRedundant);
  EXPECT_EQ(result.evicted, 1006U);
  judge_.redundant.clear();
  EXPECT_EQ(Insert(21, 0, 100, true).event, FlowEvent::kEvictedSynOnly);  // entry 20 itself
}

TEST_F(FlowTableTest, SaysWhenAFlowOfWhichOnlyTheSynWasSeenIsAtRisk) {
  for (uint32_t n = 0; n < 4; ++n) EXPECT_FALSE(Insert(n, 0, 100 + n).risks_new_flow);
  // Its SYN went to a backend that the table would not give its ACK.
  EXPECT_TRUE(Insert(4, 0, 110, true).risks_new_flow);
  // Expect: nobody is put at risk for a flow that the table decides alike.
  EXPECT_FALSE(Insert(6, 0, 110).risks_new_flow);
  judge_.redundant = {1};
  EXPECT_FALSE(Insert(5, 0, 110).risks_new_flow);
}

TEST_F(FlowTableTest, AFullBucketOfNeededFlowsPutsANewOneAtRisk) {
  FillWithConfirmed();
  EXPECT_FALSE(Insert(20, 0).risks_new_flow);
  EXPECT_TRUE(Insert(20, 0, 100, true).risks_new_flow);
}

TEST_F(FlowTableTest, SweepErasesWhatIsOverAndCountsPasses) {
  FillWithConfirmed();
  judge_.over = {2, 5};
  std::multiset<BackendId> erased;
  const auto collect = [&](BackendId id) { erased.insert(id); };
  for (uint32_t i = 0; i < table_.bucket_count(); ++i) {
    EXPECT_EQ(table_.sweeps(), 0U);
    table_.Sweep(1, 100, judge_, collect);
  }
  EXPECT_EQ(table_.sweeps(), 1U);
  EXPECT_EQ(erased, (std::multiset<BackendId>{1002, 1005}));
  EXPECT_EQ(table_.size(), 6U);
  EXPECT_FALSE(Has(2));
  EXPECT_TRUE(Has(3));
}

// However small the table: three passes take more than a whole second (control::kQuarantineSweeps).
TEST_F(FlowTableTest, OnePassATickCounts) {
  const auto pass = [&](base::Tick now) {
    table_.Sweep(table_.bucket_count(), now, judge_, [](BackendId) {});
    return table_.sweeps();
  };
  EXPECT_EQ(pass(0), 1U);
  EXPECT_EQ(pass(0), 1U);
  EXPECT_EQ(pass(1), 2U);
  EXPECT_EQ(pass(1), 2U);
  EXPECT_EQ(pass(2), 3U);
}

// In a flood all entries are equally old: the one that was there first goes.
TEST_F(FlowTableTest, AmongEquallyOldOnesTheFirstComerGoes) {
  FillWithConfirmed();
  judge_.over = {1, 2, 4, 7};
  table_.Sweep(table_.bucket_count(), 100, judge_, [](BackendId) {});
  for (uint32_t n = 100; n < 104; ++n) ASSERT_EQ(Insert(n, 0).event, FlowEvent::kInserted);
  for (uint32_t n = 104; n < 200; ++n) ASSERT_EQ(Insert(n, 0, 100, true).evicted, n - 4 + 1000);
}

TEST_F(FlowTableTest, HasRoomSaysWhatInsertWouldDo) {
  EXPECT_TRUE(table_.HasRoom(kHash, 100, false, judge_));
  FillWithConfirmed();
  EXPECT_FALSE(table_.HasRoom(kHash, 100, false, judge_));
  judge_.redundant = {3};
  EXPECT_FALSE(table_.HasRoom(kHash, 100, false, judge_));
  EXPECT_TRUE(table_.HasRoom(kHash, 100, true, judge_));
  EXPECT_EQ(table_.size(), 8U);
}

TEST_F(FlowTableTest, HoldsTellsThatAWayWasReused) {
  Insert(1, 0);
  const int way = table_.Find(kHash, Key(1));
  EXPECT_TRUE(table_.Holds(kHash, way, Key(1)));
  EXPECT_FALSE(table_.Holds(kHash, way, Key(2)));
}

// Random operations against a map: while nothing is evicted, both know the same.
TEST(FlowTableModel, AgreesWithAMap) {
  const auto table =
      FlowTable::Create({.v4_entries = 1 << 16, .v6_entries = 8}, FlowTable::AllocateFromHeap);
  const HashKey secret = HashKey::FromSeed("model");
  FakeJudge judge;
  std::map<uint32_t, BackendId> model;
  std::mt19937_64 random(11);
  auto& flows = table->of<FlowKey4>();
  for (int step = 0; step < 200000; ++step) {
    const auto n = static_cast<uint32_t>(random() % 6000);
    const auto id = static_cast<BackendId>(random() % kMaxId + 1);
    const FlowHash hash = HashFlow(Key(n), secret);
    const int way = flows.Find(hash, Key(n));
    ASSERT_EQ(way >= 0, model.count(n) != 0);
    if (way >= 0) {
      ASSERT_EQ(flows.Entry(hash, way, 0).backend, model[n]);
      flows.Update(hash, way, id, kFlowSeenData | kFlowConfirmed, 0);
      model[n] = id;
      continue;
    }
    const auto result = flows.Insert(hash, Key(n), id, kFlowSeenData, 0, false, judge);
    if (result.way < 0) continue;
    if (result.event != FlowEvent::kInserted) {
      const auto gone = std::find_if(model.begin(), model.end(),
                                     [&](const auto& m) { return m.second == result.evicted; });
      ASSERT_NE(gone, model.end());
      model.erase(gone);
    }
    model[n] = id;
  }
  EXPECT_EQ(flows.size(), model.size());
  EXPECT_GT(model.size(), 5000U);
}

TEST(FlowTable, CreateSaysWhenMemoryIsShort) {
  int calls = 0;
  const auto table = FlowTable::Create({}, [&](std::size_t bytes) {
    EXPECT_EQ(bytes, ++calls == 1 ? 1048576U * 24 : 262144U * 48);
    return calls == 1 ? FlowTable::AllocateFromHeap(64) : FlowTable::Memory(nullptr, nullptr);
  });
  EXPECT_EQ(table, nullptr);
}

}  // namespace
}  // namespace penstock::lb

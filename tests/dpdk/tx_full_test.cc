// A transmit queue that takes some packets or none.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "tests/dpdk/ring_rig.h"
#include "tests/dpdk/scene.h"

namespace penstock::dpdk {
namespace {

using lb::Verdict;
using testing::Bytes;

constexpr unsigned kRoom = 64;  // of the transmit queue
constexpr unsigned kBurst = lb::kBurstSize;
constexpr std::size_t kOuter = 14 + 20;  // in front of a wrapped packet

class TxFull : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { rig_ = std::make_unique<RingRig>(kRoom); }
  static void TearDownTestSuite() { rig_.reset(); }

  TxFull() {
    EXPECT_TRUE(rig_->Publish(testing::OneService(&backend_)).acknowledged);
    Empty();
    before_ = Now();
  }
  ~TxFull() override {
    Empty();
    EXPECT_TRUE(rig_->Publish(testing::OneService(&nobody_)).acknowledged);
  }

  // Numbers of port 0.
  struct Numbers {
    uint64_t forwarded = 0;
    uint64_t dropped = 0;  // drop_tx_full
    uint64_t transmitted = 0;
    uint64_t own = 0;
    uint64_t own_dropped = 0;
  };
  static Numbers Now() {
    const lb::PortCounters& counters = rig_->counters(0);
    return {.forwarded = rig_->Count(Verdict::kForward),
            .dropped = rig_->Count(Verdict::kDropTxFull),
            .transmitted = counters.transmitted_packets.Read(),
            .own = counters.own_packets.Read(),
            .own_dropped = counters.own_tx_full.Read()};
  }
  // Since the last call, or the start of the test.
  Numbers Grown() {
    const Numbers now = Now();
    const Numbers grown{.forwarded = now.forwarded - before_.forwarded,
                        .dropped = now.dropped - before_.dropped,
                        .transmitted = now.transmitted - before_.transmitted,
                        .own = now.own - before_.own,
                        .own_dropped = now.own_dropped - before_.own_dropped};
    before_ = now;
    return grown;
  }

  static void Empty() {
    for (std::size_t port = 0; port < RingRig::kPorts; ++port) rig_->TakeSent(port);
  }
  // The queue then takes `room` packets.
  static void LeaveRoom(unsigned room) {
    Empty();
    Send(Packets(kRoom / 2));
    Send(Packets(kRoom / 2));
    ASSERT_EQ(rig_->SentCount(0), kRoom);
    ASSERT_EQ(rig_->TakeSent(0, room), room);
  }
  // To be wrapped, each of another flow.
  static std::vector<Bytes> Packets(unsigned count, std::size_t payload = 100) {
    std::vector<Bytes> frames;
    for (unsigned i = 0; i < count; ++i) {
      frames.push_back(
          testing::Frame({.source_port = static_cast<uint16_t>(1000 + i), .payload = payload}));
    }
    return frames;
  }
  static void Send(const std::vector<Bytes>& frames) {
    rig_->Feed(frames);
    ASSERT_TRUE(rig_->WaitDone());
  }

  static std::unique_ptr<RingRig> rig_;
  static lb::BackendCounters nobody_;  // counts between tests
  lb::BackendCounters backend_;
  Numbers before_;
};

std::unique_ptr<RingRig> TxFull::rig_;
lb::BackendCounters TxFull::nobody_;

TEST_F(TxFull, D05_WhatTheQueueDoesNotTakeIsCountedAndFreed) {
  for (unsigned room = 0; room <= kBurst; ++room) {
    LeaveRoom(room);
    (void)Grown();
    Send(Packets(kBurst));
    const Numbers grown = Grown();
    EXPECT_EQ(grown.forwarded, room);
    EXPECT_EQ(grown.transmitted, room);
    EXPECT_EQ(grown.dropped, kBurst - room);
    EXPECT_EQ(rig_->SentCount(0), kRoom);
    // Expect: only what waits in the queue is in use; a buffer may be on its way to the pool.
    EXPECT_TRUE(testing::Eventually([] {
      return rig_->BuffersInUse() == rig_->SentCount(0) + rig_->SentCount(1);
    })) << rig_->BuffersInUse();
  }
}

TEST_F(TxFull, TheFirstOfABurstLeaveInOrder) {
  LeaveRoom(kBurst / 2);
  const std::vector<Bytes> packets = Packets(kBurst, 7);
  Send(packets);
  std::vector<Bytes> sent = rig_->ReadSent(0);
  ASSERT_EQ(sent.size(), kRoom);
  sent.erase(sent.begin(), sent.end() - kBurst / 2);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const Bytes inner(sent[i].begin() + kOuter, sent[i].end());
    EXPECT_EQ(inner, Bytes(packets[i].begin() + 14, packets[i].end())) << i;
  }
}

TEST_F(TxFull, D05_SendingGoesOnOnceThereIsRoom) {
  LeaveRoom(0);
  (void)Grown();
  Send(Packets(kBurst));
  EXPECT_EQ(Grown().dropped, kBurst);
  Empty();
  Send(Packets(kBurst));
  const Numbers grown = Grown();
  EXPECT_EQ(grown.forwarded, kBurst);
  EXPECT_EQ(grown.dropped, 0U);
  EXPECT_EQ(rig_->SentCount(0), kBurst);
}

// Packets that have to be cut in two: the second parts are frames of our own making, and leave
// after all first parts.
TEST_F(TxFull, D05_FragmentsThatTheQueueDoesNotTakeAreCountedAndFreed) {
  constexpr unsigned kPackets = 16;
  for (unsigned room = 0; room <= 2 * kPackets; ++room) {
    LeaveRoom(room);
    (void)Grown();
    Send(Packets(kPackets, 1460));
    const Numbers grown = Grown();
    const unsigned first = std::min(room, kPackets);
    EXPECT_EQ(grown.forwarded, first);
    EXPECT_EQ(grown.dropped, kPackets - first);
    EXPECT_EQ(grown.own, room - first);
    EXPECT_EQ(grown.own_dropped, kPackets - (room - first));
    EXPECT_EQ(grown.transmitted, room);
    EXPECT_TRUE(testing::Eventually([] {
      return rig_->BuffersInUse() == rig_->SentCount(0) + rig_->SentCount(1);
    })) << rig_->BuffersInUse();
  }
}

TEST_F(TxFull, D05_AQueueThatTakesWhateverItLikesLosesNothingUncounted) {
  constexpr unsigned kBursts = 20000;
  std::mt19937 random(5);
  uint64_t taken = 0;
  for (unsigned i = 0; i < kBursts; ++i) {
    const std::size_t payload = random() % 8 == 0 ? 1460 : 10;
    Send(Packets(1 + random() % kBurst, payload));
    taken += rig_->TakeSent(0, static_cast<unsigned>(random() % (kBurst + 8)));
  }
  taken += rig_->TakeSent(0);
  const Numbers grown = Grown();
  EXPECT_EQ(grown.transmitted, taken);
  EXPECT_EQ(grown.forwarded + grown.own, taken);
  EXPECT_GT(grown.dropped, 0U);
  EXPECT_GT(grown.own_dropped, 0U);
  EXPECT_TRUE(testing::Eventually([] {
    rig_->TakeSent(1);
    return rig_->BuffersInUse() == 0;
  })) << rig_->BuffersInUse();
}

// Port 1 asks for its gateway each second, and its queue takes one.
TEST_F(TxFull, D05_OwnRequestsThatTheQueueDoesNotTakeAreCountedAndFreed) {
  const lb::PortCounters& silent = rig_->counters(1);
  const uint64_t lost = silent.own_tx_full.Read();
  ASSERT_TRUE(testing::Eventually([&] { return silent.own_tx_full.Read() > lost; }));
  EXPECT_EQ(rig_->BuffersInUse(), 1U);
  const uint64_t sent = silent.own_packets.Read();
  EXPECT_EQ(rig_->TakeSent(1), 1U);
  ASSERT_TRUE(testing::Eventually([&] { return silent.own_packets.Read() > sent; }));
  EXPECT_EQ(silent.own_packets.Read(), silent.transmitted_packets.Read());
}

}  // namespace
}  // namespace penstock::dpdk

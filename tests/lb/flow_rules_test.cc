#include "lb/flow_rules.h"

#include <gtest/gtest.h>

namespace penstock::lb {
namespace {

constexpr Service kService = {.id = 1, .tcp_idle_timeout = 900, .udp_idle_timeout = 30};

Backend BackendIn(AdminState state, bool healthy = true) {
  Backend b;
  b.takes_new_flows = state == AdminState::kActive && healthy;
  b.draining = state == AdminState::kDraining;
  b.healthy = healthy;
  b.routed = true;
  b.serves_tcp_flows = state != AdminState::kDisabled;
  b.serves_udp_flows = b.serves_tcp_flows && healthy;
  return b;
}

const Backend kActive = BackendIn(AdminState::kActive);
const Backend kDraining = BackendIn(AdminState::kDraining);
const Backend kDisabled = BackendIn(AdminState::kDisabled);
const Backend kUnhealthy = BackendIn(AdminState::kActive, false);
const Backend kRemoved = {};

FlowEntry SynOnly(base::Tick age) {
  return {.backend = 1, .age = age, .state = kFlowUsed};
}
FlowEntry Established(base::Tick age) {
  return {.backend = 1, .age = age, .state = kFlowUsed | kFlowSeenData | kFlowConfirmed};
}

bool Follows(PacketKind kind, const FlowEntry& entry, const Backend& backend) {
  return FollowsEntry(kind, entry, backend, kService);
}

TEST(FlowRules, FlagsNameTheKind) {
  const auto kind = [](uint8_t flags) {
    net::PacketView view;
    view.protocol = net::kProtocolTcp;
    view.tcp_flags = flags;
    return KindOf(view, net::kProtocolTcp);
  };
  EXPECT_EQ(kind(net::kTcpSyn), PacketKind::kSyn);
  EXPECT_EQ(kind(net::kTcpSyn | 0xC0), PacketKind::kSyn);  // ECN set-up (RFC 3168 section 6.1.1)
  EXPECT_EQ(kind(net::kTcpSyn | net::kTcpAck), PacketKind::kOdd);
  EXPECT_EQ(kind(net::kTcpSyn | net::kTcpFin), PacketKind::kOdd);
  EXPECT_EQ(kind(net::kTcpSyn | net::kTcpRst), PacketKind::kOdd);
  EXPECT_EQ(kind(0), PacketKind::kOdd);
  EXPECT_EQ(kind(0xC0), PacketKind::kOdd);
  EXPECT_EQ(kind(net::kTcpRst), PacketKind::kReset);
  EXPECT_EQ(kind(net::kTcpRst | net::kTcpAck), PacketKind::kReset);
  EXPECT_EQ(kind(net::kTcpAck), PacketKind::kData);
  EXPECT_EQ(kind(net::kTcpFin | net::kTcpAck), PacketKind::kData);
}

TEST(FlowRules, RetransmittedSynKeepsItsBackendFor130Seconds) {
  EXPECT_TRUE(Follows(PacketKind::kSyn, SynOnly(130), kActive));
  EXPECT_TRUE(Follows(PacketKind::kSyn, SynOnly(130), kDraining));
  EXPECT_FALSE(Follows(PacketKind::kSyn, SynOnly(131), kDraining));
  EXPECT_FALSE(Follows(PacketKind::kSyn, SynOnly(1), kUnhealthy));
  EXPECT_FALSE(Follows(PacketKind::kSyn, SynOnly(1), kDisabled));
  EXPECT_FALSE(Follows(PacketKind::kSyn, SynOnly(1), kRemoved));
}

// F03: a client that reuses a port does not follow the old entry to a draining backend.
TEST(FlowRules, F03_SynOnAnOldEntryChoosesAnewUnlessItsBackendTakesNewFlows) {
  EXPECT_TRUE(Follows(PacketKind::kSyn, Established(600), kActive));
  EXPECT_FALSE(Follows(PacketKind::kSyn, Established(kChallengeWindow + 1), kDraining));
  EXPECT_TRUE(Follows(PacketKind::kSyn, Established(kChallengeWindow), kDraining));
  EXPECT_FALSE(Follows(PacketKind::kSyn, Established(0), kUnhealthy));
}

TEST(FlowRules, MidStreamFollowsWhileTheBackendMayServe) {
  for (const PacketKind kind : {PacketKind::kData, PacketKind::kReset, PacketKind::kOdd}) {
    EXPECT_TRUE(Follows(kind, Established(3600), kActive));
    EXPECT_TRUE(Follows(kind, Established(3600), kDraining));
    EXPECT_TRUE(Follows(kind, Established(3600), kUnhealthy));  // keep_flows
    EXPECT_FALSE(Follows(kind, Established(0), kDisabled));
    EXPECT_FALSE(Follows(kind, Established(0), kRemoved));
  }
}

// F04: a UDP entry of a backend that is gone or down ends, however often it is refreshed.
TEST(FlowRules, F04_UdpFollowsUntilIdleAndNeverADeadBackend) {
  EXPECT_TRUE(Follows(PacketKind::kUdp, Established(30), kActive));
  EXPECT_FALSE(Follows(PacketKind::kUdp, Established(31), kActive));
  EXPECT_TRUE(Follows(PacketKind::kUdp, Established(1), kDraining));
  for (const Backend& b : {kUnhealthy, kDisabled, kRemoved}) {
    EXPECT_FALSE(Follows(PacketKind::kUdp, Established(0), b));
  }
}

TEST(FlowRules, AnEntryIsConfirmedByASecondPacketInALaterTick) {
  const auto after = [](uint8_t state, base::Tick age, PacketKind kind = PacketKind::kData) {
    return StateAfter(kind, net::kTcpAck, {.backend = 1, .age = age, .state = state});
  };
  const uint8_t seen = kFlowUsed | kFlowSeenData;
  EXPECT_EQ(after(kFlowUsed, 5), seen);  // the first packet that is no SYN
  EXPECT_EQ(after(seen, 0), seen);       // the same tick: may be one burst of a flood
  EXPECT_EQ(after(seen, 1), seen | kFlowConfirmed);
  EXPECT_EQ(after(kFlowUsed, 5, PacketKind::kSyn), kFlowUsed);  // SYNs never confirm
  EXPECT_EQ(after(seen, 5, PacketKind::kOdd), seen);
  EXPECT_EQ(after(seen, 1, PacketKind::kUdp), seen | kFlowConfirmed);
}

TEST(FlowRules, FinAndResetCloseAndSynReopens) {
  const FlowEntry entry = Established(0);
  const uint8_t closed = entry.state | kFlowClosing;
  EXPECT_EQ(StateAfter(PacketKind::kData, net::kTcpFin | net::kTcpAck, entry), closed);
  EXPECT_EQ(StateAfter(PacketKind::kReset, net::kTcpRst, entry), closed);
  EXPECT_EQ(StateAfter(PacketKind::kSyn, net::kTcpSyn, {1, 0, closed}), entry.state);
  // The other direction may go on for hours: data does not reopen, and does not need to.
  EXPECT_EQ(StateAfter(PacketKind::kData, net::kTcpAck, {1, 0, closed}), closed);
}

TEST(FlowRules, MidStreamGoesToThePreviousOwnerAndNewFlowsToTheCurrent) {
  const Slot slot = {.current = 1, .previous = 2};
  EXPECT_EQ(OwnerFor(PacketKind::kSyn, slot, Tracking::kFull), 1);
  EXPECT_EQ(OwnerFor(PacketKind::kUdp, slot, Tracking::kFull), 1);
  EXPECT_EQ(OwnerFor(PacketKind::kData, slot, Tracking::kFull), 2);
  EXPECT_EQ(OwnerFor(PacketKind::kReset, slot, Tracking::kFull), 2);
  EXPECT_EQ(OwnerFor(PacketKind::kData, {.current = 1}, Tracking::kFull), 1);
}

TEST(FlowRules, WithoutTrackingTheCurrentOwnerGetsAll) {
  const Slot slot = {.current = 1, .previous = 2};
  for (const PacketKind kind : {PacketKind::kSyn, PacketKind::kUdp, PacketKind::kData,
                                PacketKind::kReset, PacketKind::kOdd}) {
    EXPECT_EQ(OwnerFor(kind, slot, Tracking::kNone), 1);
  }
  EXPECT_EQ(OwnerFor(PacketKind::kData, slot, Tracking::kTransitionOnly), 2);
}

TEST(FlowRules, TrackingSaysWhatIsRecorded) {
  const Slot settled = {.current = 1};
  const Slot changed = {.current = 1, .previous = 2};
  for (const PacketKind kind : {PacketKind::kSyn, PacketKind::kUdp, PacketKind::kData}) {
    EXPECT_TRUE(Records(kind, Tracking::kFull, settled, false));
    EXPECT_FALSE(Records(kind, Tracking::kNone, changed, true));
    EXPECT_TRUE(Records(kind, Tracking::kTransitionOnly, changed, false));
    EXPECT_FALSE(Records(kind, Tracking::kTransitionOnly, settled, false));
    EXPECT_TRUE(Records(kind, Tracking::kTransitionOnly, settled, true));  // the entry would lie
  }
  EXPECT_FALSE(Records(PacketKind::kReset, Tracking::kFull, changed, true));
}

TEST(FlowRules, WhatCreatesAnEntry) {
  EXPECT_TRUE(Creates(PacketKind::kSyn));
  EXPECT_TRUE(Creates(PacketKind::kData));
  EXPECT_TRUE(Creates(PacketKind::kUdp));
  EXPECT_FALSE(Creates(PacketKind::kReset));
  EXPECT_FALSE(Creates(PacketKind::kOdd));
}

}  // namespace
}  // namespace penstock::lb

// What a service says about its flows: tracking, rate_limit, idle_timeout.

#include <gtest/gtest.h>

#include "tests/lb/fixture.h"
#include "tests/support/icmp.h"

namespace penstock::lb {
namespace {

using testing::PacketSpec;

constexpr uint16_t kPort = 443;

class FlowLimits : public World {
 protected:
  // A service of the web pool at port 443 of the VIP of `address`'s family.
  void AddWith(const Service& like, uint8_t protocol = net::kProtocolTcp,
               const char* address = "203.0.113.10", uint16_t port = kPort) {
    Service service = like;
    service.new_flows = &windows_[more_services_.size()];
    Add({.vip = {.prefix = *net::IpPrefix::Parse(address),
                 .protocol = protocol,
                 .ports = {{port, port}}},
         .service = service,
         .deny = {},
         .outer_source = {}});
  }
  static PacketSpec Tcp(uint16_t source_port, uint8_t flags = net::kTcpSyn) {
    PacketSpec spec;
    spec.source_port = source_port;
    spec.destination_port = kPort;
    spec.tcp_flags = flags;
    return spec;
  }
  static PacketSpec Udp(uint16_t source_port) {
    PacketSpec spec = Tcp(source_port);
    spec.protocol = net::kProtocolUdp;
    return spec;
  }
  // How many of `count` packets from ports behind `first` get through; the others have to be
  // dropped for the limit.
  int Through(int count, PacketSpec spec, uint16_t first) {
    int through = 0;
    for (int i = 0; i < count; ++i) {
      spec.source_port = static_cast<uint16_t>(first + i);
      const Verdict verdict = Send(spec).verdict;
      EXPECT_TRUE(verdict == Verdict::kForward || verdict == Verdict::kDropRateLimited);
      through += verdict == Verdict::kForward ? 1 : 0;
    }
    return through;
  }
  uint64_t Size() const { return flows_->v4().size(); }
  void Sweep() { SweepFlows(Context(), flows_->v4().bucket_count()); }

  std::array<NewFlowWindow, 8> windows_;
};

TEST_F(FlowLimits, WithoutTrackingNoEntryIsMadeAndTheTableDecides) {
  AddWith({.tracking = Tracking::kNone});
  AddWith({.tracking = Tracking::kNone}, net::kProtocolUdp);
  const net::IpAddress drained = BackendOf(Tcp(1));
  const net::IpAddress udp = BackendOf(Udp(1));
  MemberAt(drained).state = AdminState::kDraining;
  Rebuild();
  // Expect: a drain moves flows at once, and handshakes stay together in slots that changed hands.
  for (uint16_t port = 1; port < 300; ++port) {
    const net::IpAddress backend = BackendOf(Tcp(port));
    ASSERT_NE(backend, drained);
    ASSERT_EQ(BackendOf(Tcp(port, net::kTcpAck)), backend);
    const auto error =
        Send(testing::IcmpFrame({.body = testing::AnswerOf(Tcp(port, net::kTcpAck))}));
    ASSERT_EQ(OuterDestination(error), backend);
  }
  EXPECT_EQ(BackendOf(Udp(1)) == udp, udp != drained);
  EXPECT_EQ(Size(), 0U);
  EXPECT_EQ(Events(FlowEvent::kMiss), 0U);
}

TEST_F(FlowLimits, EntriesAreIgnoredAndSweptOnceTrackingEnds) {
  AddWith({});
  const net::IpAddress old = BackendOf(Tcp(1));
  ASSERT_EQ(Size(), 1U);
  MemberAt(old).state = AdminState::kDraining;
  more_services_.front().service.tracking = Tracking::kNone;
  Rebuild();
  EXPECT_NE(BackendOf(Tcp(1, net::kTcpAck)), old);
  EXPECT_EQ(Size(), 1U);
  Sweep();
  EXPECT_EQ(Size(), 0U);
  EXPECT_EQ(counters_[ids_[old]][0].live_flows.Read(), 0U);
}

TEST_F(FlowLimits, TransitionOnlyRecordsFlowsOfSlotsThatChangedHands) {
  AddWith({.tracking = Tracking::kTransitionOnly});
  std::map<uint16_t, net::IpAddress> before;
  for (uint16_t port = 1; port < 300; ++port) before[port] = BackendOf(Tcp(port));
  EXPECT_EQ(Size(), 0U);
  const net::IpAddress drained = before[1];
  MemberAt(drained).state = AdminState::kDraining;
  Rebuild();
  std::map<uint16_t, net::IpAddress> fresh;
  uint64_t moved = 0;
  for (uint16_t port = 1000; port < 1300; ++port) {
    fresh[port] = BackendOf(Tcp(port));
    ASSERT_EQ(BackendOf(Tcp(port, net::kTcpAck)), fresh[port]);
    moved = Size();
  }
  // Expect: a third of the slots were the drained backend's.
  EXPECT_GT(moved, 60U);
  EXPECT_LT(moved, 140U);
  for (const auto& [port, backend] : before) {
    ASSERT_EQ(BackendOf(Tcp(port, net::kTcpAck)), backend);
  }
  // Expect: entries that exist are followed when the slot is its owner's again.
  MemberAt(drained).state = AdminState::kActive;
  Rebuild();
  for (const auto& [port, backend] : fresh) {
    ASSERT_EQ(BackendOf(Tcp(port, net::kTcpAck)), backend);
  }
}

TEST_F(FlowLimits, TransitionOnlyRenewsAnEntryThatIsNotFollowed) {
  AddWith({});
  const net::IpAddress old = BackendOf(Tcp(1));
  more_services_.front().service.tracking = Tracking::kTransitionOnly;
  MemberAt(old).state = AdminState::kDisabled;  // no previous owner
  Rebuild();
  const net::IpAddress fresh = BackendOf(Tcp(1, net::kTcpAck));
  EXPECT_NE(fresh, old);
  MemberAt(old).state = AdminState::kActive;
  Rebuild();
  EXPECT_EQ(BackendOf(Tcp(1, net::kTcpAck)), fresh);
}

TEST_F(FlowLimits, TotalLimitsNewConnectionsASecondAndNothingElse) {
  AddWith({.new_flow_rate = {.total = 10}});
  EXPECT_EQ(Through(30, Tcp(0), 1), 10);
  EXPECT_EQ(Size(), 10U);  // a refused SYN leaves no entry
  // Retransmissions, what is behind them, and flows that this host does not know get through.
  EXPECT_EQ(Through(10, Tcp(0), 1), 10);
  EXPECT_EQ(Through(30, Tcp(0, net::kTcpAck), 1), 30);
  EXPECT_EQ(Through(100, Tcp(0, net::kTcpAck), 1000), 100);
  EXPECT_EQ(Through(10, Tcp(0), 500), 0);
  ++now_;
  EXPECT_EQ(Through(30, Tcp(0), 500), 10);
}

TEST_F(FlowLimits, PerSourceLimitsEachSourceAlone) {
  AddWith({.new_flow_rate = {.per_source = 5}});
  for (int host = 1; host < 50; ++host) {
    PacketSpec spec = Tcp(0);
    spec.source = "192.0.2." + std::to_string(host);
    EXPECT_EQ(Through(20, spec, 1), 5);
  }
}

TEST_F(FlowLimits, AnIpv6SourceIsItsNetwork) {
  AddWith({.new_flow_rate = {.per_source = 5}}, net::kProtocolTcp, "2001:db8:53::10");
  PacketSpec spec = Tcp(0);
  spec.destination = "2001:db8:53::10";
  int through = 0;
  for (int host = 1; host < 50; ++host) {
    spec.source = "2001:db8:1:2::" + std::to_string(host);
    through += Through(1, spec, 1);
  }
  EXPECT_EQ(through, 5);
  spec.source = "2001:db8:1:3::1";
  EXPECT_EQ(Through(20, spec, 1), 5);
}

TEST_F(FlowLimits, UdpFlowsThatBeginCount) {
  AddWith({.udp_idle_timeout = 10, .new_flow_rate = {.total = 4}}, net::kProtocolUdp);
  EXPECT_EQ(Through(20, Udp(0), 1), 4);
  EXPECT_EQ(Size(), 4U);
  EXPECT_EQ(Through(4, Udp(0), 1), 4);
  EXPECT_EQ(Through(4, Udp(0), 1), 4);
  // One that was idle begins again, whether or not the sweep has been there.
  now_ += 11;
  EXPECT_EQ(Through(4, Udp(0), 100), 4);
  EXPECT_EQ(Through(4, Udp(0), 1), 0);
}

TEST_F(FlowLimits, ADatagramWhoseBackendIsGoneBeginsNothing) {
  AddWith({.new_flow_rate = {.total = 40}}, net::kProtocolUdp);
  EXPECT_EQ(Through(40, Udp(0), 1), 40);
  MemberAt(BackendOf(Udp(1))).healthy = false;
  Rebuild();
  EXPECT_EQ(Through(40, Udp(0), 1), 40);
}

// P2 of the product: a full table refuses nobody.
TEST_F(FlowLimits, ADatagramWithoutRoomForAnEntryIsNotLimited) {
  flows_ = FlowTable::Create({.v4_entries = 8, .v6_entries = 8}, FlowTable::AllocateFromHeap);
  AddWith({.new_flow_rate = {.total = 1}}, net::kProtocolUdp);
  PacketSpec other = Tcp(0, net::kTcpAck);
  other.destination_port = 80;
  for (uint16_t port = 1; port <= 8; ++port) {
    other.source_port = port;
    BackendOf(other);
    ++now_;
    BackendOf(other);
  }
  ASSERT_EQ(Size(), 8U);
  EXPECT_EQ(Through(50, Udp(0), 1), 50);
}

TEST_F(FlowLimits, WithoutTrackingEverySynCounts) {
  AddWith({.tracking = Tracking::kNone, .new_flow_rate = {.total = 3}});
  PacketSpec spec = Tcp(1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Send(spec).verdict, Verdict::kForward);
  EXPECT_EQ(Send(spec).verdict, Verdict::kDropRateLimited);
  EXPECT_EQ(Send(Tcp(1, net::kTcpAck)).verdict, Verdict::kForward);
}

// Limits do not begin anew with a generation, and are the service's own.
TEST_F(FlowLimits, ASecondGoesOnWhenTheConfigurationChanges) {
  AddWith({.new_flow_rate = {.total = 10}});
  AddWith({.new_flow_rate = {.total = 10}}, net::kProtocolTcp, "203.0.113.10", 444);
  EXPECT_EQ(Through(6, Tcp(0), 1), 6);
  Rebuild();
  EXPECT_EQ(Through(20, Tcp(0), 100), 4);
  PacketSpec other = Tcp(0);
  other.destination_port = 444;
  EXPECT_EQ(Through(20, other, 100), 10);
}

TEST_F(FlowLimits, WhatIsDroppedAnywayDoesNotCount) {
  AddWith({.new_flow_rate = {.total = 2}});
  PacketSpec loop = Tcp(0);
  loop.source = "10.2.1.2";  // the port's own
  for (uint16_t port = 1; port < 50; ++port) {
    loop.source_port = port;
    ASSERT_EQ(Send(loop).verdict, Verdict::kDropLoop);
  }
  EXPECT_EQ(Through(20, Tcp(0), 1), 2);
  for (PoolMember& m : web_.members) m.state = AdminState::kDisabled;
  Rebuild();
  EXPECT_EQ(Send(Tcp(100)).verdict, Verdict::kDropNoBackend);
}

TEST_F(FlowLimits, EachServiceHasItsOwnIdleTimeouts) {
  AddWith({.tcp_idle_timeout = 60});
  AddWith({.tcp_idle_timeout = 600}, net::kProtocolTcp, "203.0.113.10", 444);
  AddWith({.udp_idle_timeout = 5}, net::kProtocolUdp);
  AddWith({.udp_idle_timeout = 50}, net::kProtocolUdp, "203.0.113.10", 444);
  for (PacketSpec spec : {Tcp(1, net::kTcpAck), Udp(1)}) {
    BackendOf(spec);
    spec.destination_port = 444;
    BackendOf(spec);
  }
  base::Tick age = 0;
  const auto left_after = [&](base::Tick next) {
    now_ += next - age;
    age = next;
    Sweep();
    return Size();
  };
  EXPECT_EQ(left_after(5), 4U);
  EXPECT_EQ(left_after(6), 3U);
  EXPECT_EQ(left_after(50), 3U);
  EXPECT_EQ(left_after(51), 2U);
  EXPECT_EQ(left_after(60), 2U);
  EXPECT_EQ(left_after(61), 1U);
  EXPECT_EQ(left_after(600), 1U);
  EXPECT_EQ(left_after(601), 0U);
}

}  // namespace
}  // namespace penstock::lb

// Faults of other load balancers' flow tables, by their ids (tests/faults.txt).

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "tests/lb/fixture.h"
#include "tests/lb/flood.h"
#include "tests/support/icmp.h"

namespace penstock::lb {
namespace {

using testing::PacketSpec;
using Flows = std::map<int, net::IpAddress>;

net::IpAddress Member(int n) {
  return testing::Ip("10.3." + std::to_string(n) + ".2");
}

PacketSpec Flow(int n, uint8_t flags, uint8_t protocol = net::kProtocolTcp) {
  PacketSpec spec;
  spec.source = "198.18." + std::to_string(n / 250) + "." + std::to_string(n % 250 + 1);
  spec.tcp_flags = flags;
  spec.protocol = protocol;
  return spec;
}
PacketSpec Udp(int n) {
  return Flow(n, 0, net::kProtocolUdp);
}

class FlowFaults : public World {
 protected:
  void Grow(std::size_t entries) {
    flows_ =
        FlowTable::Create({.v4_entries = entries, .v6_entries = 8}, FlowTable::AllocateFromHeap);
  }
  void SetMembers(std::initializer_list<int> numbers) {
    web_.members.clear();
    for (const int n : numbers) web_.members.push_back({.address = Member(n)});
    Rebuild();
  }
  Flows Establish(int count) {
    Flows flows;
    for (int n = 0; n < count; ++n) {
      flows[n] = BackendOf(Flow(n, net::kTcpSyn));
      EXPECT_EQ(BackendOf(Flow(n, net::kTcpAck)), flows[n]);
      if (n % 500 != 499) continue;
      ++now_;
      for (int m = n - 499; m <= n; ++m) BackendOf(Flow(m, net::kTcpAck));
    }
    return flows;
  }
  void Sweep() { SweepFlows(Context(), flows_->v4().bucket_count()); }
  // Flows not at `gone` are where they were; the others are with somebody of the pool.
  void ExpectOnlyMovedFrom(const net::IpAddress& gone, const Flows& flows) {
    int moved = 0;
    for (const auto& [n, backend] : flows) {
      const net::IpAddress now = BackendOf(Flow(n, net::kTcpAck));
      if (backend != gone) {
        ASSERT_EQ(now, backend) << n;
      } else {
        ASSERT_NE(now, gone) << n;
        ++moved;
      }
    }
    EXPECT_GT(moved, static_cast<int>(flows.size()) / 16);
  }
};

// F01: what comes back after it was removed is somebody new, and the old entry leads nowhere.
TEST_F(FlowFaults, F01_AReAddedBackendGetsItsFlowsByTheTable) {
  const net::IpAddress backend = BackendOf(Flow(1, net::kTcpSyn));
  const BackendId old = ids_[backend];
  const auto members = web_.members;
  std::erase_if(web_.members, [&](const PoolMember& m) { return m.address == backend; });
  Rebuild();
  web_.members = members;
  ids_[backend] = 77;
  Rebuild();
  EXPECT_EQ(BackendOf(Flow(1, net::kTcpAck)), backend);
  EXPECT_EQ(Events(FlowEvent::kRepicked), 1U);
  EXPECT_EQ(counters_[77][0].live_flows.Read(), 1U);
  EXPECT_EQ(counters_[77][0].packets.Read(), 1U);
  EXPECT_EQ(counters_[old][0].packets.Read(), 1U);
}

// F01: a service that comes back under the same addresses is another one, whatever its backends.
TEST_F(FlowFaults, F01_AReAddedServiceFollowsNoEntryOfTheOldOne) {
  ServiceTableSpec::ServiceSpec service = {.vip = {.prefix = *net::IpPrefix::Parse("203.0.113.77"),
                                                   .protocol = net::kProtocolTcp,
                                                   .ports = {{80, 80}}},
                                           .service = {.pool = 0},
                                           .deny = {},
                                           .outer_source = {}};
  Add(service);
  PacketSpec spec = Flow(1, net::kTcpSyn);
  spec.destination = "203.0.113.77";
  BackendOf(spec);
  more_services_.clear();
  Rebuild();
  EXPECT_EQ(Send(spec).verdict, Verdict::kDropNotVip);
  service.service.id = 200;
  service.service.pool = 1;
  more_services_ = {service};
  Rebuild();
  spec.tcp_flags = net::kTcpAck;
  EXPECT_FALSE(BackendOf(spec).IsV4());  // pool 1
  EXPECT_EQ(Events(FlowEvent::kHit), 0U);
  Sweep();
  EXPECT_EQ(flows_->v4().size(), 1U);
}

// F02: of 8 backends, the third goes and a ninth comes, in one change and in two.
TEST_F(FlowFaults, F02_RemovingAndAddingBackendsMovesNobodyElse) {
  Grow(65536);
  SetMembers({1, 2, 3, 4, 5, 6, 7, 8});
  Flows flows = Establish(10000);
  SetMembers({1, 2, 4, 5, 6, 7, 8, 9});
  ExpectOnlyMovedFrom(Member(3), flows);

  Grow(65536);
  SetMembers({1, 2, 3, 4, 5, 6, 7, 8});
  flows = Establish(10000);
  SetMembers({1, 2, 4, 5, 6, 7, 8});
  ExpectOnlyMovedFrom(Member(3), flows);
  SetMembers({9, 8, 7, 6, 5, 4, 2, 1});
  ExpectOnlyMovedFrom(Member(3), flows);
}

// F03: retransmissions stay together, a new connection from an old port follows nobody who leaves,
// and no packet is lost meanwhile.
TEST_F(FlowFaults, F03_PortReuseInEachStateOfTheOldBackend) {
  const auto reuse = [&](auto&& change) {
    const net::IpAddress old = BackendOf(Flow(1, net::kTcpSyn));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(BackendOf(Flow(1, net::kTcpSyn)), old);
    EXPECT_EQ(BackendOf(Flow(1, net::kTcpAck)), old);
    now_ += 60;
    change(old);
    Rebuild();
    const net::IpAddress fresh = BackendOf(Flow(1, net::kTcpSyn));
    for (int i = 0; i < 5; ++i) {
      ++now_;
      EXPECT_EQ(BackendOf(Flow(1, net::kTcpSyn)), fresh);
    }
    EXPECT_EQ(BackendOf(Flow(1, net::kTcpAck)), fresh);
    return fresh == old;
  };
  EXPECT_TRUE(reuse([](const net::IpAddress&) {}));
  EXPECT_FALSE(reuse([&](const auto& old) { MemberAt(old).state = AdminState::kDraining; }));
  for (PoolMember& m : web_.members) m.state = AdminState::kActive;
  Rebuild();
  EXPECT_FALSE(reuse([&](const auto& old) { MemberAt(old).healthy = false; }));
  for (PoolMember& m : web_.members) m.healthy = true;
  Rebuild();
  EXPECT_FALSE(reuse([&](const auto& old) {
    std::erase_if(web_.members, [&](const PoolMember& m) { return m.address == old; });
  }));
}

// F04: ten packets a second from one port do not hold on to a backend that is gone or down.
TEST_F(FlowFaults, F04_ABusyUdpFlowLeavesADeadBackendWithItsNextPacket) {
  const auto leaves = [&](int n, auto&& change) {
    const net::IpAddress old = BackendOf(Udp(n));
    for (int i = 0; i < 30; ++i) {
      if (i % 10 == 9) ++now_;
      EXPECT_EQ(BackendOf(Udp(n)), old);
    }
    const auto members = web_.members;
    change(old);
    Rebuild();
    const net::IpAddress fresh = BackendOf(Udp(n));
    // Expect: errors about the flow go where it goes.
    EXPECT_EQ(OuterDestination(Send(testing::IcmpFrame({.body = testing::AnswerOf(Udp(n))}))),
              fresh);
    web_.members = members;
    Rebuild();
    EXPECT_EQ(BackendOf(Udp(n)), fresh);  // it is fresh's from now on
    return fresh != old;
  };
  EXPECT_TRUE(leaves(1, [&](const auto& old) { MemberAt(old).healthy = false; }));
  EXPECT_TRUE(leaves(2, [&](const auto& old) { MemberAt(old).state = AdminState::kDisabled; }));
  EXPECT_TRUE(leaves(3, [&](const auto& old) {
    std::erase_if(web_.members, [&](const PoolMember& m) { return m.address == old; });
  }));
  EXPECT_FALSE(leaves(4, [&](const auto& old) { MemberAt(old).state = AdminState::kDraining; }));
}

// F09: idle for two hours, while ten times as many flows come as the table has entries.
class LongIdle : public FlowFaults {
 protected:
  LongIdle() { SetMembers({1, 2, 3, 4, 5, 6, 7, 8}); }
  // A confirmed flow at port `port` that then falls silent.
  net::IpAddress FallSilent(uint16_t port) {
    PacketSpec spec = Flow(1, net::kTcpSyn);
    spec.destination_port = port;
    const net::IpAddress backend = BackendOf(spec);
    for (int i = 0; i < 2; ++i, ++now_) EXPECT_EQ(AckOf(port), backend);
    Flood flood(FloodKind::kSyn, 1);
    for (int step = 0; step < 120; ++step) {
      flood.Send(Context(), 10 * 4096 / 120);
      now_ += 60;
      Sweep();
    }
    return backend;
  }
  net::IpAddress AckOf(uint16_t port) {
    PacketSpec spec = Flow(1, net::kTcpAck);
    spec.destination_port = port;
    return BackendOf(spec);
  }
};

TEST_F(LongIdle, F09_InAnUnchangedPoolTheTableKeepsIt) {
  const net::IpAddress backend = FallSilent(80);
  const uint64_t misses = Events(FlowEvent::kMissMidStream);
  EXPECT_EQ(AckOf(80), backend);
  EXPECT_EQ(Events(FlowEvent::kMissMidStream), misses + 1);
  // Expect: only mid-stream packets are counted so, and only without an entry.
  EXPECT_EQ(AckOf(80), backend);
  BackendOf(Flow(9, net::kTcpSyn));
  EXPECT_EQ(Events(FlowEvent::kMissMidStream), misses + 1);
}

TEST_F(LongIdle, F09_AfterAChangeItGoesToTodaysOwnerAndIsCounted) {
  FallSilent(80);
  SetMembers({1, 3, 5, 7, 9, 11});
  const uint64_t misses = Events(FlowEvent::kMissMidStream);
  const net::IpAddress backend = AckOf(80);
  EXPECT_EQ(Events(FlowEvent::kMissMidStream), misses + 1);
  Grow(64);
  EXPECT_EQ(BackendOf(Flow(1, net::kTcpSyn)), backend);
}

TEST_F(LongIdle, F09_WithALongerIdleTimeoutItsEntryKeepsItWhateverChanges) {
  Add({.vip = {.prefix = *net::IpPrefix::Parse("203.0.113.10"),
               .protocol = net::kProtocolTcp,
               .ports = {{443, 443}}},
       .service = {.tcp_idle_timeout = 3 * 3600},
       .deny = {},
       .outer_source = {}});
  const net::IpAddress backend = FallSilent(443);
  std::erase_if(web_.members, [&](const PoolMember& m) { return m.address != backend; });
  web_.members.push_back({.address = Member(9), .weight = 60000});
  Rebuild();
  EXPECT_EQ(AckOf(443), backend);
  EXPECT_EQ(Events(FlowEvent::kMissMidStream), 0U);
}

// F11: whatever was in the memory before, a flow has one entry and finds it.
[[gnu::noinline]] void PoisonStack(uint8_t with) {
  volatile uint8_t bytes[32768];
  for (std::size_t i = 0; i < sizeof(bytes); ++i) bytes[i] = with;
}

TEST_F(FlowFaults, F11_PoisonedMemoryMakesNoSecondEntry) {
  std::vector<testing::Bytes> frames;
  for (int n = 0; n < kBurstSize; ++n) {
    PacketSpec spec = Flow(n, net::kTcpAck);
    if (n % 2 == 1) {
      spec.source = "2001:db8:9::" + std::to_string(n);
      spec.destination = "2001:db8:53::10";
    }
    frames.push_back(testing::Frame(spec));
  }
  std::vector<std::array<uint8_t, 320>> buffers(kBurstSize);
  constexpr int kBursts = 1000000 / kBurstSize;
  for (int round = 0; round < kBursts; ++round) {
    const uint8_t poison = round % 2 == 0 ? 0xA5 : static_cast<uint8_t>(round);
    PacketBurst burst;
    std::memset(static_cast<void*>(&burst), poison, sizeof(burst));
    burst.count = kBurstSize;
    burst.port = 0;
    for (std::size_t i = 0; i < kBurstSize; ++i) {
      std::memcpy(buffers[i].data() + 128, frames[i].data(), frames[i].size());
      burst.data[i] = buffers[i].data() + 128;
      burst.length[i] = static_cast<uint16_t>(frames[i].size());
      burst.headroom[i] = 128;
      burst.tailroom[i] = 64;
      burst.flags[i] = 0;
    }
    if (round % 16 == 0) PoisonStack(poison);
    ForwardBurst(Context(), burst);
  }
  EXPECT_EQ(flows_->v4().size(), kBurstSize / 2U);
  EXPECT_EQ(flows_->v6().size(), kBurstSize / 2U);
  EXPECT_EQ(Events(FlowEvent::kMiss), static_cast<uint64_t>(kBurstSize));
  EXPECT_EQ(Events(FlowEvent::kHit), static_cast<uint64_t>(kBursts - 1) * kBurstSize);
}

// H02: who has weight 0 gets nobody on any path, and who drains or is down nobody who is new.
class NoNewFlows : public FlowFaults {
 protected:
  // Packets of `count` flows for each path; returns how many of them reach `backend`.
  int Reach(const net::IpAddress& backend, int count, bool only_new) {
    std::vector<testing::Bytes> kinds;
    int reached = 0;
    for (int n = 0; n < count; ++n) {
      kinds = {testing::Frame(Flow(n, net::kTcpSyn)), testing::Frame(Udp(n))};
      if (!only_new) {
        // Errors before entries are there, then packets in mid-stream, resets and nonsense.
        kinds.insert(kinds.begin(), IcmpOf(Flow(n + 20000, 0)));
        kinds.insert(kinds.begin(), IcmpOf(Udp(n + 20000)));
        for (const int flags : {0x10, 0x04, 0x12, 0x00}) {
          const PacketSpec spec = Flow(n + 10000 + flags, static_cast<uint8_t>(flags));
          kinds.push_back(testing::Frame(spec));
        }
      }
      for (const testing::Bytes& frame : kinds) {
        const Outcome outcome = Send(frame);
        EXPECT_EQ(outcome.verdict, Verdict::kForward);
        if (outcome.verdict == Verdict::kForward && OuterDestination(outcome) == backend) ++reached;
      }
    }
    return reached;
  }
  static testing::Bytes IcmpOf(const PacketSpec& flow) {
    return testing::IcmpFrame({.body = testing::AnswerOf(flow)});
  }
};

TEST_F(NoNewFlows, H02_WeightZeroIsReachedByNoPath) {
  SetMembers({1, 2, 3, 4});
  MemberAt(Member(2)).weight = 0;
  Rebuild();
  EXPECT_EQ(Reach(Member(2), 3000, false), 0);
  EXPECT_GT(Reach(Member(3), 3000, false), 0);
}

TEST_F(NoNewFlows, H02_DrainingAndDownAreReachedByNothingNew) {
  SetMembers({1, 2, 3, 4});
  MemberAt(Member(2)).state = AdminState::kDraining;
  MemberAt(Member(3)).healthy = false;
  Rebuild();
  EXPECT_EQ(Reach(Member(2), 3000, true), 0);
  Grow(4096);
  EXPECT_EQ(Reach(Member(3), 3000, true), 0);
  Grow(4096);
  MemberAt(Member(2)).state = AdminState::kDisabled;
  Rebuild();
  EXPECT_EQ(Reach(Member(2), 3000, false), 0);
}

TEST_F(NoNewFlows, H02_AllWeightsZeroIsAnEmptyPoolOnEveryPath) {
  for (PoolMember& m : web_.members) m.weight = 0;
  Rebuild();
  for (const testing::Bytes& frame :
       {testing::Frame(Flow(1, net::kTcpSyn)), testing::Frame(Flow(2, net::kTcpAck)),
        testing::Frame(Flow(2, net::kTcpRst)), testing::Frame(Udp(3)), IcmpOf(Flow(4, 0)),
        IcmpOf(Udp(5))}) {
    EXPECT_EQ(Send(frame).verdict, Verdict::kDropNoBackend);
  }
  EXPECT_EQ(flows_->v4().size(), 0U);
}

}  // namespace
}  // namespace penstock::lb

// Packets that come to another worker than their flow: ICMP errors, fragments, moved queues.

#include "tests/lb/workers.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/icmp.h"

namespace penstock::lb {
namespace {

using testing::Bytes;
using testing::FragmentFrames;
using testing::PacketSpec;

class WorkersTest : public Workers {
 protected:
  static PacketSpec Flow(uint16_t port, uint8_t flags, bool v6 = false) {
    PacketSpec spec;
    if (v6) {
      spec.source = "2001:db8:c::1";
      spec.destination = "2001:db8:53::10";
    }
    spec.source_port = port;
    spec.tcp_flags = flags;
    return spec;
  }
  // A datagram of three fragments.
  static PacketSpec Datagram(uint16_t port, bool v6 = false) {
    PacketSpec spec = Flow(port, 0, v6);
    spec.protocol = net::kProtocolUdp;
    spec.payload = 1000;
    return spec;
  }
  // Opens connections at `worker` and drains the backend of the first; flows of it whose slot has
  // another owner now.
  std::vector<uint16_t> FlowsOfDrained(std::size_t worker, net::IpAddress& drained) {
    std::map<uint16_t, net::IpAddress> all;
    for (uint16_t port = 1; port <= 60; ++port) {
      all[port] = BackendAt(worker, Flow(port, net::kTcpSyn));
      EXPECT_EQ(BackendAt(worker, Flow(port, net::kTcpAck)), all[port]);
    }
    drained = all[1];
    std::vector<uint16_t> ports;
    for (const auto& [port, backend] : all) {
      if (backend == drained) ports.push_back(port);
    }
    MemberAt(drained).state = AdminState::kDraining;
    Rebuild();
    return ports;
  }
  void RemoveFromPool(const net::IpAddress& address) {
    std::erase_if(web_.members, [&](const PoolMember& m) { return m.address == address; });
    Rebuild();
  }
};

// I03: the pool has changed, and the error comes to a worker that has never seen the flow.
TEST_F(WorkersTest, I03_IcmpErrorsFindTheFlowsBackendFromAnyWorker) {
  // New flows of a drained backend: their SYN is recorded, and the table would send others, in
  // mid-stream, to the drained one.
  net::IpAddress drained;
  FlowsOfDrained(2, drained);
  int differ = 0;
  for (uint16_t port = 1000; port < 1100; ++port) {
    const PacketSpec flow = Flow(port, net::kTcpSyn);
    const net::IpAddress backend = BackendAt(2, flow);
    ASSERT_NE(backend, drained);
    const testing::IcmpSpec error{.body = testing::Cut(testing::AnswerOf(flow), 28)};
    ASSERT_EQ(BackendAt(0, testing::IcmpFrame(error)), backend);
    // What a worker without peers would have said.
    if (OuterDestination(Send(testing::IcmpFrame(error))) != backend) ++differ;
  }
  EXPECT_GT(differ, 10);
  EXPECT_EQ(tables_[0]->v4().size(), 0U);  // no trace
}

TEST_F(WorkersTest, MidStreamPacketsFollowTheirFlowToAnotherQueue) {
  net::IpAddress drained;
  FlowsOfDrained(1, drained);
  for (uint16_t port = 1000; port < 1100; ++port) {
    const net::IpAddress backend = BackendAt(1, Flow(port, net::kTcpSyn));
    ASSERT_EQ(BackendAt(3, Flow(port, net::kTcpAck)), backend);
    ASSERT_EQ(BackendAt(3, Flow(port, net::kTcpAck)), backend);
  }
  EXPECT_GE(Events(FlowEvent::kPeerHit), 100U);
}

TEST_F(WorkersTest, P09_FragmentsInAnyOrderFollowTheFirst) {
  std::mt19937 random(7);
  for (uint16_t n = 1; n <= 300; ++n) {
    const bool v6 = n % 2 == 0;
    const PacketSpec spec = Datagram(n, v6);
    const net::IpAddress expected = BackendAt(n % 4, spec);  // a whole packet of the flow
    std::vector<Bytes> frames = FragmentFrames(spec, 400, n);
    std::vector<std::size_t> order = {0, 1, 2,
                                      static_cast<std::size_t>(random() % 3)};  // one twice
    std::shuffle(order.begin(), order.end(), random);
    std::size_t out = 0;
    for (const std::size_t i : order) {
      const std::size_t worker = random() % kCount;
      const Outcome o = SendTo(worker, frames[i]);
      if (o.verdict == Verdict::kHold) continue;
      ASSERT_EQ(o.verdict, Verdict::kForward);
      ASSERT_EQ(OuterDestination(o), expected);
      ++out;
    }
    for (std::size_t worker = 0; worker < kCount; ++worker) {
      for (const Outcome& o : Retry(worker)) {
        ASSERT_EQ(o.verdict, Verdict::kForward);
        ASSERT_EQ(OuterDestination(o), expected);
        ++out;
      }
    }
    ASSERT_EQ(out, order.size());
  }
}

TEST_F(WorkersTest, FirstFragmentsFollowAFlowOfAnotherWorker) {
  net::IpAddress drained;
  FlowsOfDrained(1, drained);
  for (uint16_t port = 1000; port < 1100; ++port) {
    PacketSpec spec = Flow(port, net::kTcpSyn);
    const net::IpAddress backend = BackendAt(1, spec);
    spec.tcp_flags = net::kTcpAck;
    spec.payload = 800;
    for (const Bytes& frame : FragmentFrames(spec, 400, port)) {
      ASSERT_EQ(BackendAt(2, frame), backend);
    }
  }
}

// A flow that begins with a fragment leaves its entry at a worker that its whole packets never see.
TEST_F(WorkersTest, WholePacketsFollowTheFragmentsThatBeganTheirFlow) {
  for (const bool v6 : {false, true}) {
    auto& members = (v6 ? web6_ : web_).members;
    std::map<uint16_t, net::IpAddress> backends;
    for (uint16_t port = 1; port <= 100; ++port) {
      for (const Bytes& frame : FragmentFrames(Datagram(port, v6), 400, port)) {
        const net::IpAddress backend = BackendAt(3, frame);
        ASSERT_EQ(backends.emplace(port, backend).first->second, backend);
      }
    }
    members.front().state = AdminState::kDraining;  // UDP without an entry leaves it
    Rebuild();
    int stays = 0;
    for (const auto& [port, backend] : backends) {
      ASSERT_EQ(BackendAt(0, Datagram(port, v6)), backend);
      if (backend == members.front().address) ++stays;
    }
    EXPECT_GT(stays, 10);
    // Expect: the whole packet's entry is the one that counts from now on.
    ++now_;
    for (const auto& [port, backend] : backends) {
      ASSERT_EQ(BackendAt(0, Datagram(port, v6)), backend);
      ASSERT_EQ(BackendAt(2, FragmentFrames(Datagram(port, v6), 400, 1).front()), backend);
    }
  }
}

// A flow whose whole packets chose anew takes the fragments at other workers along.
TEST_F(WorkersTest, TheEntryOfWholePacketsWinsOverAStrayOne) {
  PacketSpec spec = Flow(77, net::kTcpAck);
  spec.payload = 800;
  const net::IpAddress first = BackendAt(3, FragmentFrames(spec, 400, 1).front());
  MemberAt(first).state = AdminState::kDisabled;
  Rebuild();
  const net::IpAddress second = BackendAt(0, spec);
  ASSERT_NE(second, first);
  MemberAt(first).state = AdminState::kActive;
  Rebuild();
  ASSERT_EQ(BackendAt(0, spec), second);
  // Expect: not the stray entry, whose backend is well again.
  EXPECT_EQ(BackendAt(3, FragmentFrames(spec, 400, 2).front()), second);
}

TEST_F(WorkersTest, StrayEntriesAreLookedForOnlyAsLongAsTheyMayLive) {
  EXPECT_FALSE(tables_[3]->MayHoldStray(now_));
  BackendAt(3, FragmentFrames(Datagram(5), 400, 1).front());
  EXPECT_TRUE(tables_[3]->MayHoldStray(now_ + 30));  // the idle timeout of UDP
  EXPECT_FALSE(tables_[3]->MayHoldStray(now_ + 31));
  EXPECT_FALSE(tables_[0]->MayHoldStray(now_));
}

TEST_F(WorkersTest, ReusedIdsFollowTheNewFirstFragment) {
  net::IpAddress former;
  int changes = 0;
  for (uint16_t port = 1; port <= 40; ++port) {
    const std::vector<Bytes> frames = FragmentFrames(Datagram(port), 400, 9);
    const net::IpAddress backend = BackendAt(port % 4, frames[0]);
    ASSERT_EQ(BackendAt((port + 1U) % 4, frames[1]), backend);
    changes += backend != former ? 1 : 0;
    former = backend;
  }
  EXPECT_GT(changes, 10);
  PacketSpec other = Datagram(1);
  other.source = "192.0.2.55";  // the same id from somebody else
  const std::vector<Bytes> ours = FragmentFrames(Datagram(40), 400, 9);
  const std::vector<Bytes> theirs = FragmentFrames(other, 400, 9);
  BackendAt(0, theirs[0]);
  EXPECT_EQ(BackendAt(0, ours[2]), former);
}

TEST_F(WorkersTest, AFirstFragmentThatNeverComesIsGivenUp) {
  const std::vector<Bytes> frames = FragmentFrames(Datagram(5), 400, 1);
  EXPECT_EQ(SendTo(1, frames[2]).verdict, Verdict::kHold);
  EXPECT_TRUE(Retry(1).empty());
  EXPECT_EQ(HeldAt(1), 1U);
  ++now_;
  const std::vector<Outcome> outcomes = Retry(1);
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].verdict, Verdict::kDropFragmentTimeout);
  EXPECT_EQ(HeldAt(1), 0U);
}

TEST_F(WorkersTest, DecisionsHoldForLessThanTwoSeconds) {
  const std::vector<Bytes> frames = FragmentFrames(Datagram(5), 400, 1);
  BackendAt(0, frames[0]);
  ++now_;
  EXPECT_EQ(SendTo(1, frames[1]).verdict, Verdict::kForward);
  ++now_;
  EXPECT_EQ(SendTo(1, frames[1]).verdict, Verdict::kHold);
  // Another worker's clock that is in the former second still.
  BackendAt(0, frames[0]);
  --now_;
  EXPECT_EQ(SendTo(1, frames[1]).verdict, Verdict::kForward);
}

TEST_F(WorkersTest, LaterFragmentsShareTheFirstOnesDrop) {
  PacketSpec spec = Datagram(5);
  spec.destination_port = 9999;
  const std::vector<Bytes> frames = FragmentFrames(spec, 400, 1);
  EXPECT_EQ(SendTo(0, frames[1]).verdict, Verdict::kHold);
  EXPECT_EQ(SendTo(2, frames[0]).verdict, Verdict::kDropNoService);
  EXPECT_EQ(SendTo(1, frames[1]).verdict, Verdict::kDropNoService);
  ASSERT_EQ(Retry(0).size(), 1U);
}

TEST_F(WorkersTest, ABackendThatWentInBetweenGetsNoMoreFragments) {
  const std::vector<Bytes> frames = FragmentFrames(Datagram(5), 400, 1);
  const net::IpAddress backend = BackendAt(0, frames[0]);
  MemberAt(backend).state = AdminState::kDisabled;
  Rebuild();
  EXPECT_EQ(SendTo(1, frames[1]).verdict, Verdict::kDropNoBackend);
  RemoveFromPool(backend);
  EXPECT_EQ(SendTo(1, frames[1]).verdict, Verdict::kDropNoBackend);
}

TEST_F(WorkersTest, ServicesMayDropFragments) {
  ServiceTableSpec::ServiceSpec service;
  service.vip = {.prefix = *net::IpPrefix::Parse("203.0.113.77"),
                 .protocol = net::kProtocolUdp,
                 .ports = {{80, 80}}};
  service.service.steer_fragments = false;
  Add(std::move(service));
  PacketSpec spec = Datagram(5);
  spec.destination = "203.0.113.77";
  EXPECT_EQ(SendTo(0, spec).verdict, Verdict::kForward);
  for (const Bytes& frame : FragmentFrames(spec, 400, 1)) {
    EXPECT_EQ(SendTo(0, frame).verdict, Verdict::kDropFragment);
  }
}

TEST_F(WorkersTest, WhatALaterFragmentShowsDecidesAtOnce) {
  PacketSpec spec = Datagram(5);
  const auto later = [&] { return SendTo(0, FragmentFrames(spec, 400, 1)[1]).verdict; };
  spec.destination = "203.0.113.99";
  EXPECT_EQ(later(), Verdict::kDropNotVip);
  spec = Datagram(5);
  spec.source = "127.0.0.1";
  EXPECT_EQ(later(), Verdict::kDropMartianSource);
  spec = Datagram(5);
  spec.ethernet_destination = {{2, 0, 0, 0, 0, 0x77}};
  EXPECT_EQ(later(), Verdict::kDropNotOurMac);
}

// Bounded memory: the newest decisions hold, and nothing grows.
TEST_F(WorkersTest, AFloodOfFirstFragmentsLeavesTheNewest) {
  for (uint32_t n = 0; n < 4 * FragmentTable::kEntries; ++n) {
    PacketSpec spec = Datagram(static_cast<uint16_t>(1024 + n % 50000));
    spec.source = "198.18." + std::to_string(n / 200 % 250) + "." + std::to_string(1 + n % 200);
    SendTo(0, FragmentFrames(spec, 1000, static_cast<uint16_t>(n)).front());
  }
  const std::vector<Bytes> frames = FragmentFrames(Datagram(5), 400, 1);
  const net::IpAddress backend = BackendAt(0, frames[0]);
  EXPECT_EQ(BackendAt(1, frames[1]), backend);
}

TEST(HeldPackets, KeepsOrderAndBound) {
  HeldPackets<int> held;
  for (int i = 0; i < 256; ++i) ASSERT_TRUE(held.Push({i, static_cast<uint8_t>(i / 100), {}}));
  EXPECT_FALSE(held.Push({999, 0, {}}));
  HeldPackets<int>::Taken taken;
  int next = 0;
  while (const std::size_t count = held.Take(256, taken)) {
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(taken[i].buffer, next++);
      ASSERT_EQ(taken[i].port, taken[0].port);
    }
  }
  EXPECT_EQ(next, 256);
  EXPECT_TRUE(held.empty());
}

}  // namespace
}  // namespace penstock::lb

// Flows through changes of the pool: drain, failure, removal, floods.

#include <gtest/gtest.h>

#include <random>

#include "tests/lb/fixture.h"

namespace penstock::lb {
namespace {

using testing::PacketSpec;

PacketSpec Flow(uint16_t port, uint8_t flags) {
  PacketSpec spec;
  spec.source_port = port;
  spec.tcp_flags = flags;
  return spec;
}

class PipelineFlows : public World {
 protected:
  // Opens a connection and confirms its entry; leaves the clock later.
  net::IpAddress Establish(uint16_t port) {
    const net::IpAddress backend = BackendOf(Flow(port, net::kTcpSyn));
    EXPECT_EQ(BackendOf(Flow(port, net::kTcpAck)), backend);
    return backend;
  }
  void ConfirmAll(uint16_t first, uint16_t last) {
    ++now_;
    for (uint16_t port = first; port <= last; ++port) BackendOf(Flow(port, net::kTcpAck));
  }
  uint64_t LiveFlows(const net::IpAddress& backend) {
    return counters_[ids_[backend]][0].live_flows.Read();
  }
};

TEST_F(PipelineFlows, DrainKeepsFlowsAndTakesNoNewOnes) {
  std::map<uint16_t, net::IpAddress> flows;
  for (uint16_t port = 1; port <= 300; ++port) flows[port] = Establish(port);
  ConfirmAll(1, 300);
  const net::IpAddress drained = flows[1];
  MemberAt(drained).state = AdminState::kDraining;
  Rebuild();
  for (const auto& [port, backend] : flows) {
    ASSERT_EQ(BackendOf(Flow(port, net::kTcpAck)), backend);
  }
  for (uint16_t port = 1000; port < 1500; ++port) {
    const net::IpAddress backend = BackendOf(Flow(port, net::kTcpSyn));
    ASSERT_NE(backend, drained);
    // Expect: the ACK follows the SYN, though its slot has a previous owner.
    ASSERT_EQ(BackendOf(Flow(port, net::kTcpAck)), backend);
  }
  MemberAt(drained).state = AdminState::kActive;
  Rebuild();
  for (const auto& [port, backend] : flows) {
    ASSERT_EQ(BackendOf(Flow(port, net::kTcpAck)), backend);
  }
}

TEST_F(PipelineFlows, DrainKeepsFlowsThatThisHostHasNeverSeen) {
  // What another host chose, by an untouched table of the same configuration.
  std::map<uint16_t, net::IpAddress> elsewhere;
  for (uint16_t port = 1; port <= 300; ++port)
    elsewhere[port] = BackendOf(Flow(port, net::kTcpSyn));
  flows_ = FlowTable::Create({.v4_entries = 4096, .v6_entries = 4096}, FlowTable::AllocateFromHeap);
  MemberAt(elsewhere[1]).state = AdminState::kDraining;
  Rebuild();
  for (const auto& [port, backend] : elsewhere) {
    ASSERT_EQ(BackendOf(Flow(port, net::kTcpAck)), backend);
  }
}

// F03: a client that reuses its port during a drain is not sent to the backend that leaves.
TEST_F(PipelineFlows, F03_PortReuseDoesNotFollowToADrainingBackend) {
  const net::IpAddress old = Establish(5);
  now_ += 60;
  MemberAt(old).state = AdminState::kDraining;
  Rebuild();
  const net::IpAddress fresh = BackendOf(Flow(5, net::kTcpSyn));
  EXPECT_NE(fresh, old);
  EXPECT_EQ(BackendOf(Flow(5, net::kTcpAck)), fresh);
  EXPECT_EQ(Events(FlowEvent::kRepicked), 1U);
}

TEST_F(PipelineFlows, DisabledBackendLosesItsFlowsAtOnce) {
  const net::IpAddress old = Establish(5);
  MemberAt(old).state = AdminState::kDisabled;
  Rebuild();
  const net::IpAddress fresh = BackendOf(Flow(5, net::kTcpAck));
  EXPECT_NE(fresh, old);
  EXPECT_EQ(BackendOf(Flow(5, net::kTcpAck)), fresh);
}

TEST_F(PipelineFlows, UnhealthyBackendKeepsTcpAndLosesUdp) {
  const net::IpAddress tcp = Establish(5);
  PacketSpec udp = Flow(6, 0);
  udp.protocol = net::kProtocolUdp;
  const net::IpAddress udp_backend = BackendOf(udp);
  MemberAt(tcp).healthy = false;
  MemberAt(udp_backend).healthy = false;
  Rebuild();
  EXPECT_EQ(BackendOf(Flow(5, net::kTcpAck)), tcp);
  EXPECT_NE(BackendOf(udp), udp_backend);
}

// F01: ids of removed backends lead nowhere.
TEST_F(PipelineFlows, F01_RemovedBackendsEntriesAreDead) {
  const net::IpAddress gone = Establish(5);
  std::erase_if(web_.members, [&](const PoolMember& m) { return m.address == gone; });
  Rebuild();
  const net::IpAddress fresh = BackendOf(Flow(5, net::kTcpAck));
  EXPECT_NE(fresh, gone);
  EXPECT_EQ(LiveFlows(fresh), 1U);
}

TEST_F(PipelineFlows, UdpFlowEndsWhenIdle) {
  PacketSpec udp = Flow(6, 0);
  udp.protocol = net::kProtocolUdp;
  const net::IpAddress old = BackendOf(udp);
  MemberAt(old).state = AdminState::kDraining;
  Rebuild();
  now_ += 30;
  EXPECT_EQ(BackendOf(udp), old);
  now_ += 31;
  EXPECT_NE(BackendOf(udp), old);
}

// F05: floods move no established flow, also when the pool changes after them.
TEST_F(PipelineFlows, F05_FloodThenDrainMovesNoEstablishedFlow) {
  std::map<uint16_t, net::IpAddress> flows;
  for (uint16_t port = 1; port <= 500; ++port) flows[port] = Establish(port);
  ConfirmAll(1, 500);
  std::mt19937 random(7);
  for (int i = 0; i < 100000; ++i) {
    PacketSpec flood =
        Flow(static_cast<uint16_t>(random()), random() % 2 == 0 ? net::kTcpSyn : net::kTcpAck);
    flood.source =
        "198.18." + std::to_string(random() % 256) + "." + std::to_string(random() % 256);
    Send(flood);
  }
  MemberAt(flows[1]).state = AdminState::kDraining;
  Rebuild();
  for (const auto& [port, backend] : flows) {
    ASSERT_EQ(BackendOf(Flow(port, net::kTcpAck)), backend) << port;
  }
  // Expect: the flood pushed out its own, as those are redundant.
  EXPECT_GT(Events(FlowEvent::kEvictedRedundant), 10000U);
}

TEST_F(PipelineFlows, FullTableRefusesNoNewFlow) {
  flows_ = FlowTable::Create({.v4_entries = 8, .v6_entries = 8}, FlowTable::AllocateFromHeap);
  for (uint16_t port = 1; port <= 8; ++port) {
    Establish(port);
    ConfirmAll(port, port);
  }
  for (uint16_t port = 100; port < 200; ++port) {
    const net::IpAddress backend = BackendOf(Flow(port, net::kTcpSyn));
    EXPECT_EQ(BackendOf(Flow(port, net::kTcpAck)), backend);
  }
  EXPECT_EQ(Events(FlowEvent::kUntracked), 200U);
}

TEST_F(PipelineFlows, OddPacketsAndResetsCreateNothing) {
  for (const int flags : {0x00, 0x12, 0x03, 0x06, 0x04, 0x14}) {
    Send(Flow(9, static_cast<uint8_t>(flags)));
  }
  EXPECT_EQ(flows_->v4().size(), 0U);
}

TEST_F(PipelineFlows, TwoPacketsOfANewFlowInOneBurstMakeOneEntry) {
  const auto syn = testing::Frame(Flow(3, net::kTcpSyn));
  const auto outcomes = SendBurst({syn, syn, testing::Frame(Flow(3, net::kTcpAck))});
  EXPECT_EQ(flows_->v4().size(), 1U);
  EXPECT_EQ(OuterDestination(outcomes[0]), OuterDestination(outcomes[2]));
}

TEST_F(PipelineFlows, LiveFlowsFollowTheTable) {
  for (uint16_t port = 1; port <= 100; ++port) Establish(port);
  ConfirmAll(1, 100);
  const auto total = [&] {
    uint64_t sum = 0;
    for (const auto& [id, c] : counters_) sum += c[0].live_flows.Read();
    return sum;
  };
  EXPECT_EQ(total(), flows_->v4().size());
  const net::IpAddress disabled = BackendOf(Flow(1, net::kTcpAck));
  MemberAt(disabled).state = AdminState::kDisabled;
  Rebuild();
  SweepFlows(Context(), flows_->v4().bucket_count());
  EXPECT_EQ(LiveFlows(disabled), 0U);
  EXPECT_EQ(total(), flows_->v4().size());
  now_ += 901;  // the idle timeout
  EXPECT_EQ(SweepFlows(Context(), flows_->v4().bucket_count()), 1);
  EXPECT_EQ(flows_->v4().size(), 0U);
  EXPECT_EQ(total(), 0U);
}

}  // namespace
}  // namespace penstock::lb

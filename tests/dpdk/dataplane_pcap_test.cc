// Frames from a capture file through EAL, port, worker and back into a capture file. EAL starts
// once a process: one test, one program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "dpdk/dataplane.h"
#include "tests/dpdk/pcap_file.h"
#include "tests/dpdk/scene.h"

namespace penstock::dpdk {
namespace {

using testing::Bytes;
using testing::Ip;
using testing::PacketSpec;

// RFC 2003 around the packet in `frame`, from our port to the gateway.
Bytes Wrapped(const PacketSpec& packet, const net::MacAddress& mac) {
  const Bytes inner = testing::Ipv4Packet(packet);
  net::Ipv4Header outer;
  outer.tos = packet.tos;
  outer.total_length = base::be16_t(static_cast<uint16_t>(net::kIpv4Size + inner.size()));
  outer.fragment = base::be16_t(net::kIpv4DontFragment);
  outer.ttl = 64;
  outer.protocol = net::kProtocolIpv4;
  outer.source = Ip(testing::kPortAddress).v4();
  outer.destination = Ip(testing::kBackend).v4();
  outer.checksum = net::Ipv4Checksum(outer);
  Bytes bytes;
  testing::Append(bytes, outer);
  bytes.insert(bytes.end(), inner.begin(), inner.end());
  return testing::Ethernet(net::kEtherTypeIpv4, bytes, mac, testing::kGatewayMac);
}

Bytes ArpFrame(uint16_t operation, const net::MacAddress& sender, const char* sender_ip,
               const net::MacAddress& target, const char* target_ip,
               const net::MacAddress& destination) {
  net::ArpPacket arp;
  arp.operation = base::be16_t(operation);
  arp.sender_mac = sender;
  arp.sender_ip = Ip(sender_ip).v4();
  arp.target_mac = target;
  arp.target_ip = Ip(target_ip).v4();
  Bytes bytes;
  testing::Append(bytes, arp);
  return testing::Ethernet(net::kEtherTypeArp, bytes, sender, destination);
}

// The MAC address of the first net_pcap device.
constexpr net::MacAddress kPcapMac = {{2, 'p', 'c', 'a', 'p', 0}};
constexpr net::MacAddress kBroadcast = {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};
constexpr net::MacAddress kNeighbor = {{2, 0, 0, 0, 0, 0x77}};
constexpr std::size_t kFlows = 100;  // several bursts

std::vector<PacketSpec> Flows() {
  std::vector<PacketSpec> flows(kFlows);
  for (std::size_t i = 0; i < kFlows; ++i) {
    flows[i].source_port = static_cast<uint16_t>(20000 + i);
    flows[i].payload = i * 14;
    flows[i].tos = static_cast<uint8_t>(i);
    flows[i].ethernet_destination = kPcapMac;
  }
  return flows;
}

// The flows, and one of each that does not go to a backend: a request for our address, another VIP,
// a frame cut short, one that no longer fits the link once wrapped, and one for another station.
std::vector<Bytes> Input(const std::vector<PacketSpec>& flows) {
  std::vector<Bytes> frames;
  for (const PacketSpec& flow : flows) frames.push_back(testing::Frame(flow));
  frames.push_back(
      ArpFrame(net::kArpRequest, kNeighbor, "10.2.1.9", {}, testing::kPortAddress, kBroadcast));
  frames.push_back(
      testing::Frame({.destination = "203.0.113.11", .ethernet_destination = kPcapMac}));
  frames.push_back(Bytes(10, 0xAB));
  frames.push_back(testing::Frame(
      {.payload = 1460, .fragment = net::kIpv4DontFragment, .ethernet_destination = kPcapMac}));
  frames.push_back(testing::Frame({}));
  return frames;
}

uint64_t CountOf(const lb::PortTotals& port, lb::Verdict verdict) {
  return port.verdicts[static_cast<std::size_t>(verdict)];
}

void ExpectCounters(const lb::PortTotals& port, const std::vector<Bytes>& input) {
  EXPECT_EQ(port.name, "uplink");
  EXPECT_EQ(port.received_packets, input.size());
  const uint64_t bytes =
      std::accumulate(input.begin(), input.end(), uint64_t{0},
                      [](uint64_t sum, const Bytes& frame) { return sum + frame.size(); });
  EXPECT_EQ(port.received_bytes, bytes);
  // Expect: every received packet under exactly one verdict.
  EXPECT_EQ(std::accumulate(port.verdicts.begin(), port.verdicts.end(), uint64_t{0}), input.size());
  EXPECT_EQ(CountOf(port, lb::Verdict::kForward), kFlows);
  EXPECT_EQ(CountOf(port, lb::Verdict::kAnswerArp), 1);
  EXPECT_EQ(CountOf(port, lb::Verdict::kDropNotVip), 1);
  EXPECT_EQ(CountOf(port, lb::Verdict::kDropTruncated), 1);
  EXPECT_EQ(CountOf(port, lb::Verdict::kAnswerTooBig), 1);
  EXPECT_EQ(CountOf(port, lb::Verdict::kDropNotOurMac), 1);
  EXPECT_EQ(port.transmitted_packets, kFlows + 2);
  EXPECT_EQ(port.own_packets, 0);
}

void ExpectStatus(const Dataplane& dataplane) {
  const std::vector<lb::PortStatus> ports = dataplane.ReadPorts();
  ASSERT_EQ(ports.size(), 1);
  EXPECT_EQ(ports[0].driver, "net_pcap");
  EXPECT_EQ(ports[0].rx_queues, 1);
  EXPECT_TRUE(ports[0].gateway_v4);
  EXPECT_FALSE(ports[0].gateway_v6);
  // Expect: a living worker that runs the published generation and has the flows, and the one that
  // was too big to send.
  EXPECT_TRUE(testing::Eventually([&] { return dataplane.ReadWorkers()[0].generation == 7; }));
  EXPECT_TRUE(
      testing::Eventually([&] { return dataplane.ReadWorkers()[0].v4_flows == kFlows + 1; }));
  EXPECT_TRUE(testing::Eventually([&] { return dataplane.CompletedSweeps()[0] >= 1; }));
  const auto fresh = [&] { return dataplane.ReadWorkers()[0].heartbeat_age.count() < 100; };
  EXPECT_TRUE(testing::Eventually(fresh));
}

TEST(Dataplane, WrapsWhatComesInAndAccountsForEveryPacket) {
  const std::string in = ::testing::TempDir() + "dataplane_in.pcap";
  const std::string out = ::testing::TempDir() + "dataplane_out.pcap";
  const std::vector<PacketSpec> flows = Flows();
  const std::vector<Bytes> input = Input(flows);
  testing::WritePcap(in, input);
  const auto started =
      Dataplane::Start(testing::HostWithPort("net_pcap0,rx_pcap=" + in + ",tx_pcap=" + out));
  ASSERT_TRUE(started.ok()) << started.status();
  Dataplane& dataplane = **started;
  EXPECT_EQ(dataplane.BuffersInUse(), 0);
  lb::BackendCounters counters;
  // Expect: published before the launch, the configuration is there for the first packet.
  ASSERT_TRUE(dataplane.Publish(testing::OneService(&counters, 7)).acknowledged);
  ASSERT_TRUE(dataplane.Launch().ok());
  ASSERT_TRUE(testing::Eventually(
      [&] { return dataplane.ReadCounters().ports[0].received_packets == input.size(); }));
  ExpectStatus(dataplane);
  EXPECT_TRUE(dataplane.Publish(testing::OneService(&counters, 8)).acknowledged);
  const net::MacAddress mac = dataplane.ReadPorts()[0].mac;
  dataplane.Stop();
  EXPECT_EQ(dataplane.BuffersInUse(), 0);
  ExpectCounters(dataplane.ReadCounters().ports[0], input);
  EXPECT_EQ(counters.packets.Read(), kFlows);
  // Expect: byte for byte what the RFC says, in the order of arrival, then the ARP reply.
  std::vector<Bytes> expected;
  for (const PacketSpec& flow : flows) expected.push_back(Wrapped(flow, mac));
  expected.push_back(
      ArpFrame(net::kArpReply, mac, testing::kPortAddress, kNeighbor, "10.2.1.9", kNeighbor));
  std::vector<Bytes> sent = testing::ReadPcap(out);
  ASSERT_EQ(sent.size(), expected.size() + 1);
  // Expect: and ICMP 3/4 with the MTU that IP-in-IP leaves of 1500 (tests/packets has all of it).
  const auto icmp = net::Load<net::IcmpHeader>(sent.back().data() + 34);
  EXPECT_EQ(icmp.type, net::kIcmpUnreachable);
  EXPECT_EQ(icmp.code, net::kIcmpFragmentationNeeded);
  EXPECT_EQ(icmp.rest.value(), 1480U);
  sent.pop_back();
  EXPECT_TRUE(sent == expected);
}

}  // namespace
}  // namespace penstock::dpdk

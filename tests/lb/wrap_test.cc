// Every encapsulation, over all family pairs: what comes out, unwrapped, is what came in.

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "tests/lb/fixture.h"

namespace penstock::lb {
namespace {

using testing::Bytes;
using testing::PacketSpec;

struct Unwrapped {
  Bytes inner;
  uint8_t traffic_class = 0;
  net::IpAddress source;
  uint32_t flow_label = 0;
  uint16_t gue_port = 0;
  uint16_t gue_checksum = 0;
};

// An unwrapper of our own, strict about every byte that docs/PACKETS.md section 5 fixes.
class Unwrapper {
 public:
  explicit Unwrapper(const Bytes& frame) : frame_(frame) {}

  Unwrapped Unwrap() {
    at_ = 14;
    const bool v4 = (frame_[at_] >> 4) == 4;
    const uint8_t protocol = v4 ? ReadIp4() : ReadIp6();
    if (protocol == net::kProtocolGre) ReadGre();
    if (protocol == net::kProtocolUdp) ReadGue(v4);
    if (protocol == net::kProtocolIpv4) inner_version_ = 4;
    if (protocol == net::kProtocolIpv6) inner_version_ = 6;
    EXPECT_EQ(frame_[at_] >> 4, inner_version_);
    out_.inner.assign(frame_.begin() + static_cast<long>(at_), frame_.end());
    return out_;
  }

 private:
  uint8_t ReadIp4() {
    const auto ip = net::Load<net::Ipv4Header>(frame_.data() + at_);
    EXPECT_EQ(ip.version_ihl, 0x45);
    EXPECT_EQ(ip.total_length.value(), frame_.size() - at_);
    EXPECT_EQ(ip.id.value(), 0);
    EXPECT_EQ(ip.fragment.value(), net::kIpv4DontFragment);
    EXPECT_EQ(ip.ttl, 64);
    EXPECT_TRUE(net::Ipv4ChecksumHolds({frame_.data() + at_, 20}));
    out_.traffic_class = ip.tos;
    out_.source = net::IpAddress::V4(ip.source);
    at_ += 20;
    return ip.protocol;
  }
  uint8_t ReadIp6() {
    const auto ip = net::Load<net::Ipv6Header>(frame_.data() + at_);
    EXPECT_EQ(ip.payload_length.value(), frame_.size() - at_ - 40);
    EXPECT_EQ(ip.hop_limit, 64);
    const uint32_t word = ip.version_class_label.value();
    out_.traffic_class = static_cast<uint8_t>(word >> 20);
    out_.flow_label = word & 0xFFFFF;
    EXPECT_NE(out_.flow_label, 0U);
    out_.source = net::IpAddress::V6(ip.source);
    ip6_ = ip;
    at_ += 40;
    return ip.next_header;
  }
  void ReadGre() {
    const auto gre = net::Load<net::GreHeader>(frame_.data() + at_);
    EXPECT_EQ(gre.flags_version.value(), 0);
    inner_version_ = gre.protocol_type.value() == 0x0800 ? 4 : 6;
    if (inner_version_ == 6) {
      EXPECT_EQ(gre.protocol_type.value(), 0x86DD);
    }
    at_ += 4;
  }
  void ReadGue(bool v4) {
    const auto udp = net::Load<net::UdpHeader>(frame_.data() + at_);
    EXPECT_EQ(udp.destination_port.value(), 6080);
    EXPECT_GE(udp.source_port.value(), 49152);
    EXPECT_EQ(udp.length.value(), frame_.size() - at_);
    out_.gue_port = udp.source_port.value();
    out_.gue_checksum = udp.checksum.value();
    if (v4) {
      EXPECT_EQ(udp.checksum.value(), 0);
    } else if (udp.checksum.value() != 0) {
      const std::span message(frame_.data() + at_, frame_.size() - at_);
      EXPECT_EQ(net::Ipv6UpperChecksum(ip6_, net::kProtocolUdp, message).raw(), 0);
    }
    const auto gue = net::Load<net::GueHeader>(frame_.data() + at_ + 8);
    EXPECT_EQ(gue.variant_control_length, 0);
    EXPECT_EQ(gue.flags.value(), 0);
    inner_version_ = gue.protocol == 4 ? 4 : 6;
    EXPECT_EQ(gue.protocol, inner_version_ == 4 ? 4 : 41);
    at_ += 12;
  }

  const Bytes& frame_;
  std::size_t at_ = 0;
  int inner_version_ = 0;
  net::Ipv6Header ip6_;
  Unwrapped out_;
};

// Ports: 100 IP-in-IP, 101 GRE, 102 GUE, 103 GUE without checksum, each with IPv4 backends; 10 more
// with IPv6 backends.
class Wrap : public World {
 protected:
  Wrap() {
    for (const char* vip : {"203.0.113.10", "2001:db8:53::10"}) {
      for (uint16_t i = 0; i < 8; ++i) {
        const auto port = static_cast<uint16_t>(100 + i % 4 + (i < 4 ? 0 : 10));
        ServiceTableSpec::ServiceSpec spec;
        spec.vip = {.prefix = *net::IpPrefix::Parse(vip), .ports = {{port, port}}};
        spec.service.pool = i < 4 ? 0 : 1;
        spec.service.encapsulation = static_cast<Encapsulation>(std::min(i % 4, 2));
        spec.service.gue_checksum = i % 4 != 3;
        Add(spec);
      }
    }
  }
  static PacketSpec To(uint16_t port, bool v4) {
    PacketSpec spec;
    spec.source = v4 ? "192.0.2.1" : "2001:db8::1";
    spec.destination = v4 ? "203.0.113.10" : "2001:db8:53::10";
    spec.destination_port = port;
    return spec;
  }
};

constexpr uint16_t kPorts[] = {100, 101, 102, 103, 110, 111, 112, 113};

// E11, and promise of docs/PACKETS.md: unwrap(wrap(p)) == p.
TEST_F(Wrap, E11_UnwrappedIsWhatCameIn) {
  std::mt19937 random(5);
  for (int round = 0; round < 20000; ++round) {
    PacketSpec spec = To(kPorts[random() % 8], random() % 2 == 0);
    spec.source_port = static_cast<uint16_t>(random());
    spec.tos = static_cast<uint8_t>(random());
    spec.ttl = static_cast<uint8_t>(1 + random() % 255);
    spec.payload = random() % 1200;
    spec.padding = random() % 8;
    if (testing::Ip(spec.destination).IsV4() && random() % 4 == 0) spec.options = {1, 1, 1, 0};
    const Outcome o = Send(spec);
    ASSERT_EQ(o.verdict, Verdict::kForward) << InfoOf(o.verdict).name;
    const bool v4 = testing::Ip(spec.destination).IsV4();
    const Unwrapped out = Unwrapper(o.frame).Unwrap();
    ASSERT_EQ(out.inner, v4 ? testing::Ipv4Packet(spec) : testing::Ipv6Packet(spec));
    // E04: DSCP and ECN as inside.
    ASSERT_EQ(out.traffic_class, spec.tos);
  }
}

TEST_F(Wrap, GueChecksumIsComputedOverIpv6UnlessTold) {
  EXPECT_NE(Unwrapper(Send(To(112, true)).frame).Unwrap().gue_checksum, 0);
  EXPECT_EQ(Unwrapper(Send(To(113, true)).frame).Unwrap().gue_checksum, 0);
  EXPECT_EQ(Unwrapper(Send(To(102, false)).frame).Unwrap().gue_checksum, 0);
}

// One flow has one source port and one flow label; many flows have many.
TEST_F(Wrap, EntropyIsTheFlows) {
  std::set<uint16_t> ports;
  std::set<uint32_t> labels;
  for (uint16_t client = 1; client <= 1000; ++client) {
    PacketSpec spec = To(112, true);
    spec.source_port = client;
    const Unwrapped syn = Unwrapper(Send(spec).frame).Unwrap();
    spec.tcp_flags = net::kTcpAck;
    spec.payload = 100;
    const Unwrapped ack = Unwrapper(Send(spec).frame).Unwrap();
    EXPECT_EQ(syn.gue_port, ack.gue_port);
    EXPECT_EQ(syn.flow_label, ack.flow_label);
    ports.insert(syn.gue_port);
    labels.insert(syn.flow_label);
  }
  EXPECT_GT(ports.size(), 950U);
  EXPECT_GT(labels.size(), 990U);
}

// RFC 6437 section 2: label zero means none. One flow in a million has these bits of its hash zero.
TEST_F(Wrap, NoFlowIsWithoutALabel) {
  PacketSpec spec = To(110, true);
  uint32_t client = 0x0A000000;  // 10/8
  const auto label_bits = [&] {
    FlowKey4 key;
    key.source = base::be32_t(client).raw();
    key.destination = testing::Ip(spec.destination).v4().raw();
    key.source_port = base::be16_t(spec.source_port);
    key.destination_port = base::be16_t(spec.destination_port);
    key.service = ServiceAndProtocol::Of(kNoId, net::kProtocolTcp);
    return HashFlow(key, services_->key()).bits >> 44;
  };
  while (label_bits() != 0) ++client;
  spec.source = net::IpAddress::V4(base::be32_t(client)).ToString();
  const Outcome o = Send(spec);
  ASSERT_EQ(o.verdict, Verdict::kForward);
  EXPECT_EQ(Unwrapper(o.frame).Unwrap().flow_label, 1U);
}

// The Toeplitz hash that network cards spread by (Microsoft's key and definition), over outer IPv4
// source and destination.
uint32_t Toeplitz(const std::array<uint8_t, 8>& input) {
  constexpr std::array<uint8_t, 40> kKey = {
      0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
      0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
      0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};
  uint32_t result = 0;
  for (std::size_t bit = 0; bit < input.size() * 8; ++bit) {
    if ((input[bit / 8] >> (7 - bit % 8) & 1) == 0) continue;
    uint32_t window = 0;
    for (std::size_t i = 0; i < 32; ++i) {
      window = window << 1 | (kKey[(bit + i) / 8] >> (7 - (bit + i) % 8) & 1);
    }
    result ^= window;
  }
  return result;
}

// E09: with an outer source prefix, a backend's receive queues share the flows of one balancer.
TEST_F(Wrap, E09_OuterSourcePrefixSpreadsOverReceiveQueues) {
  ServiceTableSpec::ServiceSpec service;
  service.vip = {.prefix = *net::IpPrefix::Parse("203.0.113.10"), .ports = {{200, 200}}};
  service.outer_source = *net::IpPrefix::Parse("10.64.0.0/16");
  Add(service);
  web_.members.resize(1);
  Rebuild();
  std::array<int, 16> queues{};
  for (int flow = 0; flow < 10000; ++flow) {
    PacketSpec spec = To(200, true);
    spec.source = "192.0.2." + std::to_string(1 + flow % 200);
    spec.source_port = static_cast<uint16_t>(1000 + flow);
    const Bytes frame = Send(spec).frame;
    const Unwrapped out = Unwrapper(frame).Unwrap();
    ASSERT_TRUE(service.outer_source->Contains(out.source));
    std::array<uint8_t, 8> addresses;
    std::copy_n(frame.begin() + 26, 8, addresses.begin());
    ++queues[Toeplitz(addresses) % queues.size()];
    if (flow % 100 == 0) {
      EXPECT_EQ(Unwrapper(Send(spec).frame).Unwrap().source, out.source);
    }
  }
  // Expect: every queue, the busiest at most 1.3 times the mean of 625.
  EXPECT_GT(*std::min_element(queues.begin(), queues.end()), 0);
  EXPECT_LE(*std::max_element(queues.begin(), queues.end()), 812);
}

TEST_F(Wrap, OuterSourceLeavesOutNetworkAndBroadcast) {
  const auto source_of = [](const char* prefix, uint64_t hash) {
    return OuterSource{*net::IpPrefix::Parse(prefix)}.For(FlowHash{hash}).ToString();
  };
  EXPECT_EQ(source_of("10.64.0.0/16", 0x12345678), "10.64.86.120");
  EXPECT_EQ(source_of("10.64.0.0/16", 0xFF0000), "10.64.0.1");
  EXPECT_EQ(source_of("10.64.0.0/16", 0xFFFF), "10.64.255.254");
  EXPECT_EQ(source_of("10.64.0.4/31", 0), "10.64.0.4");
  EXPECT_EQ(source_of("10.64.0.4/31", 1), "10.64.0.5");
  EXPECT_EQ(source_of("10.64.0.4/32", 0x77), "10.64.0.4");
  EXPECT_EQ(source_of("2001:db8:a::/64", 0x1122334455667788), "2001:db8:a:0:1122:3344:5566:7788");
  EXPECT_EQ(source_of("2001:db8:a::/48", 0x1122334455667788), "2001:db8:a:0:1122:3344:5566:7788");
  EXPECT_EQ(source_of("2001:db8:a::/120", 0x100), "2001:db8:a::1");
  EXPECT_EQ(source_of("2001:db8:a::5/128", 9), "2001:db8:a::5");
}

// Our own crafted sources are ours: nothing that claims to come from them is wrapped.
TEST_F(Wrap, PacketsFromOuterSourcesLoop) {
  ServiceTableSpec::ServiceSpec service;
  service.vip = {.prefix = *net::IpPrefix::Parse("203.0.113.10"), .ports = {{200, 200}}};
  service.outer_source = *net::IpPrefix::Parse("10.64.0.0/16");
  Add(service);
  PacketSpec spec = To(100, true);
  spec.source = "10.64.3.3";
  EXPECT_EQ(Send(spec).verdict, Verdict::kDropLoop);
  spec.source = "10.65.3.3";
  EXPECT_EQ(Send(spec).verdict, Verdict::kForward);
}

TEST_F(Wrap, DeniedSourcesAreNamed) {
  ServiceTableSpec::ServiceSpec service;
  service.vip = {.prefix = *net::IpPrefix::Parse("203.0.113.10"), .ports = {{200, 200}}};
  service.deny = {*net::IpPrefix::Parse("192.0.2.0/28"), *net::IpPrefix::Parse("198.51.100.7")};
  Add(service);
  PacketSpec spec = To(200, true);
  EXPECT_EQ(Send(spec).verdict, Verdict::kDropDenied);
  spec.source = "198.51.100.7";
  EXPECT_EQ(Send(spec).verdict, Verdict::kDropDenied);
  spec.source = "198.51.100.8";
  EXPECT_EQ(Send(spec).verdict, Verdict::kForward);
  spec.source = "192.0.2.1";
  spec.destination_port = 100;
  EXPECT_EQ(Send(spec).verdict, Verdict::kForward);
}

// GUE to a VIP is not wrapped again, unless it is just a port that a service lists.
TEST_F(Wrap, TunnelPortIsServedOnlyWhenListed) {
  const auto add = [&](std::vector<PortRange> ports) {
    ServiceTableSpec::ServiceSpec service;
    service.vip = {.prefix = *net::IpPrefix::Parse("203.0.113.10"),
                   .protocol = net::kProtocolUdp,
                   .ports = std::move(ports)};
    Add(service);
  };
  PacketSpec spec = To(6080, true);
  spec.protocol = net::kProtocolUdp;
  add({{6000, 6100}});
  EXPECT_EQ(Send(spec).verdict, Verdict::kDropLoop);
  add({{6080, 6080}});
  EXPECT_EQ(Send(spec).verdict, Verdict::kForward);
}

// P04: one tag with the egress port's VID, or none, whatever came in.
TEST_F(Wrap, P04_EgressTagIsThePortsOwn) {
  Bytes tagged = testing::Frame(To(100, true));
  const Bytes tag = {0x81, 0x00, 0x60, 0x64};
  tagged.insert(tagged.begin() + 12, tag.begin(), tag.end());
  const Outcome untagged = Send(tagged);
  ASSERT_EQ(untagged.verdict, Verdict::kForward);
  EXPECT_EQ(untagged.frame, Send(To(100, true)).frame);
  Neighbors on_vlan({{.mac = kPortMac,
                      .addresses = {*net::IpPrefix::Parse("10.2.1.2/24")},
                      .gateways = {testing::Ip("10.2.1.1")},
                      .gateway_mac = kGatewayMac,
                      .vlan = 200}});
  ForwardContext context{*services_,  *flows_, on_vlan, flow_counters_, icmp_, new_flows_, extra_,
                         *fragments_, 0,       now_};
  const Outcome retagged = SendBurst({tagged}, context).front();
  ASSERT_EQ(retagged.verdict, Verdict::kForward);
  Bytes expected = untagged.frame;
  const Bytes own_tag = {0x81, 0x00, 0x00, 200};
  expected.insert(expected.begin() + 12, own_tag.begin(), own_tag.end());
  EXPECT_EQ(retagged.frame, expected);
}

}  // namespace
}  // namespace penstock::lb

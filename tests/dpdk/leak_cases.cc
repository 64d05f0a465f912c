#include "tests/dpdk/leak_cases.h"

#include <string>

#include "tests/dpdk/scene.h"
#include "tests/support/icmp.h"

namespace penstock::dpdk {
namespace {

using lb::Verdict;
using testing::Bytes;
using testing::Ip;
using testing::PacketSpec;
using Cases = std::map<Verdict, MakeFrame>;

constexpr const char* kEchoDropVip = "203.0.113.11";
// Ports of the VIP, beside 80.
constexpr uint16_t kBehindSilentGateway = 81;
constexpr uint16_t kWithoutBackend = 82;
constexpr uint16_t kDenying = 83;
constexpr uint16_t kNobodys = 84;
constexpr uint16_t kWithoutFragments = 85;
constexpr uint16_t kLimited = 86;
Bytes WithByte(Bytes frame, std::size_t at, uint8_t value) {
  frame.at(at) = value;
  return frame;
}

// Sets DF, or whatever, and mends the checksum of the IPv4 header of a frame.
Bytes WithFragmentField(Bytes frame, uint16_t field) {
  auto ip = net::Load<net::Ipv4Header>(frame.data() + 14);
  ip.fragment = base::be16_t(field);
  ip.checksum = net::Ipv4Checksum(ip);
  net::Store(frame.data() + 14, ip);
  return frame;
}

Bytes Arp(const char* target, uint16_t operation = net::kArpRequest) {
  net::ArpPacket arp;
  arp.operation = base::be16_t(operation);
  arp.sender_mac = {{2, 0, 0, 0, 0, 0x99}};
  arp.sender_ip = Ip("10.2.1.9").v4();
  arp.target_ip = Ip(target).v4();
  Bytes body;
  testing::Append(body, arp);
  return testing::Ethernet(net::kEtherTypeArp, body);
}

// RFC 4861 section 4.3, with the option of section 4.6.1.
Bytes NeighborSolicitation() {
  Bytes body;
  testing::Append(body, Ip("2001:db8:1::2").bytes);
  testing::AppendBytes(body, std::array<uint8_t, 8>{1, 1, 2, 0, 0, 0, 0, 0x99}.data(), 8);
  const Bytes frame = testing::IcmpFrame({.source = "2001:db8:1::9",
                                          .destination = "2001:db8:1::2",
                                          .type = net::kNeighborSolicitation,
                                          .code = 0,
                                          .rest = 0,
                                          .body = body});
  return WithByte(frame, 14 + 7, 255);  // the hop limit
}

Bytes Echo(const char* destination, unsigned number) {
  return testing::IcmpFrame({.source = "192.0.2." + std::to_string(1 + number % 250),
                             .destination = destination,
                             .type = net::kIcmpEchoRequest,
                             .code = 0,
                             .body = Bytes(56)});
}

// An error about a packet that the tunnel's entry has sent to the backend.
Bytes FabricError() {
  net::Ipv4Header outer;
  outer.total_length = base::be16_t(1500);
  outer.protocol = net::kProtocolIpv4;
  outer.ttl = 64;
  outer.source = Ip(testing::kPortAddress).v4();
  outer.destination = Ip(testing::kBackend).v4();
  outer.checksum = net::Ipv4Checksum(outer);
  Bytes quote;
  testing::Append(quote, outer);
  quote.resize(quote.size() + 8);
  return testing::IcmpFrame(
      {.source = "10.2.1.1", .destination = testing::kPortAddress, .body = quote});
}

// About a flow, too big to be wrapped, and not to be cut.
Bytes BigError() {
  Bytes body = testing::AnswerOf({});
  body.resize(kFull);
  return WithFragmentField(testing::IcmpFrame({.body = body}), net::kIpv4DontFragment);
}

Bytes Vlans(unsigned tags) {
  const Bytes frame = testing::Frame({});
  Bytes tagged(frame.begin(), frame.begin() + 12);
  for (unsigned i = 0; i < tags; ++i) {
    testing::AppendBytes(tagged, std::array<uint8_t, 4>{0x81, 0, 0, 5}.data(), 4);
  }
  testing::AppendBytes(tagged, frame.data() + 12, frame.size() - 12);
  return tagged;
}

Bytes Flow(unsigned number, uint16_t to = 80) {
  return testing::Frame(
      {.source_port = static_cast<uint16_t>(1024 + number), .destination_port = to});
}

// The same frame for every number.
MakeFrame Always(const Bytes& frame) {
  return [frame](unsigned) { return frame; };
}
MakeFrame AlwaysPacket(const PacketSpec& packet) {
  return Always(testing::Frame(packet));
}

Cases FrameCases() {
  return {
      {Verdict::kAnswerArp, Always(Arp(testing::kPortAddress))},
      {Verdict::kAnswerNdp, Always(NeighborSolicitation())},
      {Verdict::kLearnNeighbor, Always(Arp("10.2.1.77"))},
      {Verdict::kDropMalformedNeighbor, Always(Arp(testing::kPortAddress, 7))},
      {Verdict::kDropTruncated, Always(Bytes(10))},
      {Verdict::kDropNotOurMac, AlwaysPacket({.ethernet_destination = {{2, 9, 9, 9, 9, 9}}})},
      {Verdict::kDropVlanDepth, Always(Vlans(3))},
      {Verdict::kDropUnknownEtherType, Always(testing::Ethernet(0x88CC, Bytes(60)))},
  };
}

Cases HeaderCases() {
  const Bytes v4 = testing::Frame({});
  const Bytes v6 = testing::Frame({.source = "2001:db8::9", .destination = "2001:db8:53::10"});
  return {
      {Verdict::kDropMalformedIpv4, Always(WithByte(v4, 14, 0x44))},
      {Verdict::kDropIpv4Checksum, Always(WithByte(v4, 14 + 10, 0x11))},
      {Verdict::kDropMalformedIpv6, Always(WithByte(v6, 14 + 4, 0x40))},
      {Verdict::kDropIpv6Extension, Always(WithByte(v6, 14 + 6, 59))},
      {Verdict::kDropTtlZero, AlwaysPacket({.ttl = 0})},
      {Verdict::kDropTinyFragment, AlwaysPacket({.payload = 8, .fragment = 1})},
      {Verdict::kDropMalformedFragment, AlwaysPacket({.payload = 8, .fragment = 0x1FFF})},
      {Verdict::kDropMalformedTransport, Always(WithByte(v4, 14 + 20 + 12, 0x40))},
  };
}

Cases IcmpCases() {
  const MakeFrame echo = [](unsigned number) { return Echo(testing::kVip, number); };
  return {
      {Verdict::kAnswerEcho, echo},
      {Verdict::kDropEchoLimited, echo},
      {Verdict::kDropEchoPolicy, Always(Echo(kEchoDropVip, 0))},
      {Verdict::kLearnPathMtu, Always(FabricError())},
      {Verdict::kDropIcmpMalformed, Always(testing::IcmpFrame({.body = Bytes(4)}))},
      {Verdict::kDropIcmpType, Always(testing::IcmpFrame({.type = 5}))},
      {Verdict::kDropIcmpNoService,
       Always(testing::IcmpFrame({.body = testing::AnswerOf({.destination_port = kNobodys})}))},
      {Verdict::kDropTooBig, Always(BigError())},
  };
}

Cases ServiceCases() {
  // A later fragment whose first one never comes.
  const PacketSpec without_first{.source = "192.0.2.66", .payload = 8, .fragment = 100};
  const MakeFrame big = AlwaysPacket({.payload = kFull, .fragment = net::kIpv4DontFragment});
  // One in eight has to be cut in two.
  const MakeFrame mixed = [](unsigned number) {
    return number % 8 == 0 ? testing::Frame({.payload = kFull}) : Flow(number);
  };
  return {
      {Verdict::kForward, mixed},
      {Verdict::kAnswerTooBig, big},
      {Verdict::kDropTooBigLimited, big},
      {Verdict::kDropNotVip, AlwaysPacket({.destination = "203.0.113.99"})},
      {Verdict::kDropMartianSource, AlwaysPacket({.source = "127.0.0.1"})},
      {Verdict::kDropNoService, Always(Flow(0, kNobodys))},
      {Verdict::kDropFragment, AlwaysPacket({.destination_port = kWithoutFragments,
                                             .payload = 4,
                                             .fragment = net::kIpv4MoreFragments})},
      {Verdict::kDropFragmentOverflow, AlwaysPacket(without_first)},
      {Verdict::kDropFragmentTimeout, AlwaysPacket(without_first)},
      {Verdict::kDropDenied, Always(Flow(0, kDenying))},
      {Verdict::kDropRateLimited, [](unsigned number) { return Flow(number, kLimited); }},
      {Verdict::kDropLoop, AlwaysPacket({.source = testing::kBackend})},
      {Verdict::kDropNoBackend, Always(Flow(0, kWithoutBackend))},
      {Verdict::kDropNoNeighbor, Always(Flow(0, kBehindSilentGateway))},
  };
}

// A service of TCP ports of a VIP.
lb::ServiceTableSpec::ServiceSpec Service(lb::ServiceId id, const char* vip, uint16_t port,
                                          uint32_t pool) {
  lb::ServiceTableSpec::ServiceSpec spec;
  spec.vip = {.prefix = {Ip(vip), 32}, .ports = {{port, port}}};
  spec.service.id = id;
  spec.service.pool = pool;
  return spec;
}

}  // namespace

std::map<Verdict, MakeFrame> LeakCases() {
  Cases all = FrameCases();
  all.merge(HeaderCases());
  all.merge(IcmpCases());
  all.merge(ServiceCases());
  return all;
}

std::shared_ptr<const lb::ServiceTable> LeakServices(
    std::array<lb::BackendCounters, kLeakPools>& counters) {
  lb::ServiceTableSpec spec;
  spec.key = lb::HashKey::FromSeed("leaks");
  spec.ports = {
      {.addresses = {*net::IpPrefix::Parse("10.2.1.2/24"),
                     *net::IpPrefix::Parse("2001:db8:1::2/64")},
       .reaches_v4 = true,
       .mtu = 1500},
      {.addresses = {*net::IpPrefix::Parse("2001:db8:2::2/64")}, .reaches_v6 = true, .mtu = 1500}};
  const std::array<lb::PoolMember, kLeakPools> members = {
      {{.address = Ip(testing::kBackend)},
       {.address = Ip("2001:db8:3::2")},
       {.address = Ip("10.3.9.9"), .state = lb::AdminState::kDisabled}}};
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto path = std::make_shared<lb::BackendPath>();
    spec.keep_alive.push_back(path);
    spec.pools.push_back({.table = lb::PoolTable::Build(
                              {.members = {members[i]}, .table_size = 101, .key = spec.key}),
                          .ids = {static_cast<lb::BackendId>(1 + i)},
                          .counters = {&counters[i]},
                          .paths = {path.get()}});
  }
  spec.services = {Service(1, testing::kVip, 80, 0),
                   Service(2, testing::kVip, kBehindSilentGateway, 1),
                   Service(3, testing::kVip, kWithoutBackend, 2),
                   Service(4, testing::kVip, kDenying, 0),
                   Service(5, kEchoDropVip, 80, 0),
                   Service(6, testing::kVip, kWithoutFragments, 0),
                   Service(7, testing::kVip, kLimited, 0)};
  spec.services[3].deny = {*net::IpPrefix::Parse("192.0.2.0/24")};
  spec.services[4].vip.echo = lb::IcmpEcho::kDrop;
  spec.services[5].service.steer_fragments = false;
  const auto window = std::make_shared<lb::NewFlowWindow>();
  spec.services[6].service.new_flow_rate = {.per_source = 0, .total = 1};
  spec.services[6].service.new_flows = window.get();
  spec.keep_alive.push_back(window);
  return std::make_shared<const lb::ServiceTable>(std::move(spec));
}

}  // namespace penstock::dpdk

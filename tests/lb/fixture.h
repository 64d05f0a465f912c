// A small world for the packet path: a port with its neighbors, pools, services, and a way to
// send frames through ForwardBurst.

#ifndef PENSTOCK_TESTS_LB_FIXTURE_H_
#define PENSTOCK_TESTS_LB_FIXTURE_H_

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "penstock/lb/pipeline.h"
#include "tests/support/frame.h"
#include "tests/support/heap_frames.h"

namespace penstock::lb {

inline constexpr net::MacAddress kPortMac = {{2, 0, 0, 0, 0, 0x01}};
inline constexpr net::MacAddress kGatewayMac = {{2, 0, 0, 0, 0, 0xFE}};

// What came of one frame.
struct Outcome {
  Verdict verdict = Verdict::kForward;
  testing::Bytes frame;  // as it would be sent
};

// Pool 0 "web": v4 backends 10.3.1.2, .2.2, .3.2; pool 1 "web6": 2001:db8:3:N::2.
// Services: 203.0.113.10 and 2001:db8:53::10, TCP and UDP port 80, each with the pool of its
// family; port 8046: v4 VIP over v6 backends; port 8064: v6 VIP over v4 backends.
class World : public ::testing::Test {
 protected:
  World()
      : neighbors_({{.mac = kPortMac,
                     .addresses = {*net::IpPrefix::Parse("10.2.1.2/24"),
                                   *net::IpPrefix::Parse("2001:db8:2:1::2/64")},
                     .gateways = {testing::Ip("10.2.1.1"), testing::Ip("2001:db8:2:1::1")},
                     .gateway_mac = kGatewayMac}}),
        flows_(FlowTable::Create({.v4_entries = 4096, .v6_entries = 4096},
                                 FlowTable::AllocateFromHeap)) {
    for (int n = 1; n <= 3; ++n) {
      const std::string digit = std::to_string(n);
      web_.members.push_back({.address = testing::Ip("10.3." + digit + ".2")});
      web6_.members.push_back({.address = testing::Ip("2001:db8:3:" + digit + "::2")});
    }
    web_.table_size = web6_.table_size = 4999;
    web_.key = web6_.key = HashKey::FromSeed("world");
    Rebuild();
  }

  // Makes a new generation from web_ and web6_. Ids stay with the addresses.
  void Rebuild() {
    ServiceTableSpec spec;
    spec.key = web_.key;
    spec.generation = ++generation_;
    spec.ports = {{.addresses = {*net::IpPrefix::Parse("10.2.1.2/24"),
                                 *net::IpPrefix::Parse("2001:db8:2:1::2/64")},
                   .reaches_v4 = true,
                   .reaches_v6 = true,
                   .mtu = mtu_}};
    for (const PoolTable::Spec& pool : {web_, web6_}) {
      ServiceTableSpec::PoolSpec p{
          .table = PoolTable::Build(pool), .ids = {}, .counters = {}, .paths = {}};
      for (const PoolMember& m : p.table->members()) {
        const BackendId id = ids_.emplace(m.address, ids_.size() + 1).first->second;
        p.ids.push_back(id);
        p.counters.push_back(counters_[id].data());
        p.paths.push_back(&paths_[id]);
      }
      spec.pools.push_back(std::move(p));
    }
    AddService(spec, "203.0.113.10", 80, 0);
    AddService(spec, "2001:db8:53::10", 80, 1);
    AddService(spec, "203.0.113.10", 8046, 1);
    AddService(spec, "2001:db8:53::10", 8064, 0);
    for (const auto& service : more_services_) spec.services.push_back(service);
    services_ = std::make_unique<ServiceTable>(std::move(spec));
  }

  // Adds a service to this and all later generations. Its id is set here.
  void Add(ServiceTableSpec::ServiceSpec service) {
    service.service.id = static_cast<ServiceId>(100 + more_services_.size());
    more_services_.push_back(std::move(service));
    Rebuild();
  }

  // Runs frames through the pipeline as one burst.
  std::vector<Outcome> SendBurst(const std::vector<testing::Bytes>& frames) {
    return SendBurst(frames, Context());
  }
  std::vector<Outcome> SendBurst(const std::vector<testing::Bytes>& frames,
                                 const ForwardContext& context) {
    PacketBurst burst;
    burst.count = static_cast<int>(frames.size());
    burst.port = 0;
    std::vector<testing::Bytes> buffers;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      testing::Bytes buffer(headroom_, 0xEE);
      buffer.insert(buffer.end(), frames[i].begin(), frames[i].end());
      buffer.resize(buffer.size() + 64);
      buffers.push_back(std::move(buffer));
      burst.data[i] = buffers.back().data() + headroom_;
      burst.length[i] = static_cast<uint16_t>(frames[i].size());
      burst.headroom[i] = static_cast<uint16_t>(headroom_);
      burst.tailroom[i] = 64;
      burst.flags[i] = flags_;
    }
    ForwardBurst(context, burst);
    std::vector<Outcome> outcomes;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      outcomes.push_back({burst.verdict[i], {burst.data[i], burst.data[i] + burst.length[i]}});
    }
    return outcomes;
  }
  Outcome Send(const testing::Bytes& frame) { return SendBurst({frame}).front(); }
  Outcome Send(const testing::PacketSpec& spec) { return Send(testing::Frame(spec)); }

  // Destination of the outer header of a forwarded frame.
  static net::IpAddress OuterDestination(const Outcome& o) {
    const uint8_t* l3 = o.frame.data() + net::kEthernetSize;
    if (l3[0] >> 4 == 4) return net::IpAddress::V4(net::Load<net::Ipv4Header>(l3).destination);
    return net::IpAddress::V6(net::Load<net::Ipv6Header>(l3).destination);
  }
  net::IpAddress BackendOf(const testing::PacketSpec& spec) {
    const Outcome o = Send(spec);
    EXPECT_EQ(o.verdict, Verdict::kForward) << InfoOf(o.verdict).name;
    return o.verdict == Verdict::kForward ? OuterDestination(o) : net::IpAddress{};
  }
  PoolMember& MemberAt(const net::IpAddress& address) {
    for (PoolTable::Spec* pool : {&web_, &web6_}) {
      for (PoolMember& m : pool->members) {
        if (m.address == address) return m;
      }
    }
    ADD_FAILURE() << "no member " << address.ToString();
    return web_.members.front();
  }

  ForwardContext Context() {
    return {*services_,  *flows_, neighbors_, flow_counters_, icmp_, new_flows_, extra_,
            *fragments_, 0,       now_};
  }
  uint64_t Events(FlowEvent e) const {
    return flow_counters_.events[static_cast<std::size_t>(e)].Read();
  }

  PoolTable::Spec web_;
  PoolTable::Spec web6_;
  Neighbors neighbors_;
  std::unique_ptr<FlowTable> flows_;
  FlowCounters flow_counters_;
  std::map<net::IpAddress, BackendId> ids_;
  std::map<BackendId, std::array<BackendCounters, 4>> counters_;  // by worker
  std::map<BackendId, BackendPath> paths_;
  IcmpLimiter icmp_{1000};
  NewFlowLimiter new_flows_{1};
  std::vector<ServiceTableSpec::ServiceSpec> more_services_;
  testing::HeapFrames extra_;
  std::unique_ptr<FragmentTable> fragments_ =
      std::make_unique<FragmentTable>(HashKey::FromSeed("fragments"));
  uint16_t mtu_ = 1600;
  std::unique_ptr<ServiceTable> services_;
  base::Tick now_ = 1000;
  uint64_t generation_ = 0;
  std::size_t headroom_ = 128;
  uint8_t flags_ = 0;

 private:
  void AddService(ServiceTableSpec& spec, const char* vip, uint16_t port, uint32_t pool) {
    for (const uint8_t protocol : {net::kProtocolTcp, net::kProtocolUdp}) {
      const auto id = static_cast<ServiceId>(spec.services.size() + 1);
      spec.services.push_back({.vip = {.prefix = *net::IpPrefix::Parse(vip),
                                       .protocol = protocol,
                                       .ports = {{port, port}}},
                               .service = {.id = id, .pool = pool},
                               .deny = {},
                               .outer_source = {}});
    }
  }
};

}  // namespace penstock::lb

#endif  // PENSTOCK_TESTS_LB_FIXTURE_H_

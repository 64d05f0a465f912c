// Any bytes as a frame through the whole pipeline: a verdict each time, and for a forwarded packet
// the inner bytes untouched behind outer headers whose lengths add up.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "penstock/lb/pipeline.h"
#include "tests/support/heap_frames.h"

namespace penstock::lb {
namespace {

constexpr std::size_t kHeadroom = 128;
constexpr std::size_t kTailroom = 64;

net::IpPrefix Prefix(const char* text) {
  return *net::IpPrefix::Parse(text);
}

// A pool with a backend of each family on the port's segment, and for each VIP of the seed corpus a
// service of each encapsulation: TCP and UDP port 80 IP-in-IP, 81 GRE, 82 GUE, 83 l2, 90 to 99 with
// outer sources. A second VIP forwards pings.
class World {
 public:
  World()
      : neighbors_({{.mac = {{2, 0, 0, 0, 0, 1}},
                     .addresses = {Prefix("10.2.1.2/24"), Prefix("2001:db8:2:1::2/64")},
                     .gateways = {},
                     .gateway_mac = net::MacAddress{{2, 0, 0, 0, 0, 0xFE}}}}),
        flows_(NewTable()),
        other_(NewTable()) {
    ServiceTableSpec spec;
    spec.key = HashKey::FromSeed("fuzz");
    spec.ports = {{.addresses = {Prefix("10.2.1.2/24"), Prefix("2001:db8:2:1::2/64")},
                   .reaches_v4 = true,
                   .reaches_v6 = true,
                   .mtu = 1500}};
    PoolTable::Spec pool{.members = {{.address = Prefix("10.2.1.3").address},
                                     {.address = Prefix("2001:db8:2:1::3").address}},
                         .table_size = 17,
                         .key = spec.key};
    spec.pools.push_back({.table = PoolTable::Build(pool),
                          .ids = {1, 2},
                          .counters = {&counters_[0], &counters_[1]},
                          .paths = {&paths_[0], &paths_[1]}});
    for (BackendPath& path : paths_) path.neighbor.Learn({{2, 0, 0, 0, 0, 0x33}}, 0);
    for (const char* vip : {"203.0.113.10", "2001:db8:53::10"}) AddServices(spec, Prefix(vip));
    Add(spec, Prefix("203.0.113.64/26"), net::kProtocolUdp, {}, Encapsulation::kIpip);
    spec.services.back().vip.echo = IcmpEcho::kForward;
    spec.services.back().deny = {Prefix("192.0.2.128/25")};
    services_ = std::make_unique<ServiceTable>(std::move(spec));
  }

  void Run(const uint8_t* data, std::size_t size) {
    // Exactly as much memory as the burst says there is, so that any byte beyond is noticed.
    std::vector<uint8_t> buffer(kHeadroom + size + kTailroom);
    std::copy_n(data, size, buffer.begin() + kHeadroom);
    PacketBurst burst;
    burst.count = 1;
    burst.data[0] = buffer.data() + kHeadroom;
    burst.length[0] = static_cast<uint16_t>(size);
    burst.headroom[0] = kHeadroom;
    burst.tailroom[0] = kTailroom;
    burst.flags[0] = 0;
    extra_.frames.clear();
    const FlowTable* const peers[] = {other_.get()};
    ForwardBurst({*services_, *flows_, neighbors_, events_, icmp_, new_flows_, extra_, *fragments_,
                  0, ++now_ / 64, peers},
                 burst);
    if (burst.verdict[0] >= Verdict::kCount) std::abort();
    if (burst.verdict[0] == Verdict::kHold) CheckHeld(buffer, data, size);
    if (!IsSent(burst.verdict[0])) return;
    if (burst.data[0] < buffer.data()) std::abort();
    if (burst.data[0] + burst.length[0] > buffer.data() + buffer.size()) std::abort();
    if (burst.verdict[0] == Verdict::kForward) CheckForwarded(burst, data);
  }

 private:
  static std::unique_ptr<FlowTable> NewTable() {
    return FlowTable::Create({.v4_entries = 64, .v6_entries = 64}, FlowTable::AllocateFromHeap);
  }
  void Add(ServiceTableSpec& spec, const net::IpPrefix& vip, uint8_t protocol,
           std::vector<PortRange> ports, Encapsulation encapsulation) {
    ServiceTableSpec::ServiceSpec service;
    service.vip = {.prefix = vip, .protocol = protocol, .ports = std::move(ports)};
    service.service.id = static_cast<ServiceId>(spec.services.size() + 1);
    service.service.encapsulation = encapsulation;
    // All ways of tracking in turn; services with GRE limit their new flows.
    service.service.tracking = static_cast<Tracking>(spec.services.size() % 3);
    if (encapsulation == Encapsulation::kGre) {
      service.service.new_flow_rate = {.per_source = 3, .total = 20};
      service.service.new_flows = &new_flows_window_;
    }
    spec.services.push_back(std::move(service));
  }
  void AddServices(ServiceTableSpec& spec, const net::IpPrefix& vip) {
    for (const uint8_t protocol : {net::kProtocolTcp, net::kProtocolUdp}) {
      for (uint16_t port = 80; port <= 83; ++port) {
        Add(spec, vip, protocol, {{port, port}}, static_cast<Encapsulation>(port - 80));
      }
      Add(spec, vip, protocol, {{90, 99}}, Encapsulation::kGue);
      spec.services.back().outer_source = Prefix("10.64.0.0/16");
    }
  }

  // It will come again as it is now.
  static void CheckHeld(const std::vector<uint8_t>& buffer, const uint8_t* data, std::size_t size) {
    if (!std::equal(data, data + size, buffer.begin() + kHeadroom)) std::abort();
  }

  // The inner packet is what came in, or its first fragment; outside, lengths add up.
  void CheckForwarded(const PacketBurst& burst, const uint8_t* original) const {
    const net::PacketView& view = burst.view[0];
    const std::size_t outer_end = burst.length[0] - std::size_t{view.ip_length};
    const uint8_t* inner = burst.data[0] + outer_end;
    const bool whole = extra_.frames.empty();
    if (whole && !std::equal(inner, inner + view.ip_length, original + view.l3_offset)) {
      std::abort();
    }
    net::PacketView outer;
    const auto status = net::ParseFrame({burst.data[0], burst.length[0]}, false, outer);
    if (outer.l3_offset + outer.ip_length != burst.length[0]) std::abort();
    if (outer_end == 14) return;  // l2
    // GUE is UDP; IP-in-IP and GRE are neither TCP nor UDP nor ICMP.
    const bool gue = outer_end == 14 + 32 || outer_end == 14 + 52;
    if (status != (gue ? net::ParseStatus::kOk : net::ParseStatus::kUnknownProtocol)) std::abort();
  }

  BackendCounters counters_[2];
  BackendPath paths_[2];
  Neighbors neighbors_;
  std::unique_ptr<FlowTable> flows_;
  std::unique_ptr<FlowTable> other_;  // of a worker that never gets a packet
  FlowCounters events_;
  IcmpLimiter icmp_{1000};
  NewFlowLimiter new_flows_{1};
  NewFlowWindow new_flows_window_;  // of all limited services
  testing::HeapFrames extra_;
  std::unique_ptr<FragmentTable> fragments_ =
      std::make_unique<FragmentTable>(HashKey::FromSeed("fragments"));
  std::unique_ptr<ServiceTable> services_;
  base::Tick now_ = 0;
};

}  // namespace
}  // namespace penstock::lb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static penstock::lb::World world;
  if (size <= 4096) world.Run(data, size);
  return 0;
}

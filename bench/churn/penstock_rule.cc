// penstock itself: its tables, its flow tables and its packet path, on frames.

#include <chrono>
#include <map>

#include "bench/churn/rule.h"
#include "penstock/lb/kept_flows.h"
#include "penstock/lb/pipeline.h"
#include "penstock/net/checksum.h"

namespace penstock::bench {
namespace {

constexpr net::MacAddress kPortMac = {{2, 0, 0, 0, 0, 1}};
constexpr std::size_t kHeadroom = 128;
constexpr std::size_t kFrame = net::kEthernetSize + net::kIpv4Size + sizeof(net::TcpHeader);
constexpr uint32_t kVip = 203U << 24 | 113U << 8 | 10U;
// The simulation's second 0, on the wall clock and on the workers' clock.
constexpr std::chrono::sys_seconds kStart{std::chrono::seconds(1'000'000)};
constexpr base::Tick kFirstTick = 100'000;
constexpr lb::ServiceId kService = 1;

class NoExtraFrames final : public lb::ExtraFrames {
 public:
  bool Reserve(std::size_t /*count*/, std::size_t /*size*/) override { return false; }
  uint8_t* Add(uint8_t /*port*/, std::size_t /*size*/) override { return nullptr; }
};

void WriteFrame(const Packet& packet, uint8_t* at) {
  net::Store(at, net::EthernetHeader{kPortMac, {{2, 0, 0, 0, 0, 9}}, base::be16_t(0x0800)});
  net::Ipv4Header ip;
  ip.total_length = base::be16_t(static_cast<uint16_t>(kFrame - net::kEthernetSize));
  ip.ttl = 64;
  ip.protocol = net::kProtocolTcp;
  ip.source = base::be32_t(packet.source);
  ip.destination = base::be32_t(kVip);
  ip.checksum = net::Ipv4Checksum(ip);
  net::Store(at + net::kEthernetSize, ip);
  net::TcpHeader tcp;
  tcp.source_port = base::be16_t(packet.port);
  tcp.destination_port = base::be16_t(80);
  const uint8_t last = packet.fin ? net::kTcpFin : uint8_t{0};
  tcp.flags = packet.syn ? net::kTcpSyn : static_cast<uint8_t>(net::kTcpAck | last);
  net::Store(at + net::kEthernetSize + net::kIpv4Size, tcp);
}

// One host: what a worker has of its own.
struct Host {
  explicit Host(std::size_t entries) : flows(NewTable(entries)) {}
  static std::unique_ptr<lb::FlowTable> NewTable(std::size_t entries) {
    return lb::FlowTable::Create({.v4_entries = entries, .v6_entries = 8},
                                 lb::FlowTable::AllocateFromHeap);
  }
  std::unique_ptr<lb::FlowTable> flows;
  lb::FlowCounters events;
  lb::IcmpLimiter icmp{1000};
  lb::NewFlowLimiter new_flows{1};
};

// A backend's identity in the fleet, by number and incarnation.
struct Identity {
  lb::BackendId id = lb::kNoId;
  std::unique_ptr<lb::BackendCounters[]> counters;  // by host
  lb::BackendPath path;
};

class PenstockRule final : public Rule {
 public:
  explicit PenstockRule(const RuleOptions& options)
      : options_(options),
        neighbors_({{.mac = kPortMac,
                     .addresses = {*net::IpPrefix::Parse("192.0.2.2/24")},
                     .gateways = {*net::IpAddress::Parse("192.0.2.1")},
                     .gateway_mac = net::MacAddress{{2, 0, 0, 0, 0, 0xFE}}}}),
        fragments_(key_) {
    for (uint32_t i = 0; i < options.hosts; ++i) {
      hosts_.push_back(std::make_unique<Host>(options.entries));
    }
  }
  std::string_view name() const override { return "penstock"; }

  void SetPool(const FleetState& state, uint32_t second) override {
    now_ = kFirstTick + second;
    const std::chrono::sys_seconds time = kStart + std::chrono::seconds(second);
    lb::PoolTable::Spec spec = SpecOf(state, time);
    if (table_ == nullptr || !table_->IsOf(spec) || time >= table_->valid_until()) {
      table_ = lb::PoolTable::Build(std::move(spec), table_.get());
      Publish(state);
    }
    // Once over the tables in a second, as workers do.
    for (uint32_t host = 0; host < hosts_.size(); ++host) {
      SweepFlows(Context(host), hosts_[host]->flows->v4().bucket_count());
    }
  }

  BackendNumber Send(uint32_t host, const Packet& packet) override {
    lb::PacketBurst burst;
    burst.count = 1;
    burst.port = 0;
    WriteFrame(packet, buffer_ + kHeadroom);
    burst.data[0] = buffer_ + kHeadroom;
    burst.length[0] = kFrame;
    burst.headroom[0] = kHeadroom;
    burst.tailroom[0] = 0;
    burst.flags[0] = 0;
    ForwardBurst(Context(host), burst);
    if (burst.verdict[0] != lb::Verdict::kForward) return 0;
    const auto outer = net::Load<net::Ipv4Header>(burst.data[0] + net::kEthernetSize);
    return FleetState::NumberOf(net::IpAddress::V4(outer.destination));
  }

  void Reboot(uint32_t host) override { hosts_[host]->flows = Host::NewTable(options_.entries); }
  void Restart(uint32_t host) override {
    std::vector<lb::KeptFlow> kept;
    lb::CollectFlows(*services_, *hosts_[host]->flows, now_, kept);
    Reboot(host);
    const lb::RestoreTarget target{hosts_[host]->flows.get(), static_cast<int>(host)};
    lb::RestoreFlows(*services_, {&target, 1}, kept, now_);
  }

 private:
  lb::ForwardContext Context(uint32_t host) {
    Host& h = *hosts_[host];
    return {.services = *services_,
            .flows = *h.flows,
            .neighbors = neighbors_,
            .flow_counters = h.events,
            .icmp = h.icmp,
            .new_flows = h.new_flows,
            .extra = extra_,
            .fragments = fragments_,
            .worker = static_cast<int>(host),
            .now = now_};
  }

  lb::PoolTable::Spec SpecOf(const FleetState& state, std::chrono::sys_seconds time) {
    lb::PoolTable::Spec spec;
    spec.table_size = options_.table_size;
    spec.key = key_;
    spec.now = time;
    lb::BaseTable::Spec base{.members = {}, .table_size = options_.table_size, .key = key_};
    for (const auto& [number, backend] : state.backends()) {  // by number is by address
      const net::IpAddress address = FleetState::AddressOf(number);
      spec.members.push_back({address, backend.weight, backend.state, backend.healthy});
      base.members.push_back({address, backend.weight});
    }
    if (eras_.empty() || eras_.back().base->spec() != base) {
      eras_ = lb::Succeed(std::move(eras_), {lb::BaseTable::Build(std::move(base)), time},
                          spec.transition);
    }
    eras_ = lb::Remembered(std::move(eras_), spec.transition, time);
    spec.eras = eras_;
    return spec;
  }

  Identity& IdentityOf(BackendNumber number, const BackendState& backend) {
    Identity& identity = identities_[{number, backend.incarnation}];
    if (identity.id == lb::kNoId) {
      identity.id = static_cast<lb::BackendId>(identities_.size());
      identity.counters = std::make_unique<lb::BackendCounters[]>(options_.hosts);
    }
    return identity;
  }

  void Publish(const FleetState& state) {
    lb::ServiceTableSpec spec;
    spec.key = key_;
    spec.ports = {{.addresses = {*net::IpPrefix::Parse("192.0.2.2/24")}, .reaches_v4 = true}};
    lb::ServiceTableSpec::PoolSpec pool{.table = table_, .ids = {}, .counters = {}, .paths = {}};
    for (const auto& [number, backend] : state.backends()) {
      Identity& identity = IdentityOf(number, backend);
      pool.ids.push_back(identity.id);
      pool.counters.push_back(identity.counters.get());
      pool.paths.push_back(&identity.path);
    }
    spec.pools.push_back(std::move(pool));
    lb::ServiceTableSpec::ServiceSpec service;
    service.vip = {.prefix = {net::IpAddress::V4(base::be32_t(kVip)), 32},
                   .protocol = net::kProtocolTcp,
                   .ports = {{80, 80}}};
    service.service.id = kService;
    spec.services.push_back(std::move(service));
    services_ = std::make_unique<lb::ServiceTable>(std::move(spec));
  }

  const RuleOptions options_;
  const lb::HashKey key_ = lb::HashKey::FromSeed("churn");
  lb::Neighbors neighbors_;
  lb::FragmentTable fragments_;
  NoExtraFrames extra_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::map<std::pair<BackendNumber, uint32_t>, Identity> identities_;
  lb::Eras eras_;
  std::shared_ptr<const lb::PoolTable> table_;
  std::unique_ptr<lb::ServiceTable> services_;
  base::Tick now_ = kFirstTick;
  uint8_t buffer_[kHeadroom + kFrame] = {};
};

}  // namespace

std::unique_ptr<Rule> MakePenstockRule(const RuleOptions& options) {
  return std::make_unique<PenstockRule>(options);
}

}  // namespace penstock::bench

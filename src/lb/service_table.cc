#include "penstock/lb/service_table.h"

#include <algorithm>

namespace penstock::lb {
namespace {

// Cells of the exact indexes say either which service, or only that the address is a VIP.
constexpr uint32_t kVipOnly = UINT32_MAX - 1;

FlowKey4 IndexKey4(uint32_t vip, base::be16_t port, uint8_t protocol) {
  FlowKey4 key;
  key.destination = vip;
  key.destination_port = port;
  key.service = ServiceAndProtocol::Of(kNoId, protocol);
  return key;
}

FlowKey6 IndexKey6(const std::array<uint8_t, 16>& vip, base::be16_t port, uint8_t protocol) {
  FlowKey6 key;
  key.destination = vip;
  key.destination_port = port;
  key.service = ServiceAndProtocol::Of(kNoId, protocol);
  return key;
}

// Protocol 0 stands for "some service has this address": no service has it (IPv6 hop-by-hop).
FlowKey4 VipKey(uint32_t vip) {
  return IndexKey4(vip, base::be16_t(0), 0);
}
FlowKey6 VipKey(const std::array<uint8_t, 16>& vip) {
  return IndexKey6(vip, base::be16_t(0), 0);
}

std::size_t CountKeys(const std::vector<ServiceTableSpec::ServiceSpec>& services,
                      net::Family family) {
  std::size_t keys = 0;
  for (const auto& s : services) {
    if (s.address.family == family) keys += s.ports.size() + 1;
  }
  return keys;
}

// The first port with an address and a gateway of the family sends.
uint8_t ChooseEgress(net::Family family, std::span<const EgressPort> ports) {
  const auto reaches = [&](const EgressPort& p) {
    return family == net::Family::kIpv4 ? p.reaches_v4 : p.reaches_v6;
  };
  const auto it = std::find_if(ports.begin(), ports.end(), reaches);
  return static_cast<uint8_t>(it == ports.end() ? 0 : it - ports.begin());
}

net::IpAddress OuterSource(net::Family family, const EgressPort& port) {
  const auto it = std::find_if(port.addresses.begin(), port.addresses.end(),
                               [family](const net::IpAddress& a) { return a.family == family; });
  return it == port.addresses.end() ? net::IpAddress{.family = family} : *it;
}

// What every outer header to this backend has in common.
void FillOuter(const net::IpAddress& source, const net::IpAddress& destination, Backend& backend) {
  if (destination.IsV4()) {
    net::Ipv4Header ip;
    ip.fragment = base::be16_t(net::kIpv4DontFragment);  // with ID 0: atomic (RFC 6864 section 4.1)
    ip.ttl = 64;
    ip.source = source.v4();
    ip.destination = destination.v4();
    net::Store(backend.outer.data(), ip);
    return;
  }
  net::Ipv6Header ip;
  ip.hop_limit = 64;
  ip.source = source.bytes;
  ip.destination = destination.bytes;
  net::Store(backend.outer.data(), ip);
}

// What the member may be used for. A pool may come twice, for services that differ in
// on_no_backend: what one of them may use, both may; they differ only while no backend is usable.
void FillState(const PoolTable& table, MemberIndex index, Backend& backend) {
  const PoolMember& member = table.members()[index];
  const bool enabled = member.state != AdminState::kDisabled;
  const bool takes = table.takes_new_flows(index);
  backend.healthy = member.healthy;
  backend.draining = member.state == AdminState::kDraining;
  backend.takes_new_flows |= takes;
  // An unhealthy backend keeps its TCP flows: they may outlive a failing check, and moving them
  // breaks them for sure. UDP has nothing to break.
  backend.serves_tcp_flows = enabled;
  backend.serves_udp_flows |= (enabled && member.healthy) || takes;
}

}  // namespace

ServiceTable::ServiceTable(ServiceTableSpec spec)
    : key_(spec.key),
      generation_(spec.generation),
      index4_(CountKeys(spec.services, net::Family::kIpv4), spec.key),
      index6_(CountKeys(spec.services, net::Family::kIpv6), spec.key),
      keep_alive_(std::move(spec.keep_alive)) {
  for (const EgressPort& port : spec.ports) {
    own_addresses_.insert(own_addresses_.end(), port.addresses.begin(), port.addresses.end());
  }
  BackendId last = kNoId;
  for (const auto& pool : spec.pools) {
    for (const BackendId id : pool.ids) last = std::max(last, id);
  }
  backends_.resize(last + 1);
  for (const auto& pool : spec.pools) {
    AddBackends(pool, spec.ports);
    pools_.push_back({pool.table, pool.ids});
  }
  services_.reserve(spec.services.size());  // services_by_id_ points into it
  for (uint32_t i = 0; i < spec.services.size(); ++i) AddService(spec.services[i], i);
}

void ServiceTable::AddBackends(const ServiceTableSpec::PoolSpec& pool,
                               std::span<const EgressPort> ports) {
  for (std::size_t i = 0; i < pool.ids.size(); ++i) {
    const PoolMember& member = pool.table->members()[i];
    Backend& backend = backends_[pool.ids[i]];
    backend.family = member.address.family;
    backend.egress_port = ChooseEgress(member.address.family, ports);
    backend.counters = pool.counters[i];
    if (!ports.empty()) {
      const EgressPort& port = ports[backend.egress_port];
      backend.mtu = port.mtu;
      FillOuter(OuterSource(member.address.family, port), member.address, backend);
    }
    FillState(*pool.table, static_cast<MemberIndex>(i), backend);
  }
}

void ServiceTable::AddService(const ServiceTableSpec::ServiceSpec& spec, uint32_t index) {
  services_.push_back(spec.service);
  const ServiceId id = spec.service.id;
  if (id >= services_by_id_.size()) services_by_id_.resize(id + 1, nullptr);
  services_by_id_[id] = &services_.back();
  const uint32_t v4 = spec.address.v4().raw();
  for (const uint16_t port : spec.ports) {
    const base::be16_t p(port);
    if (spec.address.IsV4()) {
      index4_.Insert(IndexKey4(v4, p, spec.protocol), index);
    } else {
      index6_.Insert(IndexKey6(spec.address.bytes, p, spec.protocol), index);
    }
  }
  if (spec.address.IsV4()) {
    index4_.Insert(VipKey(v4), kVipOnly);
  } else {
    index6_.Insert(VipKey(spec.address.bytes), kVipOnly);
  }
}

const Service* ServiceTable::Find(const FlowKey4& key) const {
  const uint32_t at =
      index4_.Find(IndexKey4(key.destination, key.destination_port, key.service.protocol()));
  return at == ExactIndex<FlowKey4>::kAbsent ? nullptr : &services_[at];
}

const Service* ServiceTable::Find(const FlowKey6& key) const {
  const uint32_t at =
      index6_.Find(IndexKey6(key.destination, key.destination_port, key.service.protocol()));
  return at == ExactIndex<FlowKey6>::kAbsent ? nullptr : &services_[at];
}

bool ServiceTable::IsVip(const FlowKey4& key) const {
  return index4_.Find(VipKey(key.destination)) != ExactIndex<FlowKey4>::kAbsent;
}

bool ServiceTable::IsVip(const FlowKey6& key) const {
  return index6_.Find(VipKey(key.destination)) != ExactIndex<FlowKey6>::kAbsent;
}

bool ServiceTable::IsOwnAddress(const net::IpAddress& source) const {
  return std::find(own_addresses_.begin(), own_addresses_.end(), source) != own_addresses_.end();
}

}  // namespace penstock::lb

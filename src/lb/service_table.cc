#include "penstock/lb/service_table.h"

#include <algorithm>

namespace penstock::lb {
namespace {

bool Reaches(const EgressPort& port, net::Family family) {
  return family == net::Family::kIpv4 ? port.reaches_v4 : port.reaches_v6;
}

// The first port with an address and a gateway of the family sends.
uint8_t ChooseEgress(net::Family family, std::span<const EgressPort> ports) {
  const auto reaches = [family](const EgressPort& port) { return Reaches(port, family); };
  const auto it = std::find_if(ports.begin(), ports.end(), reaches);
  return static_cast<uint8_t>(it == ports.end() ? 0 : it - ports.begin());
}

net::IpAddress PortSource(net::Family family, const EgressPort& port) {
  const auto it =
      std::find_if(port.addresses.begin(), port.addresses.end(),
                   [family](const net::IpPrefix& own) { return own.address.family == family; });
  return it == port.addresses.end() ? net::IpAddress{.family = family} : it->address;
}

// The port on whose segment the address is, if any.
struct Segment {
  uint8_t port = 0;
  net::IpAddress own;  // our address there
};
std::optional<Segment> FindSegment(const net::IpAddress& address,
                                   std::span<const EgressPort> ports) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    for (const net::IpPrefix& own : ports[i].addresses) {
      if (own.Contains(address)) return Segment{static_cast<uint8_t>(i), own.address};
    }
  }
  return std::nullopt;
}

// Everything we may send from.
std::vector<net::IpPrefix> OwnAddresses(const ServiceTableSpec& spec) {
  std::vector<net::IpPrefix> own;
  for (const EgressPort& port : spec.ports) {
    for (const net::IpPrefix& address : port.addresses) {
      own.push_back({address.address, static_cast<uint8_t>(address.address.size() * 8)});
    }
  }
  for (const auto& service : spec.services) {
    if (service.outer_source) own.push_back(*service.outer_source);
  }
  return own;
}

// RFC 1122 section 3.2.1.3: all host bits zero or one; point-to-point networks have none (RFC
// 3021).
std::vector<net::IpPrefix> Broadcasts(std::span<const EgressPort> ports) {
  std::vector<net::IpPrefix> all;
  for (const EgressPort& port : ports) {
    for (const net::IpPrefix& own : port.addresses) {
      if (!own.address.IsV4() || own.length > 30) continue;
      all.push_back({own.First(), 32});
      all.push_back({own.Last(), 32});
    }
  }
  return all;
}

std::vector<VipEntry> VipEntries(const ServiceTableSpec& spec) {
  std::vector<VipEntry> entries;
  entries.reserve(spec.services.size());
  for (const auto& service : spec.services) entries.push_back(service.vip);
  return entries;
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

net::IpAddress Backend::address() const {
  if (family == net::Family::kIpv4) {
    return net::IpAddress::V4(net::Load<net::Ipv4Header>(outer.data()).destination);
  }
  return net::IpAddress::V6(net::Load<net::Ipv6Header>(outer.data()).destination);
}

ServiceTable::ServiceTable(ServiceTableSpec spec) : ServiceTable(spec, VipEntries(spec)) {}

ServiceTable::ServiceTable(ServiceTableSpec spec, const std::vector<VipEntry>& vips)
    : key_(spec.key),
      generation_(spec.generation),
      own_addresses_(OwnAddresses(spec)),
      broadcasts_(Broadcasts(spec.ports)),
      vips4_(vips, spec.key),
      vips6_(vips, spec.key),
      keep_alive_(std::move(spec.keep_alive)) {
  for (const EgressPort& port : spec.ports) port_mtus_.push_back(port.mtu);
  BackendId last = kNoId;
  for (const auto& pool : spec.pools) {
    for (const BackendId id : pool.ids) last = std::max(last, id);
  }
  backends_.resize(last + 1);
  for (const auto& pool : spec.pools) {
    AddBackends(pool, spec.ports);
    pools_.push_back({pool.table, pool.ids});
  }
  for (BackendId id = kNoId + 1; id <= last; ++id) {
    if (backends_[id].counters != nullptr) by_address_.emplace_back(backends_[id].address(), id);
  }
  std::sort(by_address_.begin(), by_address_.end());
  AddServices(spec);
  WatchL2Backends(spec.ports);
}

void ServiceTable::AddBackends(const ServiceTableSpec::PoolSpec& pool,
                               std::span<const EgressPort> ports) {
  for (std::size_t i = 0; i < pool.ids.size(); ++i) {
    const PoolMember& member = pool.table->members()[i];
    Backend& backend = backends_[pool.ids[i]];
    backend.family = member.address.family;
    backend.egress_port = ChooseEgress(member.address.family, ports);
    backend.counters = pool.counters[i];
    backend.path = pool.paths[i];
    if (!ports.empty()) {
      const EgressPort& port = ports[backend.egress_port];
      backend.mtu = backend.l2_mtu = port.mtu;
      backend.routed = Reaches(port, member.address.family);
      FillOuter(PortSource(member.address.family, port), member.address, backend);
    }
    FillState(*pool.table, static_cast<MemberIndex>(i), backend);
  }
}

void ServiceTable::AddServices(const ServiceTableSpec& spec) {
  services_.reserve(spec.services.size());  // services_by_id_ points into it
  for (const auto& one : spec.services) {
    Service& service = services_.emplace_back(one.service);
    if (!one.deny.empty()) {
      service.denied = denied_.emplace_back(std::make_unique<const AddressSet>(one.deny)).get();
    }
    if (one.outer_source) {
      auto source = std::make_unique<const OuterSource>(OuterSource{*one.outer_source});
      service.outer_source = outer_sources_.emplace_back(std::move(source)).get();
    }
    if (service.id >= services_by_id_.size()) services_by_id_.resize(service.id + 1, nullptr);
    services_by_id_[service.id] = &service;
  }
}

void ServiceTable::WatchL2Backends(std::span<const EgressPort> ports) {
  std::vector<bool> watched(backends_.size());
  for (const Service& service : services_) {
    if (service.encapsulation != Encapsulation::kL2) continue;
    for (const BackendId id : pools_[service.pool].ids) {
      Backend& backend = backends_[id];
      const auto segment = FindSegment(backend.address(), ports);
      if (!segment || watched[id]) continue;
      watched[id] = backend.on_segment = true;
      backend.l2_port = segment->port;
      backend.l2_mtu = ports[segment->port].mtu;
      watched_.push_back({backend.address(), segment->own, segment->port, &backend.path->neighbor});
    }
  }
  std::sort(
      watched_.begin(), watched_.end(),
      [](const WatchedNeighbor& a, const WatchedNeighbor& b) { return a.address < b.address; });
}

net::IpAddress OuterSource::For(FlowHash hash) const {
  net::IpAddress source = prefix.address;
  const int host_bits = source.size() * 8 - prefix.length;
  if (host_bits == 0) return source;
  if (source.IsV4()) {
    const uint32_t mask = host_bits == 32 ? UINT32_MAX : (1U << host_bits) - 1;
    uint32_t host = static_cast<uint32_t>(hash.bits) & mask;
    // Neither the network's nor its broadcast address, where there are such (RFC 3021).
    if (host_bits > 1 && host == 0) host = 1;
    if (host_bits > 1 && host == mask) host = mask - 1;
    return net::IpAddress::V4(base::be32_t((source.v4().value() & ~mask) | host));
  }
  const uint64_t mask = host_bits >= 64 ? UINT64_MAX : (uint64_t{1} << host_bits) - 1;
  uint64_t host = hash.bits & mask;
  if (host == 0) host = 1;  // RFC 4291 section 2.6.1: zero is the routers' anycast address
  for (std::size_t i = 0; i < 8; ++i) {
    uint8_t& byte = source.bytes[15 - i];
    byte = static_cast<uint8_t>((byte & ~(mask >> (8 * i))) | host >> (8 * i));
  }
  return source;
}

}  // namespace penstock::lb

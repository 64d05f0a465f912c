#include <algorithm>
#include <optional>
#include <string>

#include "config/address_index.h"
#include "config/overheads.h"
#include "config/prefix.h"
#include "config/rules.h"
#include "config/schema.h"
#include "config/text.h"
#include "penstock/config/validate.h"

namespace penstock::config {
namespace {

constexpr int kMinIpv6Mtu = 1280;  // RFC 8200 section 5

int Version(net::Family family) {
  return family == net::Family::kIpv4 ? 4 : 6;
}

bool AnyReaches(const HostConfig& host, net::Family family) {
  const auto& ports = host.dataplane.ports;
  return std::any_of(ports.begin(), ports.end(),
                     [&](const PortConfig& port) { return Reaches(port, family); });
}

PrefixIndex IndexSegments(const HostConfig& host) {
  std::vector<PrefixIndex::Entry> entries;
  for (const PortConfig& port : host.dataplane.ports) {
    for (const net::IpPrefix& own : port.addresses) entries.push_back({.prefix = own});
  }
  return PrefixIndex(std::move(entries));
}

// How the services of one pool send to its backends.
struct PoolUse {
  // Wrapped, through a gateway. Taken for true without services: one may join at any time.
  bool routed = true;
  // One that sends to the MAC of each backend.
  const Service* l2 = nullptr;
};

class AgainstHost {
 public:
  AgainstHost(const ServicesConfig& config, const HostConfig& host)
      : config_(config),
        host_(host),
        own_(IndexHost(host)),
        segments_(IndexSegments(host)),
        overheads_(config),
        reaches_v4_(AnyReaches(host, net::Family::kIpv4)),
        reaches_v6_(AnyReaches(host, net::Family::kIpv6)) {}

  Violations Run() {
    const std::vector<PoolUse> uses = UsesOfPools();
    for (std::size_t i = 0; i < config_.pools.size(); ++i) {
      for (std::size_t j = 0; j < config_.pools[i].backends.size(); ++j) {
        const net::IpAddress& address = config_.pools[i].backends[j].address;
        Add(Below(BackendPath(i, j), "address"), BackendProblem(address, uses[i]));
      }
    }
    for (std::size_t i = 0; i < config_.services.size(); ++i) {
      const Service& service = config_.services[i];
      Add(ServicePath(i, "address"), VipProblem(service.prefix));
      Add(ServicePath(i, "outer_source_prefix"), SourceProblem(service));
      CheckMtu(service, ServicePath(i, "address"));
    }
    return std::move(violations_);
  }

 private:
  void Add(std::string path, std::optional<std::string> problem) {
    if (problem) violations_.push_back({std::move(path), *std::move(problem)});
  }

  std::vector<PoolUse> UsesOfPools() const {
    std::vector<PoolUse> uses(config_.pools.size());
    const PoolPositions positions = PositionsOf(config_.pools);
    std::vector<bool> routed(uses.size());
    for (const Service& service : config_.services) {
      const std::size_t pool = positions.at(service.pool);
      if (service.encapsulation != Encapsulation::kL2) {
        routed[pool] = true;
      } else if (uses[pool].l2 == nullptr) {
        uses[pool].l2 = &service;
      }
    }
    for (std::size_t i = 0; i < uses.size(); ++i) {
      uses[i].routed = routed[i] || uses[i].l2 == nullptr;
    }
    return uses;
  }

  // "an address of port uplink of this host".
  std::string Describe(const AddressIndex::Entry& own) const {
    return Concat(own.item == kOwnAddress ? "an address" : "a gateway", " of port ",
                  host_.dataplane.ports[own.group].name, " of this host");
  }

  std::optional<std::string> BackendProblem(const net::IpAddress& address,
                                            const PoolUse& use) const {
    for (const AddressIndex::Entry& same : own_.Equal(address)) {
      if (same.item != kOwnAddress) continue;
      return Concat(address.ToString(), " is ", Describe(same), ", which would send to itself");
    }
    if (use.l2 != nullptr && !segments_.Holds(address)) {
      return Concat(address.ToString(),
                    " is outside the prefixes of this host's port addresses, so service ",
                    use.l2->name, " cannot reach it with encapsulation l2");
    }
    if (!use.routed || (address.IsV4() ? reaches_v4_ : reaches_v6_)) return std::nullopt;
    return Concat("no port of this host has an IPv", Version(address.family),
                  " address and a gateway, so the backend cannot be reached");
  }

  // Packets for the host itself or for its gateways would be taken for clients' packets.
  std::optional<std::string> VipProblem(const net::IpPrefix& prefix) const {
    const auto held = own_.Within(prefix);
    if (held.empty()) return std::nullopt;
    const AddressIndex::Entry& first = held.front();
    if (prefix.length == Bits(prefix.address)) {
      return Concat(first.address.ToString(), " is ", Describe(first));
    }
    return Concat(PrefixText(prefix), " holds ", first.address.ToString(), ", ", Describe(first),
                  AndMore(held.size()));
  }

  std::optional<std::string> SourceProblem(const Service& service) const {
    if (!service.outer_source_prefix) return std::nullopt;
    for (const AddressIndex::Entry& held : own_.Within(*service.outer_source_prefix)) {
      if (held.item != kGateway) continue;
      return Concat(PrefixText(*service.outer_source_prefix), " holds ", held.address.ToString(),
                    ", ", Describe(held));
    }
    return std::nullopt;
  }

  // An IPv6 sender may not be told less than 1280, so that much has to fit behind the outer header.
  void CheckMtu(const Service& service, const std::string& path) {
    const auto overhead = overheads_.Of(service);
    if (service.prefix.address.IsV4() || !overhead) return;
    for (const PortConfig& port : host_.dataplane.ports) {
      if (port.mtu >= kMinIpv6Mtu + overhead->bytes) continue;
      Add(path,
          Concat("IPv6 packets do not fit the MTU of port ", port.name, " of this host: ", port.mtu,
                 " is below ", kMinIpv6Mtu + overhead->bytes, ", that is ", kMinIpv6Mtu, " + ",
                 overhead->bytes, " for IPv", Version(overhead->backend), " backends"));
    }
  }

  const ServicesConfig& config_;
  const HostConfig& host_;
  const AddressIndex own_;
  const PrefixIndex segments_;
  const Overheads overheads_;
  const bool reaches_v4_;
  const bool reaches_v6_;
  Violations violations_;
};

}  // namespace

bool Reaches(const PortConfig& port, net::Family family) {
  const bool source =
      std::any_of(port.addresses.begin(), port.addresses.end(),
                  [&](const net::IpPrefix& prefix) { return prefix.address.family == family; });
  const bool hop =
      port.gateway_mac.has_value() ||
      std::any_of(port.gateways.begin(), port.gateways.end(),
                  [&](const net::IpAddress& gateway) { return gateway.family == family; });
  return source && hop;
}

Violations ValidateAgainstHost(const ServicesConfig& config, const HostConfig& host) {
  return AgainstHost(config, host).Run();
}

}  // namespace penstock::config

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "config/schema.h"
#include "config/text.h"
#include "penstock/config/validate.h"

namespace penstock::config {
namespace {

constexpr int kMinIpv6Mtu = 1280;  // RFC 8200 section 5
constexpr int kIpv4Header = 20;
constexpr int kIpv6Header = 40;

// Whether wrapped packets of this family can leave through the port: they need an outer source and
// a next hop.
bool Carries(const PortConfig& port, net::Family family) {
  const bool source =
      std::any_of(port.addresses.begin(), port.addresses.end(),
                  [&](const net::IpPrefix& prefix) { return prefix.address.family == family; });
  const bool hop =
      port.gateway_mac.has_value() ||
      std::any_of(port.gateways.begin(), port.gateways.end(),
                  [&](const net::IpAddress& gateway) { return gateway.family == family; });
  return source && hop;
}

bool AnyCarries(const HostConfig& host, net::Family family) {
  const auto& ports = host.dataplane.ports;
  return std::any_of(ports.begin(), ports.end(),
                     [&](const PortConfig& port) { return Carries(port, family); });
}

// The port of this host that has the address; null if none.
const PortConfig* OwnerOf(const net::IpAddress& address, const HostConfig& host) {
  for (const PortConfig& port : host.dataplane.ports) {
    const bool has = std::any_of(port.addresses.begin(), port.addresses.end(),
                                 [&](const net::IpPrefix& own) { return own.address == address; });
    if (has) return &port;
  }
  return nullptr;
}

void CheckBackends(const ServicesConfig& config, const HostConfig& host, Violations& violations) {
  const bool v4 = AnyCarries(host, net::Family::kIpv4);
  const bool v6 = AnyCarries(host, net::Family::kIpv6);
  for (std::size_t i = 0; i < config.pools.size(); ++i) {
    const std::string path = Below(Item("pools", i), "backends");
    for (std::size_t j = 0; j < config.pools[i].backends.size(); ++j) {
      const net::IpAddress& address = config.pools[i].backends[j].address;
      if (const PortConfig* port = OwnerOf(address, host); port != nullptr) {
        violations.push_back({Below(Item(path, j), "address"),
                              Concat(address.ToString(), " is an address of port ", port->name,
                                     " of this host, which would send to itself")});
      } else if (!(address.IsV4() ? v4 : v6)) {
        violations.push_back({Below(Item(path, j), "address"),
                              Concat("no port of this host has an IPv", address.IsV4() ? 4 : 6,
                                     " address and a gateway, so the backend cannot be reached")});
      }
    }
  }
}

void CheckVip(const Service& service, const std::string& path, const HostConfig& host,
              Violations& violations) {
  const PortConfig* port = OwnerOf(service.address, host);
  if (port == nullptr) return;
  violations.push_back(
      {Below(path, "address"),
       Concat(service.address.ToString(), " is an address of port ", port->name, " of this host")});
}

// The largest outer header of a pool's backends; 0 without any.
int OuterHeader(const Pool& pool) {
  int header = 0;
  for (const Backend& backend : pool.backends) {
    header = std::max(header, backend.address.IsV4() ? kIpv4Header : kIpv6Header);
  }
  return header;
}

// An IPv6 sender may not be told less than 1280, so that much has to fit behind the outer header.
void CheckMtu(const Service& service, const std::string& path, int outer_header,
              const HostConfig& host, Violations& violations) {
  if (service.address.IsV4() || outer_header == 0) return;
  for (const PortConfig& port : host.dataplane.ports) {
    if (port.mtu >= kMinIpv6Mtu + outer_header) continue;
    violations.push_back(
        {Below(path, "address"),
         Concat("IPv6 packets do not fit the MTU of port ", port.name, " of this host: ", port.mtu,
                " is below ", kMinIpv6Mtu, " + ", outer_header)});
  }
}

}  // namespace

Violations ValidateAgainstHost(const ServicesConfig& config, const HostConfig& host) {
  Violations violations;
  CheckBackends(config, host, violations);
  std::map<std::string_view, int> outer_headers;
  for (const Pool& pool : config.pools) outer_headers[pool.name] = OuterHeader(pool);
  for (std::size_t i = 0; i < config.services.size(); ++i) {
    const Service& service = config.services[i];
    const std::string path = Item("services", i);
    CheckVip(service, path, host, violations);
    CheckMtu(service, path, outer_headers[service.pool], host, violations);
  }
  return violations;
}

}  // namespace penstock::config

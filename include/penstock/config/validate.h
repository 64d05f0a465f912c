// Whether a configuration makes sense. Each function returns every mistake; none is a good one.

#ifndef PENSTOCK_CONFIG_VALIDATE_H_
#define PENSTOCK_CONFIG_VALIDATE_H_

#include <cstdint>
#include <map>

#include "penstock/config/host_config.h"
#include "penstock/config/services_config.h"
#include "penstock/config/violation.h"
#include "penstock/net/address.h"

namespace penstock::config {

// Names, addresses, weights, table sizes, ports, times and rates, and what has to fit together:
// pools that services name, services that claim the same ports, VIPs that hold backends, sources
// that are VIPs. Time is n log n in the size.
[[nodiscard]] Violations Validate(const ServicesConfig& config);

// Ports, addresses, gateways, workers, sizes, listeners, paths.
[[nodiscard]] Violations Validate(const HostConfig& config);

// Whether this host can carry these services: a way out for each backend's family, for l2 each
// backend on a port's segment, no VIP that holds an own address or gateway, an MTU that carries
// IPv6 inside the tunnel. REQUIRES: both are valid alone.
[[nodiscard]] Violations ValidateAgainstHost(const ServicesConfig& config, const HostConfig& host);

// Legal and nevertheless worth a look: an empty seed, a table that is small for its pool, a setting
// without effect.
[[nodiscard]] Violations Warnings(const ServicesConfig& config);

// The same of services on this host: ports whose MTU has no room for clients' largest packets once
// they are wrapped, one warning for each MTU and overhead. REQUIRES: both are valid alone.
[[nodiscard]] Violations WarningsAgainstHost(const ServicesConfig& config, const HostConfig& host);

// Who answers pings of each prefix: what the services of that very prefix say, else the balancer.
class EchoPolicies {
 public:
  // REQUIRES: `config` is valid, so that services of one prefix agree.
  explicit EchoPolicies(const ServicesConfig& config);

  // Takes the logarithm of the number of prefixes that set it.
  [[nodiscard]] IcmpEcho Of(const net::IpPrefix& prefix) const;

 private:
  std::map<net::IpPrefix, IcmpEcho> by_prefix_;
};

// Whether wrapped packets of this family can leave through the port: they need an outer source and
// a next hop.
[[nodiscard]] bool Reaches(const PortConfig& port, net::Family family);

// Bytes that wrapping adds to a packet for a backend of this family.
[[nodiscard]] constexpr int OverheadOf(Encapsulation encapsulation, net::Family backend) {
  const int header = backend == net::Family::kIpv4 ? 20 : 40;
  switch (encapsulation) {
    case Encapsulation::kIpip:
      return header;
    case Encapsulation::kGre:
      return header + 4;
    case Encapsulation::kGue:
      return header + 8 + 4;  // UDP and GUE
    case Encapsulation::kL2:
      break;
  }
  return 0;
}

[[nodiscard]] bool IsPrime(uint32_t number);

}  // namespace penstock::config

#endif  // PENSTOCK_CONFIG_VALIDATE_H_

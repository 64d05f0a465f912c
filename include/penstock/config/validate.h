// Whether a configuration makes sense. Each function returns every mistake; none is a good one.

#ifndef PENSTOCK_CONFIG_VALIDATE_H_
#define PENSTOCK_CONFIG_VALIDATE_H_

#include <cstdint>

#include "penstock/config/host_config.h"
#include "penstock/config/services_config.h"
#include "penstock/config/violation.h"

namespace penstock::config {

// Names, addresses, weights, table sizes, ports and timeouts, and what has to fit together: pools
// that services name, services that overlap, VIPs that are backends. Time is linear in the size.
[[nodiscard]] Violations Validate(const ServicesConfig& config);

// Ports, addresses, gateways, workers, sizes, listeners.
[[nodiscard]] Violations Validate(const HostConfig& config);

// Whether this host can carry these services: a way out for each backend's family, no VIP that is
// an own address, an MTU that carries IPv6 inside the tunnel. REQUIRES: both are valid alone.
[[nodiscard]] Violations ValidateAgainstHost(const ServicesConfig& config, const HostConfig& host);

// Legal and nevertheless worth a look: an empty seed, a table that is small for its pool.
[[nodiscard]] Violations Warnings(const ServicesConfig& config);

[[nodiscard]] bool IsPrime(uint32_t number);

}  // namespace penstock::config

#endif  // PENSTOCK_CONFIG_VALIDATE_H_

// The parts of Validate and ValidateAgainstHost. Each adds what it finds to `violations`, in time
// n log n.

#ifndef PENSTOCK_SRC_CONFIG_RULES_H_
#define PENSTOCK_SRC_CONFIG_RULES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "penstock/config/services_config.h"
#include "penstock/config/violation.h"

namespace penstock::config {

// Names, table sizes, transitions, backends and their labels.
void CheckPools(const ServicesConfig& config, Violations& violations);
// Names, pools, timeouts and rates of services, each by itself.
void CheckServices(const ServicesConfig& config, Violations& violations);
// Ranges that are none, and what two services of one prefix and protocol both claim.
void CheckPorts(const ServicesConfig& config, Violations& violations);
// VIPs that cannot be, or that hold a backend; services of one prefix with two minds about pings.
void CheckVips(const ServicesConfig& config, Violations& violations);
// `outer_source_prefix` and `deny`.
void CheckSources(const ServicesConfig& config, Violations& violations);

// Positions of pools by name, of the first if several have it. Valid as long as `pools`.
using PoolPositions = std::unordered_map<std::string_view, std::size_t>;
[[nodiscard]] PoolPositions PositionsOf(const std::vector<Pool>& pools);

// "services[3]", and a field of it.
[[nodiscard]] std::string ServicePath(std::size_t index);
[[nodiscard]] std::string ServicePath(std::size_t index, std::string_view field);
// "pools[1].backends[2]".
[[nodiscard]] std::string BackendPath(std::size_t pool, std::size_t backend);
// " and 4 more" for five of them; nothing for one.
[[nodiscard]] std::string AndMore(std::size_t count);

}  // namespace penstock::config

#endif  // PENSTOCK_SRC_CONFIG_RULES_H_

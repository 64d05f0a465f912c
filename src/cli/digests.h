// Whether several hosts send equal packets to equal backends.

#ifndef PENSTOCK_CLI_DIGESTS_H_
#define PENSTOCK_CLI_DIGESTS_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "penstock/v1/status_service.pb.h"

namespace penstock::cli {

// By target; nullopt: it did not answer.
using PoolsOfTargets = std::vector<std::optional<v1::ListPoolsResponse>>;

// Names of the pools that are not the same on all targets that answered; a pool that one of them
// does not have is among them.
[[nodiscard]] std::set<std::string> DifferingPools(const PoolsOfTargets& all);

}  // namespace penstock::cli

#endif  // PENSTOCK_CLI_DIGESTS_H_

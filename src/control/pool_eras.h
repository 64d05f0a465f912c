// The past of each pool: its members and weights over time, as far as slots that changed hands
// remember it.

#ifndef PENSTOCK_CONTROL_POOL_ERAS_H_
#define PENSTOCK_CONTROL_POOL_ERAS_H_

#include <chrono>
#include <map>
#include <string>

#include "penstock/config/services_config.h"
#include "penstock/lb/era.h"
#include "penstock/lb/flow_key.h"

namespace penstock::control {

// By pool name; the last era of each is the present.
using EraMap = std::map<std::string, lb::Eras, std::less<>>;

// What follows on `past` when `config` holds from `time` on. A pool with the members and weights it
// had goes on; one that was not there begins anew. Base tables are shared with `past` and `lender`,
// and built only where neither has them.
[[nodiscard]] EraMap ErasAfter(const EraMap& past, const config::ServicesConfig& config,
                               const lb::HashKey& key, std::chrono::sys_seconds time,
                               const EraMap& lender);

// Without what has ended too long ago to matter. REQUIRES: `eras` are those of `config`.
[[nodiscard]] EraMap Remembered(EraMap eras, const config::ServicesConfig& config,
                                std::chrono::sys_seconds now);

// The first second at which Remembered drops something.
[[nodiscard]] std::chrono::sys_seconds NextForgotten(const EraMap& eras,
                                                     const config::ServicesConfig& config);

}  // namespace penstock::control

#endif  // PENSTOCK_CONTROL_POOL_ERAS_H_

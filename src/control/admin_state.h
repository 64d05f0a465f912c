// Edits of the admin state of single backends.

#ifndef PENSTOCK_CONTROL_ADMIN_STATE_H_
#define PENSTOCK_CONTROL_ADMIN_STATE_H_

#include <absl/status/status.h>

#include <string>
#include <string_view>
#include <vector>

#include "penstock/config/services_config.h"

namespace penstock::control {

// Sets the state of backends, given by address or name, in `config`. On an error some of them may
// be set: `config` is to be thrown away then. NOT_FOUND: no such pool or backend, the message says
// which there are. FAILED_PRECONDITION: without `force`, when a pool that has usable backends would
// have none left. INVALID_ARGUMENT: no backend given.
[[nodiscard]] absl::Status SetAdminState(std::string_view pool_name,
                                         const std::vector<std::string>& backends,
                                         config::AdminState state, bool force,
                                         config::ServicesConfig& config);

}  // namespace penstock::control

#endif  // PENSTOCK_CONTROL_ADMIN_STATE_H_

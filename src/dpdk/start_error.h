// Why the daemon does not start: one line for the cause, one for the way out.

#ifndef PENSTOCK_DPDK_START_ERROR_H_
#define PENSTOCK_DPDK_START_ERROR_H_

#include <absl/status/status.h>

#include <string>
#include <string_view>

namespace penstock::dpdk {

struct StartFailure {
  std::string cause;
  std::string fix;  // empty when nothing is known to help
};

// FAILED_PRECONDITION with the message "cause; fix: fix".
[[nodiscard]] absl::Status StartError(std::string_view cause, std::string_view fix);

// The two parts again.
[[nodiscard]] StartFailure SplitStartError(const absl::Status& status);

}  // namespace penstock::dpdk

#endif  // PENSTOCK_DPDK_START_ERROR_H_

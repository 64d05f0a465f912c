#include "control/admin_state.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>

#include "control/running_state.h"
#include "penstock/net/address.h"

namespace penstock::control {
namespace {

constexpr std::size_t kBackendsInMessage = 10;

// Debian's absl::string_view is a type of its own.
std::string Text(std::string_view text) {
  return std::string(text);
}

bool IsUsable(const config::Backend& backend) {
  return backend.state == config::AdminState::kActive && backend.weight > 0;
}

// An address comes first: a name may look like one.
config::Backend* FindBackend(config::Pool& pool, const std::string& wanted) {
  const std::optional<net::IpAddress> address = net::IpAddress::Parse(wanted);
  if (address.has_value()) {
    const auto found = std::ranges::find(pool.backends, *address, &config::Backend::address);
    if (found != pool.backends.end()) return &*found;
  }
  const auto named = std::ranges::find(pool.backends, wanted, &config::Backend::name);
  return wanted.empty() || named == pool.backends.end() ? nullptr : &*named;
}

absl::Status NoSuchBackend(const config::Pool& pool, const std::string& wanted) {
  std::string message = absl::StrCat("pool \"", pool.name, "\" has no backend \"", wanted, "\"");
  if (pool.backends.empty()) return absl::NotFoundError(absl::StrCat(message, "; it has none"));
  absl::StrAppend(&message, "; it has: ");
  for (std::size_t i = 0; i < std::min(pool.backends.size(), kBackendsInMessage); ++i) {
    const config::Backend& backend = pool.backends[i];
    absl::StrAppend(&message, i == 0 ? "" : ", ", backend.address.ToString());
    if (!backend.name.empty()) absl::StrAppend(&message, " (", backend.name, ")");
  }
  if (pool.backends.size() > kBackendsInMessage) {
    absl::StrAppend(&message, " and ", pool.backends.size() - kBackendsInMessage, " more");
  }
  return absl::NotFoundError(message);
}

}  // namespace

absl::Status SetAdminState(std::string_view pool_name, const std::vector<std::string>& backends,
                           config::AdminState state, bool force, config::ServicesConfig& config) {
  const auto pool = std::ranges::find(config.pools, pool_name, &config::Pool::name);
  if (pool == config.pools.end()) {
    return absl::NotFoundError(
        absl::StrCat("no pool \"", Text(pool_name), "\"; ", PoolNames(config)));
  }
  if (backends.empty()) return absl::InvalidArgumentError("name at least one backend");
  const bool was_usable = std::ranges::any_of(pool->backends, IsUsable);
  for (const std::string& wanted : backends) {
    config::Backend* backend = FindBackend(*pool, wanted);
    if (backend == nullptr) return NoSuchBackend(*pool, wanted);
    if (backend->state == config::AdminState::kDisabled) {
      return absl::FailedPreconditionError(absl::StrCat(
          "backend ", backend->address.ToString(),
          " is disabled, and gets no packets at all; enable it with `state: active` in an apply"));
    }
    backend->state = state;
  }
  if (force || !was_usable || std::ranges::any_of(pool->backends, IsUsable)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("this would leave pool \"", pool->name,
                   "\" without a usable backend, and new flows would follow on_no_backend; use "
                   "--force (field \"force\") if that is what you want"));
}

}  // namespace penstock::control

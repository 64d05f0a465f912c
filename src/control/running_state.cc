#include "control/running_state.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>

namespace penstock::control {
namespace {

constexpr std::size_t kNamesInMessage = 10;

config::ServicesConfig Sorted(config::ServicesConfig config) {
  std::ranges::sort(config.pools, {}, &config::Pool::name);
  for (config::Pool& pool : config.pools) {
    std::ranges::sort(pool.backends, {}, &config::Backend::address);
  }
  std::ranges::sort(config.services, {}, &config::Service::name);
  for (config::Service& service : config.services) {
    std::ranges::sort(service.ports);
    std::ranges::sort(service.deny);
  }
  return config;
}

}  // namespace

const config::Pool* FindPool(const config::ServicesConfig& config, std::string_view name) {
  const auto found = std::ranges::find(config.pools, name, &config::Pool::name);
  return found == config.pools.end() ? nullptr : &*found;
}

std::string PoolNames(const config::ServicesConfig& config) {
  if (config.pools.empty()) return "there are no pools";
  std::string names = "pools: ";
  for (std::size_t i = 0; i < std::min(config.pools.size(), kNamesInMessage); ++i) {
    absl::StrAppend(&names, i == 0 ? "" : ", ", config.pools[i].name);
  }
  if (config.pools.size() > kNamesInMessage) {
    absl::StrAppend(&names, " and ", config.pools.size() - kNamesInMessage, " more");
  }
  return names;
}

void FillStates(const config::ServicesConfig& running, config::ServicesConfig& desired) {
  std::map<std::string_view, std::map<net::IpAddress, config::AdminState>> present;
  for (const config::Pool& pool : running.pools) {
    auto& states = present[pool.name];
    for (const config::Backend& backend : pool.backends) {
      states[backend.address] = backend.state.value_or(config::AdminState::kActive);
    }
  }
  for (config::Pool& pool : desired.pools) {
    const auto states = present.find(pool.name);
    for (config::Backend& backend : pool.backends) {
      if (backend.state.has_value()) continue;
      backend.state = config::AdminState::kActive;
      if (states == present.end()) continue;
      const auto same = states->second.find(backend.address);
      if (same != states->second.end()) backend.state = same->second;
    }
  }
}

bool SameMeaning(const config::ServicesConfig& a, const config::ServicesConfig& b) {
  return a == b || Sorted(a) == Sorted(b);
}

}  // namespace penstock::control

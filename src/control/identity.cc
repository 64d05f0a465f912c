#include "control/identity.h"

#include <absl/status/status.h>

#include <optional>
#include <utility>

namespace penstock::control {
namespace {

const BackendIdentity* FindBackend(const Identities& all, const std::string& pool,
                                   const net::IpAddress& address) {
  const auto in_pool = all.pools.find(pool);
  if (in_pool == all.pools.end()) return nullptr;
  const auto found = in_pool->second.find(address);
  return found == in_pool->second.end() ? nullptr : found->second.get();
}

}  // namespace

std::shared_ptr<BackendIdentity> IdentityRegistry::NewBackend(const lb::SweepCounts& sweeps) {
  const std::optional<uint32_t> id = backend_ids_.Allocate(sweeps);
  if (!id.has_value()) return nullptr;
  auto identity = std::make_shared<BackendIdentity>();
  identity->id = *id;
  identity->counters = std::make_unique<lb::BackendCounters[]>(static_cast<std::size_t>(workers_));
  return identity;
}

std::shared_ptr<ServiceIdentity> IdentityRegistry::NewService(const lb::SweepCounts& sweeps) {
  const std::optional<uint32_t> id = service_ids_.Allocate(sweeps);
  if (!id.has_value()) return nullptr;
  auto identity = std::make_shared<ServiceIdentity>();
  identity->id = *id;
  identity->new_flows = std::make_unique<lb::NewFlowWindow[]>(static_cast<std::size_t>(workers_));
  return identity;
}

bool IdentityRegistry::AssignBackends(const config::Pool& pool, const Identities& former,
                                      const lb::SweepCounts& sweeps, Identities& next) {
  const auto known = former.pools.find(pool.name);
  PoolIdentities& assigned = next.pools[pool.name];
  for (const config::Backend& backend : pool.backends) {
    std::shared_ptr<BackendIdentity> identity;
    if (known != former.pools.end()) {
      const auto same = known->second.find(backend.address);
      if (same != known->second.end()) identity = same->second;
    }
    if (identity == nullptr) identity = NewBackend(sweeps);
    if (identity == nullptr) return false;
    assigned.emplace(backend.address, std::move(identity));
  }
  return true;
}

bool IdentityRegistry::AssignService(const std::string& name, const Identities& former,
                                     const lb::SweepCounts& sweeps, Identities& next) {
  const auto same = former.services.find(name);
  std::shared_ptr<ServiceIdentity> identity =
      same != former.services.end() ? same->second : NewService(sweeps);
  if (identity == nullptr) return false;
  next.services.emplace(name, std::move(identity));
  return true;
}

absl::StatusOr<Identities> IdentityRegistry::Assign(const config::ServicesConfig& config,
                                                    const Identities& former,
                                                    const lb::SweepCounts& sweeps) {
  Identities next;
  bool complete = true;
  for (const config::Pool& pool : config.pools) {
    complete = complete && AssignBackends(pool, former, sweeps, next);
  }
  for (const config::Service& service : config.services) {
    complete = complete && AssignService(service.name, former, sweeps, next);
  }
  if (complete) return next;
  Abandon(next, former);
  return absl::ResourceExhaustedError(
      "no backend or service identity is free: those of removed ones are kept until the flow "
      "tables "
      "have forgotten them; try again in a minute");
}

void IdentityRegistry::Abandon(const Identities& next, const Identities& former) {
  ForEachOnlyIn(
      next, former, [this](uint32_t id) { backend_ids_.Return(id); },
      [this](uint32_t id) { service_ids_.Return(id); });
}

void IdentityRegistry::Replaced(const Identities& former, const Identities& next) {
  ForEachOnlyIn(
      former, next, [this](uint32_t id) { backend_ids_.Retire(id); },
      [this](uint32_t id) { service_ids_.Retire(id); });
}

void IdentityRegistry::Acknowledged(const lb::SweepCounts& sweeps) {
  backend_ids_.Acknowledged(sweeps);
  service_ids_.Acknowledged(sweeps);
}

template <typename TakeBackend, typename TakeService>
void IdentityRegistry::ForEachOnlyIn(const Identities& one, const Identities& other,
                                     TakeBackend take_backend, TakeService take_service) {
  for (const auto& [pool, backends] : one.pools) {
    for (const auto& [address, identity] : backends) {
      if (FindBackend(other, pool, address) == nullptr) take_backend(identity->id);
    }
  }
  for (const auto& [name, identity] : one.services) {
    if (!other.services.contains(name)) take_service(identity->id);
  }
}

}  // namespace penstock::control

// Flows between the ids of a generation and the names that outlive it.

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "control/running_state.h"
#include "penstock/control/controller.h"

namespace penstock::control {
namespace {

// Numbers things in the order in which they are first asked for.
template <typename Id, typename Name>
class NameTable {
 public:
  void Add(Id id, Name name) { names_.emplace(id, std::move(name)); }
  // The index of the id's name in `names`, where it is put the first time; nullopt: no such id.
  [[nodiscard]] std::optional<uint32_t> IndexOf(Id id, std::vector<Name>& names) {
    const auto known = indices_.find(id);
    if (known != indices_.end()) return known->second;
    const auto name = names_.find(id);
    if (name == names_.end()) return std::nullopt;
    names.push_back(name->second);
    const auto index = static_cast<uint32_t>(names.size() - 1);
    indices_.emplace(id, index);
    return index;
  }

 private:
  std::map<Id, Name> names_;
  std::map<Id, uint32_t> indices_;
};

uint32_t Seconds(base::Tick ticks) {
  return static_cast<uint32_t>(ticks * base::kTickLength / std::chrono::seconds(1));
}
base::Tick Ticks(std::chrono::seconds seconds) {
  return static_cast<base::Tick>(seconds / base::kTickLength);
}

std::vector<lb::ServiceId> ServiceIds(const Identities& identities,
                                      const std::vector<std::string>& names) {
  std::vector<lb::ServiceId> ids;
  for (const std::string& name : names) {
    const auto found = identities.services.find(name);
    ids.push_back(found == identities.services.end() ? lb::kNoId : found->second->id);
  }
  return ids;
}

std::vector<lb::BackendId> BackendIds(const Identities& identities,
                                      const std::vector<lb::SavedBackend>& backends) {
  std::vector<lb::BackendId> ids;
  for (const lb::SavedBackend& backend : backends) {
    lb::BackendId id = lb::kNoId;
    if (const auto pool = identities.pools.find(backend.pool); pool != identities.pools.end()) {
      const auto found = pool->second.find(backend.address);
      if (found != pool->second.end()) id = found->second->id;
    }
    ids.push_back(id);
  }
  return ids;
}

}  // namespace

lb::SavedFlows Controller::NameFlows(std::span<const lb::KeptFlow> flows,
                                     std::chrono::sys_seconds now) const {
  const std::shared_ptr<const RunningState> running = state();
  NameTable<lb::ServiceId, std::string> services;
  NameTable<lb::BackendId, lb::SavedBackend> backends;
  for (const auto& [name, identity] : running->identities.services) {
    services.Add(identity->id, name);
  }
  for (const auto& [pool, members] : running->identities.pools) {
    for (const auto& [address, identity] : members) backends.Add(identity->id, {pool, address});
  }
  lb::SavedFlows saved{.time = now, .services = {}, .backends = {}, .flows = {}};
  saved.flows.reserve(flows.size());
  for (const lb::KeptFlow& flow : flows) {
    const auto service = services.IndexOf(flow.service, saved.services);
    const auto backend = backends.IndexOf(flow.backend, saved.backends);
    if (!service || !backend) continue;
    saved.flows.push_back({.source = flow.source,
                           .destination = flow.destination,
                           .source_port = flow.source_port,
                           .destination_port = flow.destination_port,
                           .protocol = flow.protocol,
                           .confirmed = flow.confirmed,
                           .service = *service,
                           .backend = *backend,
                           .idle_seconds = Seconds(flow.idle)});
  }
  return saved;
}

std::vector<lb::KeptFlow> Controller::ResolveFlows(const lb::SavedFlows& saved,
                                                   std::chrono::sys_seconds now) const {
  const std::shared_ptr<const RunningState> running = state();
  const std::vector<lb::ServiceId> services = ServiceIds(running->identities, saved.services);
  const std::vector<lb::BackendId> backends = BackendIds(running->identities, saved.backends);
  // A clock that was set back must not make flows younger.
  const std::chrono::seconds away = std::max(now - saved.time, std::chrono::seconds(0));
  std::vector<lb::KeptFlow> flows;
  flows.reserve(saved.flows.size());
  for (const lb::SavedFlow& flow : saved.flows) {
    const lb::ServiceId service = services[flow.service];
    const lb::BackendId backend = backends[flow.backend];
    if (service == lb::kNoId || backend == lb::kNoId) continue;
    const std::chrono::seconds idle = std::chrono::seconds(flow.idle_seconds) + away;
    if (idle > lb::kMaxIdleTimeout * base::kTickLength) continue;
    flows.push_back({.source = flow.source,
                     .destination = flow.destination,
                     .source_port = flow.source_port,
                     .destination_port = flow.destination_port,
                     .protocol = flow.protocol,
                     .confirmed = flow.confirmed,
                     .idle = Ticks(idle),
                     .service = service,
                     .backend = backend});
  }
  return flows;
}

}  // namespace penstock::control

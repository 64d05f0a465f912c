#include "control/pool_tables.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace penstock::control {
namespace {

lb::AdminState ToLb(config::AdminState state) {
  switch (state) {
    case config::AdminState::kActive:
      return lb::AdminState::kActive;
    case config::AdminState::kDraining:
      return lb::AdminState::kDraining;
    case config::AdminState::kDisabled:
      return lb::AdminState::kDisabled;
  }
  return lb::AdminState::kDisabled;
}

// In canonical order, as PoolTable::members() is.
std::vector<lb::PoolMember> MembersOf(const config::Pool& pool) {
  std::vector<lb::PoolMember> members;
  members.reserve(pool.backends.size());
  for (const config::Backend& backend : pool.backends) {
    members.push_back({.address = backend.address,
                       .weight = backend.weight,
                       .state = ToLb(backend.state.value_or(config::AdminState::kActive)),
                       .healthy = true});
  }
  std::ranges::sort(members, {}, &lb::PoolMember::address);
  return members;
}

// `former` itself when it is what would be built, which saves the work and the memory.
std::shared_ptr<const lb::PoolTable> BuildOrShare(
    lb::PoolTable::Spec spec, const std::shared_ptr<const lb::PoolTable>& former) {
  if (former != nullptr && former->IsOf(spec)) return former;
  return lb::PoolTable::Build(std::move(spec));
}

}  // namespace

PoolTableMap BuildPoolTables(const config::ServicesConfig& config, const lb::HashKey& key,
                             const EraMap& eras, std::chrono::sys_seconds now,
                             const PoolTableMap& former) {
  PoolTableMap all;
  std::map<std::string, bool, std::less<>> wants_use_all;
  for (const config::Service& service : config.services) {
    if (service.on_no_backend == config::OnNoBackend::kUseAll) wants_use_all[service.pool] = true;
    if (service.on_no_backend == config::OnNoBackend::kDrop) all[service.pool].drop_in_use = true;
  }
  const PoolTables none;
  for (const config::Pool& pool : config.pools) {
    const auto known = former.find(pool.name);
    const PoolTables& before = known != former.end() ? known->second : none;
    PoolTables& tables = all[pool.name];
    lb::PoolTable::Spec spec{.members = MembersOf(pool),
                             .table_size = pool.table_size,
                             .on_no_backend = lb::OnNoBackend::kDrop,
                             .key = key,
                             .eras = eras.find(pool.name)->second,
                             .transition = pool.transition,
                             .now = now};
    tables.drop = BuildOrShare(spec, before.drop);
    if (!wants_use_all.contains(pool.name)) continue;
    spec.on_no_backend = lb::OnNoBackend::kUseAll;
    tables.use_all = BuildOrShare(std::move(spec), before.use_all);
  }
  return all;
}

std::chrono::sys_seconds ValidUntil(const PoolTableMap& tables) {
  auto until = std::chrono::sys_seconds::max();
  for (const auto& [name, pool] : tables) {
    // The pool's other table has the same previous owners.
    until = std::min(until, pool.drop->valid_until());
  }
  return until;
}

}  // namespace penstock::control

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
    lb::PoolTable::Spec spec, const std::shared_ptr<const lb::PoolTable>& former,
    const lb::PoolTable* base_lender) {
  if (former != nullptr && former->table_size() == spec.table_size &&
      former->members() == spec.members) {
    return former;
  }
  return lb::PoolTable::Build(std::move(spec), base_lender);
}

}  // namespace

PoolTableMap BuildPoolTables(const config::ServicesConfig& config, const lb::HashKey& key,
                             const PoolTableMap& former, const lb::HashKey& former_key) {
  PoolTableMap all;
  std::map<std::string, bool, std::less<>> wants_use_all;
  for (const config::Service& service : config.services) {
    if (service.on_no_backend == config::OnNoBackend::kUseAll) wants_use_all[service.pool] = true;
    if (service.on_no_backend == config::OnNoBackend::kDrop) all[service.pool].drop_in_use = true;
  }
  const PoolTables none;
  for (const config::Pool& pool : config.pools) {
    const auto known = former.find(pool.name);
    const bool comparable = known != former.end() && key == former_key;
    const PoolTables& before = comparable ? known->second : none;
    PoolTables& tables = all[pool.name];
    lb::PoolTable::Spec spec{.members = MembersOf(pool),
                             .table_size = pool.table_size,
                             .on_no_backend = lb::OnNoBackend::kDrop,
                             .key = key};
    tables.drop = BuildOrShare(spec, before.drop, before.drop.get());
    if (!wants_use_all.contains(pool.name)) continue;
    spec.on_no_backend = lb::OnNoBackend::kUseAll;
    tables.use_all = BuildOrShare(std::move(spec), before.use_all, tables.drop.get());
  }
  return all;
}

}  // namespace penstock::control

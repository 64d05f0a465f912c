// Services and pools as questions about them are answered.

#include <algorithm>

#include "control/running_state.h"
#include "penstock/control/controller.h"

namespace penstock::control {
namespace {

uint32_t UsableMembers(const lb::PoolTable& table) {
  uint32_t usable = 0;
  for (std::size_t m = 0; m < table.members().size(); ++m) {
    if (table.takes_new_flows(static_cast<lb::MemberIndex>(m))) ++usable;
  }
  return usable;
}

PoolView ViewOf(const std::string& name, const lb::PoolTable& table) {
  const lb::ShareErrors errors = table.share_errors();
  return {.name = name,
          .table_size = table.table_size(),
          .digest = table.digest(),
          .max_share_error = errors.max,
          .rms_share_error = errors.rms,
          .largest_share_ratio = errors.largest_ratio,
          .backends = static_cast<uint32_t>(table.members().size()),
          .usable_backends = UsableMembers(table),
          .services = {}};
}

}  // namespace

Listing<ServiceView> Controller::ListServices() const {
  const std::shared_ptr<const RunningState> running = state();
  Listing<ServiceView> listing{.generation = running->generation, .items = {}};
  for (const config::Service& service : running->config.services) {
    const PoolTables& tables = running->tables.find(service.pool)->second;
    const bool use_all = service.on_no_backend == config::OnNoBackend::kUseAll;
    const lb::PoolTable& table = use_all ? *tables.use_all : *tables.drop;
    listing.items.push_back({.service = service,
                             .backends = static_cast<uint32_t>(table.members().size()),
                             .usable_backends = UsableMembers(table)});
  }
  std::ranges::sort(listing.items, {}, [](const ServiceView& view) -> const std::string& {
    return view.service.name;
  });
  return listing;
}

Listing<PoolView> Controller::ListPools() const {
  const std::shared_ptr<const RunningState> running = state();
  std::map<std::string_view, std::vector<std::string>> users;
  for (const config::Service& service : running->config.services) {
    users[service.pool].push_back(service.name);
  }
  Listing<PoolView> listing{.generation = running->generation, .items = {}};
  for (const auto& [name, tables] : running->tables) {
    PoolView view = ViewOf(name, *tables.drop);
    view.services = std::move(users[name]);
    std::ranges::sort(view.services);
    listing.items.push_back(std::move(view));
  }
  return listing;
}

}  // namespace penstock::control

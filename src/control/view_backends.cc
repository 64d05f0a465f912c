// Backends as questions about them are answered.

#include <absl/strings/str_cat.h>

#include <map>

#include "control/running_state.h"
#include "penstock/control/controller.h"

namespace penstock::control {
namespace {

void AddCounters(const BackendIdentity& identity, int workers, BackendView& view) {
  for (int worker = 0; worker < workers; ++worker) {
    const lb::BackendCounters& counters = identity.counters[static_cast<std::size_t>(worker)];
    view.live_flows += counters.live_flows.Read();
    view.new_flows += counters.new_flows.Read();
    view.packets += counters.packets.Read();
    view.bytes += counters.bytes.Read();
  }
}

BackendView ViewOf(const config::Pool& pool, const config::Backend& backend,
                   const lb::PoolTable& table, std::size_t member) {
  const uint32_t slots = table.SlotsOf(static_cast<lb::MemberIndex>(member));
  return {.pool = pool.name,
          .address = backend.address,
          .name = backend.name,
          .weight = backend.weight,
          .state = backend.state.value_or(config::AdminState::kActive),
          .slots = slots,
          .share = static_cast<double>(slots) / table.table_size(),
          .labels = backend.labels};
}

// In the order of addresses, which is the order of the table's members.
void AppendPool(const RunningState& running, const config::Pool& pool, int workers,
                std::vector<BackendView>& views) {
  const lb::PoolTable& table = *running.tables.find(pool.name)->second.drop;
  const PoolIdentities& identities = running.identities.pools.find(pool.name)->second;
  std::map<net::IpAddress, const config::Backend*> by_address;
  for (const config::Backend& backend : pool.backends) by_address[backend.address] = &backend;
  for (std::size_t member = 0; member < table.members().size(); ++member) {
    const net::IpAddress& address = table.members()[member].address;
    BackendView view = ViewOf(pool, *by_address.at(address), table, member);
    AddCounters(*identities.at(address), workers, view);
    views.push_back(std::move(view));
  }
}

}  // namespace

Listing<BackendView> Controller::ListBackends() const {
  const std::shared_ptr<const RunningState> running = state();
  std::map<std::string_view, const config::Pool*> by_name;
  for (const config::Pool& pool : running->config.pools) by_name[pool.name] = &pool;
  Listing<BackendView> listing{.generation = running->generation, .items = {}};
  for (const auto& [name, pool] : by_name) {
    AppendPool(*running, *pool, reader_.worker_count(), listing.items);
  }
  return listing;
}

absl::StatusOr<Listing<BackendView>> Controller::ListBackends(std::string_view pool) const {
  const std::shared_ptr<const RunningState> running = state();
  const config::Pool* found = FindPool(running->config, pool);
  if (found == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("no pool \"", std::string(pool), "\"; ", PoolNames(running->config)));
  }
  Listing<BackendView> listing{.generation = running->generation, .items = {}};
  AppendPool(*running, *found, reader_.worker_count(), listing.items);
  return listing;
}

}  // namespace penstock::control

// The lookup tables of a generation: one for each pool, and a second one where services of a pool
// want another `on_no_backend`.

#ifndef PENSTOCK_CONTROL_POOL_TABLES_H_
#define PENSTOCK_CONTROL_POOL_TABLES_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "control/pool_eras.h"
#include "penstock/config/services_config.h"
#include "penstock/lb/flow_key.h"
#include "penstock/lb/pool_table.h"

namespace penstock::control {

struct PoolTables {
  // Always there: its digest is the one by which hosts are compared.
  std::shared_ptr<const lb::PoolTable> drop;
  std::shared_ptr<const lb::PoolTable> use_all;  // null: no service wants it
  bool drop_in_use = false;                      // some service wants `drop`

  friend bool operator==(const PoolTables&, const PoolTables&) = default;  // the very same tables
};

using PoolTableMap = std::map<std::string, PoolTables, std::less<>>;

// Tables for `config`, whose backends all have a state. A pool for which nothing else would come
// out than is in `former` gets the very same table. REQUIRES: `eras` are those of `config`.
[[nodiscard]] PoolTableMap BuildPoolTables(const config::ServicesConfig& config,
                                           const lb::HashKey& key, const EraMap& eras,
                                           std::chrono::sys_seconds now,
                                           const PoolTableMap& former);

// The first second at which the passing of time alone makes other tables.
[[nodiscard]] std::chrono::sys_seconds ValidUntil(const PoolTableMap& tables);

}  // namespace penstock::control

#endif  // PENSTOCK_CONTROL_POOL_TABLES_H_

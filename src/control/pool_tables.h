// The lookup tables of a generation: one for each pool, and a second one where services of a pool
// want another `on_no_backend`.

#ifndef PENSTOCK_CONTROL_POOL_TABLES_H_
#define PENSTOCK_CONTROL_POOL_TABLES_H_

#include <map>
#include <memory>
#include <string>

#include "penstock/config/services_config.h"
#include "penstock/lb/flow_key.h"
#include "penstock/lb/pool_table.h"

namespace penstock::control {

struct PoolTables {
  // Always there: its digest is the one by which hosts are compared.
  std::shared_ptr<const lb::PoolTable> drop;
  std::shared_ptr<const lb::PoolTable> use_all;  // null: no service wants it
  bool drop_in_use = false;                      // some service wants `drop`
};

using PoolTableMap = std::map<std::string, PoolTables, std::less<>>;

// Tables for `config`, whose backends all have a state. A pool that is the same as in `former`,
// built under the same key, gets the very same table.
[[nodiscard]] PoolTableMap BuildPoolTables(const config::ServicesConfig& config,
                                           const lb::HashKey& key, const PoolTableMap& former,
                                           const lb::HashKey& former_key);

}  // namespace penstock::control

#endif  // PENSTOCK_CONTROL_POOL_TABLES_H_

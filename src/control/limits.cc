// config may not include lb, so each has its own idea of what the tables can hold. Here they meet.

#include "penstock/config/services_config.h"
#include "penstock/lb/maglev.h"
#include "penstock/lb/service_table.h"

namespace penstock::control {

static_assert(config::kMaxTableSize == lb::kMaxTableSize);
static_assert(config::kMaxBackendsPerPool == lb::kMaxMembers);
static_assert(config::kMaxIdleTimeout == lb::kMaxIdleTimeout * base::kTickLength);

}  // namespace penstock::control

// config may not include lb, so each has its own idea of what the tables can hold. Here they meet.

#include "penstock/config/services_config.h"
#include "penstock/config/validate.h"
#include "penstock/lb/maglev.h"
#include "penstock/lb/service_table.h"

namespace penstock::control {
namespace {

// The validator counts the bytes that the packet path adds.
constexpr bool OverheadsAgree() {
  using config::Encapsulation;
  for (const net::Family family : {net::Family::kIpv4, net::Family::kIpv6}) {
    const auto agrees = [family](Encapsulation ours, lb::Encapsulation theirs) {
      return config::OverheadOf(ours, family) == static_cast<int>(lb::Overhead(theirs, family));
    };
    if (!agrees(Encapsulation::kIpip, lb::Encapsulation::kIpip)) return false;
    if (!agrees(Encapsulation::kGre, lb::Encapsulation::kGre)) return false;
    if (!agrees(Encapsulation::kGue, lb::Encapsulation::kGue)) return false;
    if (!agrees(Encapsulation::kL2, lb::Encapsulation::kL2)) return false;
  }
  return true;
}

}  // namespace

static_assert(config::kMaxTableSize == lb::kMaxTableSize);
static_assert(config::kMaxBackendsPerPool == lb::kMaxMembers);
static_assert(OverheadsAgree());
static_assert(config::kMaxIdleTimeout == lb::kMaxIdleTimeout * base::kTickLength);

}  // namespace penstock::control

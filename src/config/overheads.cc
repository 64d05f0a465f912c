#include "config/overheads.h"

#include "penstock/config/validate.h"

namespace penstock::config {

Overheads::Overheads(const ServicesConfig& config) : positions_(PositionsOf(config.pools)) {
  for (const Pool& pool : config.pools) {
    Families& families = families_.emplace_back();
    for (const Backend& backend : pool.backends) {
      (backend.address.IsV4() ? families.v4 : families.v6) = true;
    }
  }
}

std::optional<WorstOverhead> Overheads::Of(const Service& service) const {
  const Families families = FamiliesOf(service);
  if (!families.v4 && !families.v6) return std::nullopt;
  // An IPv6 header is the larger one.
  const net::Family family = families.v6 ? net::Family::kIpv6 : net::Family::kIpv4;
  return WorstOverhead{.bytes = OverheadOf(service.encapsulation, family), .backend = family};
}

bool Overheads::HasBackends(const Service& service) const {
  const Families families = FamiliesOf(service);
  return families.v4 || families.v6;
}

bool Overheads::HasBackends(const Service& service, net::Family family) const {
  const Families families = FamiliesOf(service);
  return family == net::Family::kIpv4 ? families.v4 : families.v6;
}

Overheads::Families Overheads::FamiliesOf(const Service& service) const {
  const auto pool = positions_.find(service.pool);
  return pool == positions_.end() ? Families{} : families_[pool->second];
}

}  // namespace penstock::config

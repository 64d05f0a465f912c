#include "control/pool_eras.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace penstock::control {
namespace {

using BasePointer = std::shared_ptr<const lb::BaseTable>;

lb::BaseTable::Spec BaseOf(const config::Pool& pool, const lb::HashKey& key) {
  lb::BaseTable::Spec spec{.members = {}, .table_size = pool.table_size, .key = key};
  spec.members.reserve(pool.backends.size());
  for (const config::Backend& backend : pool.backends) {
    spec.members.push_back({backend.address, backend.weight});
  }
  std::ranges::sort(spec.members, {}, &lb::WeightedAddress::address);
  return spec;
}

const lb::Eras& ErasOf(const EraMap& map, const std::string& pool) {
  static const lb::Eras kNone;
  const auto found = map.find(pool);
  return found == map.end() ? kNone : found->second;
}

BasePointer FindBase(const lb::Eras& eras, const lb::BaseTable::Spec& spec) {
  const auto found =
      std::ranges::find_if(eras, [&spec](const lb::Era& era) { return era.base->spec() == spec; });
  return found == eras.end() ? nullptr : found->base;
}

}  // namespace

EraMap ErasAfter(const EraMap& past, const config::ServicesConfig& config, const lb::HashKey& key,
                 std::chrono::sys_seconds time, const EraMap& lender) {
  EraMap next;
  for (const config::Pool& pool : config.pools) {
    lb::BaseTable::Spec spec = BaseOf(pool, key);
    const lb::Eras& former = ErasOf(past, pool.name);
    if (!former.empty() && former.back().base->spec() == spec) {
      next.emplace(pool.name, former);
      continue;
    }
    BasePointer base = FindBase(former, spec);
    if (base == nullptr) base = FindBase(ErasOf(lender, pool.name), spec);
    if (base == nullptr) base = lb::BaseTable::Build(std::move(spec));
    next.emplace(pool.name, lb::Succeed(former, {std::move(base), time}, pool.transition));
  }
  return next;
}

EraMap Remembered(EraMap eras, const config::ServicesConfig& config, std::chrono::sys_seconds now) {
  for (const config::Pool& pool : config.pools) {
    lb::Eras& one = eras[pool.name];
    one = lb::Remembered(std::move(one), pool.transition, now);
  }
  return eras;
}

std::chrono::sys_seconds NextForgotten(const EraMap& eras, const config::ServicesConfig& config) {
  auto next = std::chrono::sys_seconds::max();
  for (const config::Pool& pool : config.pools) {
    next = std::min(next, lb::NextForgotten(ErasOf(eras, pool.name), pool.transition));
  }
  return next;
}

}  // namespace penstock::control

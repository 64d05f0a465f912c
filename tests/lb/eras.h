// Pools with a past, for tests.

#ifndef PENSTOCK_TESTS_LB_ERAS_H_
#define PENSTOCK_TESTS_LB_ERAS_H_

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "penstock/lb/era.h"
#include "penstock/lb/pool_table.h"
#include "tests/support/frame.h"

namespace penstock::lb {

inline std::chrono::sys_seconds At(int64_t second) {
  return std::chrono::sys_seconds(std::chrono::seconds(second));
}

// Backend `n` of a large pool.
inline net::IpAddress BackendAddress(std::size_t n) {
  return testing::Ip("10.3." + std::to_string(n / 250) + "." + std::to_string(n % 250 + 1));
}

inline std::shared_ptr<const BaseTable> BaseWith(std::vector<WeightedAddress> members,
                                                 uint32_t size = 4999,
                                                 std::string_view seed = "test") {
  std::sort(members.begin(), members.end(), [](const WeightedAddress& a, const WeightedAddress& b) {
    return a.address < b.address;
  });
  return BaseTable::Build(
      {.members = std::move(members), .table_size = size, .key = HashKey::FromSeed(seed)});
}

// Backends `first` to `last`, each of weight 100.
inline std::shared_ptr<const BaseTable> BaseOf(std::size_t first, std::size_t last,
                                               uint32_t size = 4999) {
  std::vector<WeightedAddress> members;
  for (std::size_t n = first; n <= last; ++n) members.push_back({BackendAddress(n), 100});
  return BaseWith(std::move(members), size);
}

// The present of `eras`, every backend active.
inline PoolTable::Spec SpecOf(Eras eras, std::chrono::sys_seconds now,
                              std::chrono::seconds transition = std::chrono::seconds(300)) {
  const BaseTable::Spec& base = eras.back().base->spec();
  PoolTable::Spec spec{.members = {},
                       .table_size = base.table_size,
                       .key = base.key,
                       .eras = {},
                       .transition = transition,
                       .now = now};
  for (const WeightedAddress& m : base.members) {
    spec.members.push_back({.address = m.address, .weight = m.weight});
  }
  spec.eras = std::move(eras);
  return spec;
}

}  // namespace penstock::lb

#endif  // PENSTOCK_TESTS_LB_ERAS_H_

// What a pool was before: the times between changes of its members and weights.

#ifndef PENSTOCK_LB_ERA_H_
#define PENSTOCK_LB_ERA_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "penstock/lb/base_table.h"

namespace penstock::lb {

// A base table and the second from which it held; the next era's `since` is its end.
struct Era {
  std::shared_ptr<const BaseTable> base;
  std::chrono::sys_seconds since{};
};

// The eras of one pool, oldest first; the last is the present. All have the same size and key. The
// `since` of the first is the pool's birth: the first time that its slots could be compared.
using Eras = std::vector<Era>;

// Earlier ones that are remembered.
inline constexpr std::size_t kMaxEarlierEras = 8;

// Where nobody has held a slot for a `transition`, as in a pool younger than that, the one who held
// it longest is its long-time owner; but only in pools younger than this many transitions. What
// ended longer ago makes no difference to anyone.
inline constexpr int kRememberedTransitions = 2;

// `eras` with `next` behind them as the present. A table of another size or key begins anew. Eras
// beyond kMaxEarlierEras are merged, the shortest first, the older of equals: its time counts as
// its successor's. Time that runs backwards stands still.
[[nodiscard]] Eras Succeed(Eras eras, Era next, std::chrono::seconds transition);

// `eras` without those that have ended too long ago to matter; the birth stays.
[[nodiscard]] Eras Remembered(Eras eras, std::chrono::seconds transition,
                              std::chrono::sys_seconds now);

// When Remembered drops the next one. max() if there is none to drop.
[[nodiscard]] std::chrono::sys_seconds NextForgotten(const Eras& eras,
                                                     std::chrono::seconds transition);

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_ERA_H_

#include "penstock/lb/era.h"

#include <algorithm>
#include <utility>

namespace penstock::lb {
namespace {

// The time of era `i` becomes its successor's.
void MergeIntoNext(Eras& eras, std::size_t i) {
  eras[i + 1].since = eras[i].since;
  eras.erase(eras.begin() + static_cast<std::ptrdiff_t>(i));
}

std::size_t ShortestEarlier(const Eras& eras) {
  std::size_t shortest = 0;
  for (std::size_t i = 1; i + 1 < eras.size(); ++i) {
    const auto length = eras[i + 1].since - eras[i].since;
    if (length < eras[shortest + 1].since - eras[shortest].since) shortest = i;
  }
  return shortest;
}

}  // namespace

Eras Succeed(Eras eras, Era next, std::chrono::seconds transition) {
  if (!eras.empty()) next.since = std::max(next.since, eras.back().since);
  if (!eras.empty() && !eras.back().base->Comparable(*next.base)) eras.clear();
  const std::chrono::sys_seconds now = next.since;
  eras.push_back(std::move(next));
  eras = Remembered(std::move(eras), transition, now);
  while (eras.size() > kMaxEarlierEras + 1) MergeIntoNext(eras, ShortestEarlier(eras));
  return eras;
}

Eras Remembered(Eras eras, std::chrono::seconds transition, std::chrono::sys_seconds now) {
  while (NextForgotten(eras, transition) <= now) MergeIntoNext(eras, 0);
  return eras;
}

std::chrono::sys_seconds NextForgotten(const Eras& eras, std::chrono::seconds transition) {
  if (eras.size() < 2) return std::chrono::sys_seconds::max();
  return eras[1].since + kRememberedTransitions * transition;
}

}  // namespace penstock::lb

#include "control/id_allocator.h"

#include <cstddef>
#include <utility>

namespace penstock::control {
namespace {

bool HavePassed(const lb::SweepCounts& sweeps, const lb::SweepCounts& wanted) {
  for (std::size_t worker = 0; worker < wanted.size(); ++worker) {
    if (sweeps[worker] < wanted[worker]) return false;
  }
  return true;
}

}  // namespace

std::optional<uint32_t> IdAllocator::Allocate(const lb::SweepCounts& sweeps) {
  while (!quarantine_.empty() && HavePassed(sweeps, quarantine_.front().free_at)) {
    free_.insert(quarantine_.front().ids.begin(), quarantine_.front().ids.end());
    quarantine_.pop_front();
  }
  if (!free_.empty()) return free_.extract(free_.begin()).value();
  if (last_fresh_ == max_id_) return std::nullopt;
  return ++last_fresh_;
}

void IdAllocator::Acknowledged(const lb::SweepCounts& sweeps) {
  if (unacknowledged_.empty()) return;
  lb::SweepCounts free_at = sweeps;
  for (uint64_t& count : free_at) count += kQuarantineSweeps;
  quarantine_.push_back({std::exchange(unacknowledged_, {}), std::move(free_at)});
}

}  // namespace penstock::control

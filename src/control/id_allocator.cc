#include "control/id_allocator.h"

namespace penstock::control {

std::optional<uint32_t> IdAllocator::Allocate(uint64_t sweeps) {
  while (!quarantine_.empty() && quarantine_.front().free_at <= sweeps) {
    free_.insert(quarantine_.front().id);
    quarantine_.pop_front();
  }
  if (!free_.empty()) return free_.extract(free_.begin()).value();
  if (last_fresh_ == max_id_) return std::nullopt;
  return ++last_fresh_;
}

void IdAllocator::Acknowledged(uint64_t sweeps) {
  for (const uint32_t id : unacknowledged_) {
    quarantine_.push_back({.id = id, .free_at = sweeps + kQuarantineSweeps});
  }
  unacknowledged_.clear();
}

}  // namespace penstock::control

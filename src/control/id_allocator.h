// Small numbers for backends and services, none given again while a flow entry may still hold it.

#ifndef PENSTOCK_CONTROL_ID_ALLOCATOR_H_
#define PENSTOCK_CONTROL_ID_ALLOCATOR_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "penstock/lb/dataplane.h"

namespace penstock::control {

// An entry written with the last packet under the old generation is seen by the first sweep that
// starts afterwards; the sweep in progress at that moment may have passed its bucket already. As at
// most one sweep a second counts, the third one's end is more than a whole second on the clock
// later than the generation: what a worker remembers for less than two seconds is over by then,
// too.
inline constexpr uint64_t kQuarantineSweeps = 3;

// Not thread safe.
class IdAllocator {
 public:
  // Gives 1 to `max_id`.
  explicit IdAllocator(uint32_t max_id) : max_id_(max_id) {}

  // The lowest free id, so that tables indexed by it stay small; nullopt if all are in use or in
  // quarantine. `sweeps` is DataplaneReader::CompletedSweeps().
  [[nodiscard]] std::optional<uint32_t> Allocate(const lb::SweepCounts& sweeps);
  // Takes back an id that no worker has ever seen.
  void Return(uint32_t id) { free_.insert(id); }
  // Takes back an id that the next acknowledged generation does not name.
  void Retire(uint32_t id) { unacknowledged_.push_back(id); }
  // Every worker runs a generation without the ids retired so far: their quarantine begins.
  void Acknowledged(const lb::SweepCounts& sweeps);

 private:
  // Retired together, free together.
  struct Quarantined {
    std::vector<uint32_t> ids;
    lb::SweepCounts free_at;  // completed sweeps, by worker
  };

  const uint32_t max_id_;
  uint32_t last_fresh_ = 0;
  std::set<uint32_t> free_;
  std::vector<uint32_t> unacknowledged_;
  std::deque<Quarantined> quarantine_;  // in the order of free_at, which only grows
};

}  // namespace penstock::control

#endif  // PENSTOCK_CONTROL_ID_ALLOCATOR_H_

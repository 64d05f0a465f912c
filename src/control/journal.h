// The controller's side of the history: numbers, one caller at a time, and what a start needs.

#ifndef PENSTOCK_CONTROL_JOURNAL_H_
#define PENSTOCK_CONTROL_JOURNAL_H_

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "penstock/base/mutex.h"
#include "penstock/control/history.h"

namespace penstock::control {

// Thread safety: any thread.
class Journal {
 public:
  // `history`: nullptr keeps nothing.
  explicit Journal(History* history) : history_(history) {}

  // Above all numbers that were ever kept.
  [[nodiscard]] uint64_t NextNumber() const;
  // Keeps a generation with the next number; an error says that nothing was changed.
  [[nodiscard]] absl::Status Keep(const Generation& generation);
  // Every worker runs it. Does nothing if that is noted already.
  [[nodiscard]] absl::Status NoteAcknowledged(uint64_t number);
  // The acknowledged generations that make up the last of them and its past, oldest first. Empty:
  // there are none.
  [[nodiscard]] absl::StatusOr<std::vector<Generation>> LoadPast(std::chrono::sys_seconds now);

  // FAILED_PRECONDITION: there is no history.
  [[nodiscard]] absl::StatusOr<std::vector<GenerationInfo>> List() const;
  [[nodiscard]] absl::StatusOr<Generation> Get(uint64_t number) const;

 private:
  mutable base::Mutex mutex_;
  History* const history_ ABSL_PT_GUARDED_BY(mutex_);
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t noted_ ABSL_GUARDED_BY(mutex_) = 0;  // the last one noted as acknowledged
};

}  // namespace penstock::control

#endif  // PENSTOCK_CONTROL_JOURNAL_H_

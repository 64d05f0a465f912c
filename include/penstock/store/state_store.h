// Generations on disk: what an operator asked for survives the daemon, kill -9 and power.

#ifndef PENSTOCK_STORE_STATE_STORE_H_
#define PENSTOCK_STORE_STATE_STORE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/control/history.h"

namespace penstock::store {

// Generations kept, besides the last acknowledged one, which is kept however old it is.
inline constexpr std::size_t kKeptGenerations = 100;

// The file `state.db` of a directory that it holds locked (see DirectoryLock): an SQLite database,
// one row a generation, each with a checksum. It holds the seed: mode 0600. Nothing that is damaged
// or foreign is repaired, overwritten or deleted.
//
// REQUIRES: one caller at a time.
class StateStore final : public control::History {
 public:
  // Makes what is missing. Besides DirectoryLock's errors, with messages that name the file and end
  // in "; fix: " and the way out: DATA_LOSS: damaged, torn, or no state of penstock's, or no
  // acknowledged generation is whole; FAILED_PRECONDITION: of a newer release, or open to others.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<StateStore>> Open(
      const std::string& directory);

  ~StateStore() override;
  StateStore(const StateStore&) = delete;
  StateStore& operator=(const StateStore&) = delete;

  // Returns when it is on disk. ALREADY_EXISTS: the number is not above all that are kept.
  // RESOURCE_EXHAUSTED: the disk is full. On any error everything is as before.
  [[nodiscard]] absl::Status Append(const control::Generation& generation) override;
  [[nodiscard]] absl::Status Acknowledge(uint64_t number) override;

  // A damaged generation is there with its number, which is taken, and kDamagedComment, as not
  // acknowledged: so the first acknowledged one is what to start with.
  [[nodiscard]] absl::StatusOr<std::vector<control::GenerationInfo>> List() const override;
  static constexpr const char* kDamagedComment = "damaged on disk, cannot be used";

  // DATA_LOSS: it is there, and damaged. What config::Deserialize has against it, with its number.
  [[nodiscard]] absl::StatusOr<control::Generation> Get(uint64_t number) const override;

  // For the log at the start: a line about each generation that was damaged when the store was
  // opened, and about each that is newer than the last acknowledged one.
  [[nodiscard]] const std::vector<std::string>& notes() const;

 private:
  struct Parts;
  explicit StateStore(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace penstock::store

#endif  // PENSTOCK_STORE_STATE_STORE_H_

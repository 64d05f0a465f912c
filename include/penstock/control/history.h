// Where generations are kept, so that a restart goes on with what ran and knows when it changed.

#ifndef PENSTOCK_CONTROL_HISTORY_H_
#define PENSTOCK_CONTROL_HISTORY_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/config/services_config.h"

namespace penstock::control {

// Who made a change, and why. Both may be empty.
struct ChangeNote {
  std::string author;
  std::string comment;

  friend bool operator==(const ChangeNote&, const ChangeNote&) = default;
};

struct GenerationInfo {
  uint64_t number = 0;              // from 1; gaps are possible
  std::chrono::sys_seconds time{};  // from which it holds
  ChangeNote note;
  bool acknowledged = false;  // every worker ran it

  friend bool operator==(const GenerationInfo&, const GenerationInfo&) = default;
};

struct Generation {
  GenerationInfo info;
  config::ServicesConfig config;  // with the state of every backend filled in

  friend bool operator==(const Generation&, const Generation&) = default;
};

// REQUIRES: one caller at a time.
class History {
 public:
  virtual ~History() = default;

  // Keeps a generation durably, before it is handed to the workers; on an error nothing was kept.
  // Older ones than the last 100 are forgotten. REQUIRES: its number is above all that are kept.
  [[nodiscard]] virtual absl::Status Append(const Generation& generation) = 0;

  // Every worker runs it. NOT_FOUND: no such generation.
  [[nodiscard]] virtual absl::Status Acknowledge(uint64_t number) = 0;

  // Newest first.
  [[nodiscard]] virtual absl::StatusOr<std::vector<GenerationInfo>> List() const = 0;

  // NOT_FOUND: no such generation, or forgotten.
  [[nodiscard]] virtual absl::StatusOr<Generation> Get(uint64_t number) const = 0;
};

}  // namespace penstock::control

#endif  // PENSTOCK_CONTROL_HISTORY_H_

// The rows of state.db: generations, their acknowledgements, and the checksums of both.

#ifndef PENSTOCK_SRC_STORE_ROWS_H_
#define PENSTOCK_SRC_STORE_ROWS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/control/history.h"
#include "store/sqlite.h"

namespace penstock::store {

// What is known of a generation without its configuration.
struct Row {
  control::GenerationInfo info;
  uint64_t config_checksum = 0;
  uint64_t checksum = 0;             // of `info` and `config_checksum`
  bool whole = false;                // the checksum fits
  bool has_acknowledgement = false;  // which counts (info.acknowledged) only if its checksum fits
};

struct RowAndConfig {
  Row row;
  std::string config;  // config::Serialize
  bool whole = false;  // both checksums fit
};

// 0: there is none.
[[nodiscard]] absl::StatusOr<uint64_t> NewestNumber(const Database& database);
// Of generations and of acknowledgements, newest first.
[[nodiscard]] absl::StatusOr<std::vector<uint64_t>> AllNumbers(const Database& database);
// Newest first.
[[nodiscard]] absl::StatusOr<std::vector<Row>> AllRows(const Database& database);
[[nodiscard]] absl::StatusOr<std::optional<Row>> FindRow(const Database& database, uint64_t number);
[[nodiscard]] absl::StatusOr<std::optional<RowAndConfig>> FindRowAndConfig(const Database& database,
                                                                           uint64_t number);

// Also acknowledges what says that it is acknowledged. REQUIRES: a transaction, and a number of at
// most 63 bits that is not taken.
[[nodiscard]] absl::Status InsertRow(const Database& database,
                                     const control::Generation& generation);
[[nodiscard]] absl::Status AcknowledgeRow(const Database& database, uint64_t number,
                                          uint64_t checksum);
// Deletes all but the newest `kept` and the last that was acknowledged. REQUIRES: a transaction.
[[nodiscard]] absl::Status ForgetOldRows(const Database& database, int64_t kept);

}  // namespace penstock::store

#endif  // PENSTOCK_SRC_STORE_ROWS_H_

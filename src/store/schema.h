// The layout of state.db, and whether a file has it.

#ifndef PENSTOCK_SRC_STORE_SCHEMA_H_
#define PENSTOCK_SRC_STORE_SCHEMA_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>

#include "store/sqlite.h"

namespace penstock::store {

// Raised with every change of the tables or of what their columns mean.
inline constexpr int kSchemaVersion = 1;

// The bytes of a database without generations.
[[nodiscard]] absl::StatusOr<std::string> EmptyDatabase();

// Makes writes durable when they return, and reads all of the file but the generations' contents,
// which have checksums of their own. Changes nothing in it. DATA_LOSS: damaged, or not penstock's.
// FAILED_PRECONDITION: of a newer release.
[[nodiscard]] absl::Status SetUpAndCheck(const Database& database, const std::string& path);

}  // namespace penstock::store

#endif  // PENSTOCK_SRC_STORE_SCHEMA_H_

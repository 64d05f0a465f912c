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

// How we write: durable when a statement returns. Changes nothing in the file.
[[nodiscard]] absl::Status SetUp(const Database& database);

// Reads all of the file but the generations' contents, which have checksums of their own.
// DATA_LOSS: damaged, or not penstock's. FAILED_PRECONDITION: of a newer release.
[[nodiscard]] absl::Status CheckFile(const Database& database, const std::string& path);

}  // namespace penstock::store

#endif  // PENSTOCK_SRC_STORE_SCHEMA_H_

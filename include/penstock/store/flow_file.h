// Tracked flows over a planned restart: one file, written whole and read once.

#ifndef PENSTOCK_STORE_FLOW_FILE_H_
#define PENSTOCK_STORE_FLOW_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>

#include "penstock/lb/saved_flow.h"

namespace penstock::store {

// The file is `flows.db` of `directory`, mode 0600. REQUIRES: the caller holds the DirectoryLock
// (an open StateStore does). Messages name the file and end in "; fix: " and the way out.

// Replaces the file: afterwards, also after kill -9 or loss of power, there is the old one or the
// new one, whole. INVALID_ARGUMENT: an index that names nothing, a flow of two families, a name
// above 65535 bytes. RESOURCE_EXHAUSTED: the disk is full; the old file stays.
[[nodiscard]] absl::Status WriteFlows(const std::string& directory, const lb::SavedFlows& flows);

// NOT_FOUND: there is no file. DATA_LOSS: damaged, torn, or no flow file. FAILED_PRECONDITION: of a
// newer release, or open to others.
[[nodiscard]] absl::StatusOr<lb::SavedFlows> ReadFlows(const std::string& directory);

// Removes the file, so that no later start takes flows for true that have ended since. OK when
// there is none.
[[nodiscard]] absl::Status ForgetFlows(const std::string& directory);

}  // namespace penstock::store

#endif  // PENSTOCK_STORE_FLOW_FILE_H_

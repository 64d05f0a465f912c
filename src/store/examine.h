// Which generations of a file are whole, and what an operator should know of the others.

#ifndef PENSTOCK_SRC_STORE_EXAMINE_H_
#define PENSTOCK_SRC_STORE_EXAMINE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "store/sqlite.h"

namespace penstock::store {

struct Findings {
  std::set<uint64_t> damaged;      // numbers of generations that cannot be used
  std::vector<std::string> notes;  // see StateStore::notes
};

// "generation 7", as all messages have it.
[[nodiscard]] std::string NameOf(uint64_t number);

// Reads every generation. DATA_LOSS: some were acknowledged, and none of those is whole.
[[nodiscard]] absl::StatusOr<Findings> Examine(const Database& database, const std::string& path);

}  // namespace penstock::store

#endif  // PENSTOCK_SRC_STORE_EXAMINE_H_

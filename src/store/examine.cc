#include "store/examine.h"

#include <absl/status/status.h>

#include <optional>

#include "store/files.h"
#include "store/rows.h"

namespace penstock::store {
namespace {

// What is wrong with a generation that was asked for by its number; empty: nothing.
std::string DamageOf(const std::optional<RowAndConfig>& found) {
  if (!found.has_value()) return "it was acknowledged, and is not there";
  if (!found->whole) return "its checksum does not fit";
  const Row& row = found->row;
  if (row.has_acknowledgement && !row.info.acknowledged) return "its acknowledgement is another's";
  return "";
}

}  // namespace

std::string NameOf(uint64_t number) {
  return "generation " + std::to_string(number);
}

absl::StatusOr<Findings> Examine(const Database& database, const std::string& path) {
  const absl::StatusOr<std::vector<uint64_t>> numbers = AllNumbers(database);
  if (!numbers.ok()) return numbers.status();
  Findings findings;
  bool usable = false;  // one that is newer than `number`
  for (const uint64_t number : *numbers) {
    const absl::StatusOr<std::optional<RowAndConfig>> found = FindRowAndConfig(database, number);
    if (!found.ok()) return found.status();
    const std::string damage = DamageOf(*found);
    if (!damage.empty()) {
      findings.damaged.insert(number);
      findings.notes.push_back(NameOf(number) + " in " + path + " is damaged (" + damage +
                               ") and cannot be used");
    } else if ((*found)->row.info.acknowledged) {
      usable = true;
    } else if (!usable) {
      findings.notes.push_back(NameOf(number) + " in " + path +
                               " is not used: not every worker acknowledged it");
    }
  }
  if (!usable && !findings.damaged.empty()) {
    return Damaged(path, "no acknowledged generation in it is whole");
  }
  return findings;
}

}  // namespace penstock::store

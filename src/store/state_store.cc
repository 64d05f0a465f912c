#include "penstock/store/state_store.h"

#include <limits>
#include <utility>

#include "penstock/config/serialize.h"
#include "penstock/store/directory_lock.h"
#include "store/examine.h"
#include "store/files.h"
#include "store/rows.h"
#include "store/schema.h"
#include "store/sqlite.h"

namespace penstock::store {
namespace {

using control::Generation;
using control::GenerationInfo;

constexpr const char* kFileName = "state.db";

absl::Status MakeEmpty(const std::string& directory, const std::string& path) {
  // SQLite would take an old journal for the new file's and undo its "changes".
  const absl::StatusOr<bool> journal = FindPrivateFile(path + "-journal");
  if (!journal.ok()) return journal.status();
  if (*journal) return Damaged(path + "-journal", "the file that it belongs to is gone");
  const absl::StatusOr<std::string> empty = EmptyDatabase();
  if (!empty.ok()) return empty.status();
  return WriteWhole(directory, kFileName, *empty);
}

absl::StatusOr<Database> OpenDatabase(const std::string& directory, const std::string& path) {
  const absl::StatusOr<bool> found = FindPrivateFile(path);
  if (!found.ok()) return found.status();
  if (!*found) {
    if (absl::Status status = MakeEmpty(directory, path); !status.ok()) return status;
  }
  absl::StatusOr<Database> database = Database::OpenFile(path);
  if (!database.ok()) return database;
  if (absl::Status status = SetUpAndCheck(*database, path); !status.ok()) return status;
  return database;
}

}  // namespace

struct StateStore::Parts {
  DirectoryLock lock;  // let go last
  Database database;
  std::string path;
  Findings findings;

  [[nodiscard]] bool IsWhole(const Row& row) const {
    return row.whole && !findings.damaged.contains(row.info.number);
  }
  [[nodiscard]] absl::Status None(uint64_t number) const {
    return absl::NotFoundError(path + " has no " + NameOf(number));
  }
  [[nodiscard]] absl::Status RowDamaged(uint64_t number) const {
    return absl::DataLossError(
        WithFix(NameOf(number) + " in " + path + " is damaged (its checksum does not fit)",
                "go back to another generation"));
  }
};

StateStore::StateStore(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
StateStore::~StateStore() = default;

absl::StatusOr<std::unique_ptr<StateStore>> StateStore::Open(const std::string& directory) {
  absl::StatusOr<DirectoryLock> lock = DirectoryLock::Take(directory);
  if (!lock.ok()) return lock.status();
  const std::string path = directory + "/" + kFileName;
  absl::StatusOr<Database> database = OpenDatabase(directory, path);
  if (!database.ok()) return database.status();
  absl::StatusOr<Findings> findings = Examine(*database, path);
  if (!findings.ok()) return findings.status();
  return std::unique_ptr<StateStore>(new StateStore(std::unique_ptr<Parts>(
      new Parts{*std::move(lock), *std::move(database), path, *std::move(findings)})));
}

absl::Status StateStore::Append(const Generation& generation) {
  const Database& database = parts_->database;
  const uint64_t number = generation.info.number;
  Transaction transaction(database);
  if (absl::Status status = transaction.Begin(); !status.ok()) return status;
  const absl::StatusOr<uint64_t> newest = NewestNumber(database);
  if (!newest.ok()) return newest.status();
  if (number <= *newest || number > uint64_t{std::numeric_limits<int64_t>::max()}) {
    return absl::AlreadyExistsError(parts_->path + ": " + NameOf(number) +
                                    " is not above the newest, " + std::to_string(*newest));
  }
  if (absl::Status status = InsertRow(database, generation); !status.ok()) return status;
  if (absl::Status status = ForgetOldRows(database, kKeptGenerations); !status.ok()) return status;
  if (absl::Status status = transaction.Commit(); !status.ok()) return status;
  parts_->findings.damaged.erase(number);  // of a row that was gone
  return absl::OkStatus();
}

absl::Status StateStore::Acknowledge(uint64_t number) {
  const absl::StatusOr<std::optional<Row>> row = FindRow(parts_->database, number);
  if (!row.ok()) return row.status();
  if (!row->has_value()) return parts_->None(number);
  if (!parts_->IsWhole(**row)) return parts_->RowDamaged(number);
  return AcknowledgeRow(parts_->database, number, (*row)->checksum);
}

absl::StatusOr<std::vector<GenerationInfo>> StateStore::List() const {
  const absl::StatusOr<std::vector<Row>> rows = AllRows(parts_->database);
  if (!rows.ok()) return rows.status();
  std::vector<GenerationInfo> list;
  for (const Row& row : *rows) {
    list.push_back(parts_->IsWhole(row)
                       ? row.info
                       : GenerationInfo{.number = row.info.number,
                                        .note = {.author = "", .comment = kDamagedComment}});
  }
  return list;
}

absl::StatusOr<Generation> StateStore::Get(uint64_t number) const {
  const absl::StatusOr<std::optional<RowAndConfig>> found =
      FindRowAndConfig(parts_->database, number);
  if (!found.ok()) return found.status();
  if (!found->has_value()) return parts_->None(number);
  const RowAndConfig& both = **found;
  if (!both.whole || !parts_->IsWhole(both.row)) return parts_->RowDamaged(number);
  absl::StatusOr<config::ServicesConfig> config = config::Deserialize(both.config);
  if (!config.ok()) {
    return absl::Status(config.status().code(), NameOf(number) + " in " + parts_->path + ": " +
                                                    std::string(config.status().message()));
  }
  return Generation{.info = both.row.info, .config = *std::move(config)};
}

const std::vector<std::string>& StateStore::notes() const {
  return parts_->findings.notes;
}

}  // namespace penstock::store

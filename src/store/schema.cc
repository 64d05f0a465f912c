#include "store/schema.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "store/files.h"

namespace penstock::store {
namespace {

constexpr const char* kApplicationId = "1885696627";  // "pens"; in the file's header

// `checksum` covers the columns before it, so that a list need not read whole configurations;
// `config` comes last for the same reason.
constexpr const char* kGenerations =
    "CREATE TABLE generations(number INTEGER PRIMARY KEY, time INTEGER NOT NULL, "
    "author TEXT NOT NULL, comment TEXT NOT NULL, config_checksum INTEGER NOT NULL, "
    "checksum INTEGER NOT NULL, config BLOB NOT NULL) STRICT";
// A table of its own: to acknowledge does not write the configuration once more.
constexpr const char* kAcknowledgements =
    "CREATE TABLE acknowledgements(number INTEGER PRIMARY KEY, checksum INTEGER NOT NULL) STRICT";

std::string Sql(const char* a, const std::string& b, const char* c = "") {
  return a + b + c;
}

// How we write: durable when a statement returns. Changes nothing in the file.
absl::Status SetUp(const Database& database, const std::string& /*path*/) {
  // The file's schema is data: no triggers or views of its own run.
  sqlite3* handle = database.handle();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  // EXTRA also syncs the directory once the journal is removed, which is what commits.
  for (const char* sql : {"PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON",
                          "PRAGMA mmap_size = 0", "PRAGMA synchronous = EXTRA"}) {
    if (const absl::Status status = database.Execute(sql); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// All tables and their columns, and nothing else.
absl::Status CheckTables(const Database& database, const std::string& path) {
  const std::string expected =
      Sql("SELECT count(*) = 2 AND sum(sql = '", kGenerations, "') = 1") +
      Sql(" AND sum(sql = '", kAcknowledgements, "') = 1 FROM sqlite_schema");
  const absl::StatusOr<std::string> same = database.QueryText(expected);
  if (!same.ok()) return same.status();
  return *same == "1" ? absl::OkStatus() : Damaged(path, "its tables are not those of penstock");
}

absl::Status CheckVersion(const Database& database, const std::string& path) {
  const absl::StatusOr<std::string> application = database.QueryText("PRAGMA application_id");
  if (!application.ok()) return application.status();
  if (*application != kApplicationId) return Damaged(path, "it is no state of penstock");
  const absl::StatusOr<std::string> version = database.QueryText("PRAGMA user_version");
  if (!version.ok()) return version.status();
  if (*version == std::to_string(kSchemaVersion)) return absl::OkStatus();
  if (std::stoll(*version) > kSchemaVersion) {
    return absl::FailedPreconditionError(WithFix(path + " is of a newer release (schema " +
                                                     *version + ", this one knows " +
                                                     std::to_string(kSchemaVersion) + ")",
                                                 "run that release, or move the file away"));
  }
  return Damaged(path, "schema " + *version + " never was");
}

// SQLite takes what is missing of the last page for zeros.
absl::Status CheckSize(const Database& database, const std::string& path) {
  const absl::StatusOr<std::string> wanted =
      database.QueryText("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
  if (!wanted.ok()) return wanted.status();
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return SystemError("look at", path, error.value());
  if (size >= std::stoull(*wanted)) return absl::OkStatus();
  return Damaged(path, "it has " + std::to_string(size) + " of its " + *wanted + " bytes");
}

// The file's header knows two settings of its own; ours are the defaults. REQUIRES: CheckVersion,
// which reads the header.
absl::Status CheckWritable(const Database& database, const std::string& path) {
  if (access(path.c_str(), W_OK) != 0) return SystemError("write", path, errno);
  if (sqlite3_db_readonly(database.handle(), "main") != 0) {
    return Damaged(path, "its header does not let us write");
  }
  const absl::StatusOr<std::string> journal = database.QueryText("PRAGMA journal_mode");
  if (!journal.ok()) return journal.status();
  return *journal == "delete" ? absl::OkStatus() : Damaged(path, "its journal is not ours");
}

absl::Status CheckStructure(const Database& database, const std::string& path) {
  const absl::StatusOr<std::string> answer = database.QueryText("PRAGMA quick_check(1)");
  if (!answer.ok()) return answer.status();
  return *answer == "ok" ? absl::OkStatus() : Damaged(path, *answer);
}

}  // namespace

absl::StatusOr<std::string> EmptyDatabase() {
  const absl::StatusOr<Database> database = Database::OpenMemory();
  if (!database.ok()) return database.status();
  for (const std::string& sql : {Sql("PRAGMA application_id = ", kApplicationId),
                                 Sql("PRAGMA user_version = ", std::to_string(kSchemaVersion)),
                                 std::string(kGenerations), std::string(kAcknowledgements)}) {
    if (const absl::Status status = database->Execute(sql); !status.ok()) return status;
  }
  return database->Bytes();
}

absl::Status SetUpAndCheck(const Database& database, const std::string& path) {
  for (const auto step :
       {SetUp, CheckVersion, CheckWritable, CheckSize, CheckTables, CheckStructure}) {
    const absl::Status status = step(database, path);
    // Here our statements are right, so what SQLite has against them comes from the file.
    if (absl::IsInternal(status)) return Damaged(path, std::string(status.message()));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace penstock::store

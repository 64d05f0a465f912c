#include "store/sqlite.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstddef>

#include "store/files.h"

namespace penstock::store {
namespace {

// How long to wait for another program that reads the file, such as a backup.
constexpr int kBusyMilliseconds = 2000;

bool IsFull(int error) {
  return error == ENOSPC || error == EDQUOT;
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}

absl::StatusOr<Database> Database::Open(const std::string& path, int flags) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle,
                                   flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  Database database(handle, path);  // also after an error there is a handle, with the message
  if (code != SQLITE_OK) return database.LastError();
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  return database;
}

absl::StatusOr<Database> Database::OpenFile(const std::string& path) {
  return Open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW);
}

absl::StatusOr<Database> Database::OpenMemory() {
  return Open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

absl::Status Database::LastError() const {
  const int code = sqlite3_extended_errcode(handle_.get());
  const int system = sqlite3_system_errno(handle_.get());
  const std::string reason(sqlite3_errmsg(handle_.get()));
  if ((code & 0xFF) == SQLITE_FULL) return SystemError("write", path_, ENOSPC);
  switch (code & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Damaged(path_, reason);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      if (system != 0) return SystemError("read or write", path_, IsFull(system) ? ENOSPC : system);
      return SystemError("read or write", path_, EIO);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return SystemError("write", path_, EACCES);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(
          WithFix(path_ + " is locked by another program", "let that one finish, and try again"));
    case SQLITE_NOMEM:
      return absl::ResourceExhaustedError(path_ + ": no memory to read or write it");
    default:
      return absl::InternalError(path_ + ": " + reason);
  }
}

absl::Status Database::Execute(const std::string& sql) const {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) {
    return absl::OkStatus();
  }
  return LastError();
}

absl::StatusOr<std::string> Database::QueryText(const std::string& sql) const {
  Statement statement(*this, sql);
  const absl::StatusOr<bool> row = statement.Step();
  if (!row.ok()) return row.status();
  if (!*row) return absl::InternalError(path_ + ": no answer to " + sql);
  return statement.Bytes(0);
}

absl::StatusOr<std::string> Database::Bytes() const {
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> bytes(
      sqlite3_serialize(handle_.get(), "main", &size, 0), &sqlite3_free);
  if (bytes == nullptr) return absl::ResourceExhaustedError("no memory for an empty " + path_);
  return std::string(reinterpret_cast<const char*>(bytes.get()), static_cast<std::size_t>(size));
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement::Statement(const Database& database, const std::string& sql) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  Note(sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &statement, nullptr));
  statement_.reset(statement);
}

// The null destructor is SQLITE_STATIC: SQLite makes no copy.
Statement& Statement::Bind(int64_t number) {
  if (!failed_) Note(sqlite3_bind_int64(statement_.get(), ++bound_, number));
  return *this;
}

Statement& Statement::BindText(std::string_view text) {
  if (!failed_) {
    Note(sqlite3_bind_text64(statement_.get(), ++bound_, text.data(), text.size(), nullptr,
                             SQLITE_UTF8));
  }
  return *this;
}

Statement& Statement::BindBlob(std::string_view bytes) {
  if (!failed_) {
    Note(sqlite3_bind_blob64(statement_.get(), ++bound_, bytes.data(), bytes.size(), nullptr));
  }
  return *this;
}

absl::StatusOr<bool> Statement::Step() {
  if (failed_) return database_.LastError();
  switch (sqlite3_step(statement_.get())) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return database_.LastError();
  }
}

absl::Status Statement::Run() {
  return Step().status();
}

int64_t Statement::Integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::Bytes(int column) const {
  // First the pointer: it may convert the value, and with it the size.
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

Transaction::~Transaction() {
  // An error may have rolled back already; nothing is lost by asking again.
  if (open_) static_cast<void>(database_.Execute("ROLLBACK"));
}

absl::Status Transaction::Begin() {
  absl::Status status = database_.Execute("BEGIN IMMEDIATE");
  open_ = status.ok();
  return status;
}

absl::Status Transaction::Commit() {
  absl::Status status = database_.Execute("COMMIT");
  if (status.ok()) open_ = false;
  return status;
}

}  // namespace penstock::store

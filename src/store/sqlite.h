// SQLite behind two classes that close what they open and speak absl::Status.

#ifndef PENSTOCK_SRC_STORE_SQLITE_H_
#define PENSTOCK_SRC_STORE_SQLITE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace penstock::store {

// A connection. REQUIRES: one caller at a time.
class Database {
 public:
  // Opens an existing file for reading and writing; looks at nothing in it yet.
  [[nodiscard]] static absl::StatusOr<Database> OpenFile(const std::string& path);
  // An empty one in memory.
  [[nodiscard]] static absl::StatusOr<Database> OpenMemory();

  [[nodiscard]] absl::Status Execute(const std::string& sql) const;
  // The first column of the first row. INTERNAL: there is no row.
  [[nodiscard]] absl::StatusOr<std::string> QueryText(const std::string& sql) const;
  // The file's bytes as they would be on disk. REQUIRES: OpenMemory.
  [[nodiscard]] absl::StatusOr<std::string> Bytes() const;

  // Of the last call that failed: DATA_LOSS damaged, RESOURCE_EXHAUSTED disk full,
  // PERMISSION_DENIED, UNAVAILABLE busy or the disk's error, INTERNAL our own mistake.
  [[nodiscard]] absl::Status LastError() const;

  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  [[nodiscard]] static absl::StatusOr<Database> Open(const std::string& path, int flags);

  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
};

// One statement with its parameters, to be stepped through once. Parameters and columns are counted
// from 0. Texts and blobs that are bound have to outlive it.
class Statement {
 public:
  // A mistake in `sql` shows in Step.
  Statement(const Database& database, const std::string& sql);

  Statement& Bind(int64_t number);
  Statement& BindText(std::string_view text);
  Statement& BindBlob(std::string_view bytes);

  // Whether there is a row (more).
  [[nodiscard]] absl::StatusOr<bool> Step();
  // Steps to the end of something that returns no rows.
  [[nodiscard]] absl::Status Run();

  [[nodiscard]] int64_t Integer(int column) const;
  // Text or blob.
  [[nodiscard]] std::string Bytes(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  void Note(int code) { failed_ = failed_ || code != 0; }

  const Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
  bool failed_ = false;
};

// Rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(const Database& database) : database_(database) {}
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  [[nodiscard]] absl::Status Begin();
  [[nodiscard]] absl::Status Commit();

 private:
  const Database& database_;
  bool open_ = false;
};

}  // namespace penstock::store

#endif  // PENSTOCK_SRC_STORE_SQLITE_H_

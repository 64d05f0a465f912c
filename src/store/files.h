// Files that only we may read, written whole or not at all.

#ifndef PENSTOCK_SRC_STORE_FILES_H_
#define PENSTOCK_SRC_STORE_FILES_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace penstock::store {

class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.Release()) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  FileDescriptor& operator=(FileDescriptor&&) = delete;

  [[nodiscard]] bool ok() const { return number_ >= 0; }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int Release() { return std::exchange(number_, -1); }

 private:
  int number_;  // -1: none
};

// "CAUSE; fix: FIX", the form in which the daemon tells why it does not start.
[[nodiscard]] std::string WithFix(std::string_view cause, std::string_view fix);

// "cannot WHAT PATH: reason", and what helps: RESOURCE_EXHAUSTED for a full disk or quota,
// PERMISSION_DENIED, NOT_FOUND, UNAVAILABLE for the rest.
[[nodiscard]] absl::Status SystemError(std::string_view what, const std::string& path, int error);

// Whether there is a file at `path`. FAILED_PRECONDITION: it is no regular file, is somebody
// else's, or others may read or write it.
[[nodiscard]] absl::StatusOr<bool> FindPrivateFile(const std::string& path);

// Makes the last component when it is missing (0700). See DirectoryLock::Take for the errors.
[[nodiscard]] absl::Status PrepareDirectory(const std::string& path);

// Replaces directory/name by `bytes` with mode 0600: temporary file, fsync, rename, fsync of the
// directory. An error leaves the old file and no temporary one.
[[nodiscard]] absl::Status WriteWhole(const std::string& directory, const std::string& name,
                                      std::string_view bytes);

// All bytes of a file that FindPrivateFile accepts. NOT_FOUND: there is none. DATA_LOSS: there are
// more than `max_bytes`.
[[nodiscard]] absl::StatusOr<std::string> ReadPrivateFile(const std::string& path,
                                                          std::size_t max_bytes);

// DATA_LOSS "PATH is damaged (HOW)", to be moved away.
[[nodiscard]] absl::Status Damaged(const std::string& path, std::string_view how);

// Removes directory/name, durably; OK when there is none.
[[nodiscard]] absl::Status RemoveFile(const std::string& directory, const std::string& name);

}  // namespace penstock::store

#endif  // PENSTOCK_SRC_STORE_FILES_H_

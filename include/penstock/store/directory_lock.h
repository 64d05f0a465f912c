// The directory of a host's state: made, checked, and held by one process.

#ifndef PENSTOCK_STORE_DIRECTORY_LOCK_H_
#define PENSTOCK_STORE_DIRECTORY_LOCK_H_

#include <absl/status/statusor.h>

#include <string>
#include <utility>

namespace penstock::store {

// Held until it is destroyed or the process ends, however it ends. What the file `lock` in the
// directory says is only the holder's pid, for messages; the file stays when the lock goes.
class DirectoryLock {
 public:
  // Makes the last component of `directory` when it is missing (mode 0700). Messages end in
  // "; fix: " and the way out. INVALID_ARGUMENT: the path is not absolute. FAILED_PRECONDITION: no
  // directory, one that others may write to, or one that another process, named by its pid, still
  // holds after two seconds.
  // PERMISSION_DENIED, RESOURCE_EXHAUSTED (full disk), UNAVAILABLE: the system said no.
  [[nodiscard]] static absl::StatusOr<DirectoryLock> Take(const std::string& directory);

  ~DirectoryLock();
  DirectoryLock(DirectoryLock&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  DirectoryLock& operator=(DirectoryLock&&) = delete;

 private:
  explicit DirectoryLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;  // of the file `lock`; -1: moved away
};

}  // namespace penstock::store

#endif  // PENSTOCK_STORE_DIRECTORY_LOCK_H_

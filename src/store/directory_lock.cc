#include "penstock/store/directory_lock.h"

#include <absl/status/status.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <thread>

#include "store/files.h"

namespace penstock::store {
namespace {

// The digits at the start of the file; "unknown" when there are none.
std::string HolderOf(const FileDescriptor& file) {
  std::array<char, 16> text{};
  const ssize_t size = pread(file.number(), text.data(), text.size(), 0);
  const std::string_view found(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::string_view digits = found.substr(0, found.find_first_not_of("0123456789"));
  return digits.empty() ? "unknown" : std::string(digits);
}

// A disk too full for the pid is no reason not to run.
void WriteHolder(const FileDescriptor& file) {
  const std::string text = std::to_string(getpid()) + "\n";
  if (ftruncate(file.number(), 0) != 0) return;
  [[maybe_unused]] const ssize_t written = pwrite(file.number(), text.data(), text.size(), 0);
}

// 0, or an errno. A holder that was killed lets go when the system has taken its memory apart: that
// takes a moment.
int LockSoon(const FileDescriptor& file) {
  constexpr std::chrono::milliseconds kPatience{2000};
  constexpr std::chrono::milliseconds kInterval{20};
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() >= deadline) return errno;
    std::this_thread::sleep_for(kInterval);
  }
  return 0;
}

}  // namespace

absl::StatusOr<DirectoryLock> DirectoryLock::Take(const std::string& directory) {
  if (const absl::Status status = PrepareDirectory(directory); !status.ok()) return status;
  const std::string path = directory + "/lock";
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.ok()) return SystemError("open", path, errno);
  if (const int error = LockSoon(file); error != 0) {
    if (error != EWOULDBLOCK) return SystemError("lock", path, error);
    return absl::FailedPreconditionError(
        WithFix(directory + " is in use by the process with pid " + HolderOf(file),
                "stop it, or give this one its own control.state_dir"));
  }
  WriteHolder(file);
  return DirectoryLock(file.Release());
}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace penstock::store

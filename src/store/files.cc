#include "store/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace penstock::store {
namespace {

absl::Status Refused(const std::string& cause, const std::string& fix) {
  return absl::FailedPreconditionError(WithFix(cause, fix));
}

std::string Octal(mode_t mode) {
  char text[8];
  std::snprintf(text, sizeof(text), "%04o", mode & 07777U);
  return text;
}

// Root may read and write everything anyway.
bool IsStrangers(const struct stat& found) {
  return found.st_uid != geteuid() && found.st_uid != 0;
}

absl::Status CheckOwner(const std::string& path, const struct stat& found) {
  if (!IsStrangers(found)) return absl::OkStatus();
  return Refused(path + " belongs to user " + std::to_string(found.st_uid) +
                     ", who could change it at any time",
                 "chown it to the user that penstockd runs as");
}

absl::Status WriteAll(const FileDescriptor& file, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(file.number()) != 0) return SystemError("write", path, errno);
  return absl::OkStatus();
}

// A rename or removal is on disk only once its directory is.
absl::Status SyncDirectory(const std::string& directory) {
  const FileDescriptor opened(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.ok() || fsync(opened.number()) != 0) return SystemError("write", directory, errno);
  return absl::OkStatus();
}

absl::Status WriteNew(const std::string& path, std::string_view bytes) {
  // What an interrupted write left behind never was anybody's state.
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return SystemError("replace", path, errno);
  const FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.ok()) return SystemError("make", path, errno);
  return WriteAll(file, path, bytes);
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) close(number_);
}

std::string WithFix(std::string_view cause, std::string_view fix) {
  std::string text(cause);
  text += "; fix: ";
  text += fix;
  return text;
}

absl::Status SystemError(std::string_view what, const std::string& path, int error) {
  std::string cause("cannot ");
  cause += what;
  cause += " " + path + ": " + std::generic_category().message(error);
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return absl::ResourceExhaustedError(WithFix(cause, "free space on its file system"));
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(
          WithFix(cause, "give the user that penstockd runs as the right to write there"));
    case ENOENT:
      return absl::NotFoundError(WithFix(cause, "make the directory that it is to lie in"));
    default:
      return absl::UnavailableError(WithFix(cause, "look into the kernel's log for its disk"));
  }
}

absl::StatusOr<bool> FindPrivateFile(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return false;
    return SystemError("look at", path, errno);
  }
  if (!S_ISREG(found.st_mode)) return Refused(path + " is no regular file", "move it away");
  if (const absl::Status owner = CheckOwner(path, found); !owner.ok()) return owner;
  if ((found.st_mode & 077U) != 0) {
    return Refused(path + " is open to others (mode " + Octal(found.st_mode) + ")",
                   "chmod 600 " + path + ", and take its secrets for known");
  }
  return true;
}

absl::Status PrepareDirectory(const std::string& path) {
  if (!std::filesystem::path(path).is_absolute()) {
    return absl::InvalidArgumentError(
        WithFix("\"" + path + "\" is no absolute path", "give control.state_dir one"));
  }
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return SystemError("make the directory", path, errno);
  }
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return SystemError("look at", path, errno);
  if (!S_ISDIR(found.st_mode)) {
    return Refused(path + " is no directory", "move it away or change control.state_dir");
  }
  if (const absl::Status owner = CheckOwner(path, found); !owner.ok()) return owner;
  if ((found.st_mode & 022U) != 0) {
    return Refused("others may write to " + path + " (mode " + Octal(found.st_mode) + ")",
                   "chmod 700 " + path);
  }
  return absl::OkStatus();
}

absl::Status WriteWhole(const std::string& directory, const std::string& name,
                        std::string_view bytes) {
  const std::string path = directory + "/" + name;
  const std::string temporary = path + ".new";
  if (absl::Status written = WriteNew(temporary, bytes); !written.ok()) {
    unlink(temporary.c_str());
    return written;
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    absl::Status status = SystemError("replace", path, errno);
    unlink(temporary.c_str());
    return status;
  }
  return SyncDirectory(directory);
}

absl::StatusOr<std::string> ReadPrivateFile(const std::string& path, std::size_t max_bytes) {
  const absl::StatusOr<bool> found = FindPrivateFile(path);
  if (!found.ok()) return found.status();
  if (!*found) return absl::NotFoundError("there is no " + path);
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status {};
  if (!file.ok() || fstat(file.number(), &status) != 0) return SystemError("read", path, errno);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > max_bytes) return Damaged(path, "it has " + std::to_string(size) + " bytes");
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = read(file.number(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("read", path, errno);
    if (got == 0) break;  // cut since we asked; its checksum will not fit
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

absl::Status Damaged(const std::string& path, std::string_view how) {
  std::string cause = path + " is damaged (";
  cause += how;
  cause += ")";
  return absl::DataLossError(WithFix(cause, "move it away and start again, see docs/STATE.md"));
}

absl::Status RemoveFile(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  if (unlink(path.c_str()) != 0) {
    return errno == ENOENT ? absl::OkStatus() : SystemError("remove", path, errno);
  }
  return SyncDirectory(directory);
}

}  // namespace penstock::store

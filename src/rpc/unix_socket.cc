#include "rpc/unix_socket.h"

#include <absl/strings/str_cat.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace penstock::rpc {
namespace {

absl::Status Refused(const std::string& what, const std::string& path, int error) {
  return absl::UnavailableError(
      absl::StrCat("cannot ", what, " ", path, ": ", std::generic_category().message(error)));
}

class Socket {
 public:
  Socket() : descriptor_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  // 0, or why not. A full backlog (EAGAIN) is a listener, too.
  [[nodiscard]] int Connect(const std::string& path) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) return ENAMETOOLONG;
    std::ranges::copy(path, address.sun_path);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    return connect(descriptor_, generic, sizeof(address)) == 0 ? 0 : errno;
  }

 private:
  const int descriptor_;
};

absl::Status RemoveStale(const std::string& path) {
  const int error = Socket().Connect(path);
  if (error == 0 || error == EAGAIN) {
    return absl::FailedPreconditionError(
        absl::StrCat("another penstockd listens on ", path,
                     "; stop it, or give this one its own control.listen"));
  }
  if (error != ECONNREFUSED) return Refused("look at", path, error);
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return Refused("remove the stale socket", path, errno);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PrepareUnixSocket(const std::string& path) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return Refused("make the directory", directory.string(), error.value());
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) {
    return errno == ENOENT ? absl::OkStatus() : Refused("look at", path, errno);
  }
  if (!S_ISSOCK(found.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " exists and is no socket; move it away or change control.listen"));
  }
  return RemoveStale(path);
}

}  // namespace penstock::rpc

// Sockets in the file system: what has to be right before and after somebody binds one.

#ifndef PENSTOCK_RPC_UNIX_SOCKET_H_
#define PENSTOCK_RPC_UNIX_SOCKET_H_

#include <absl/status/status.h>
#include <sys/stat.h>

#include <string>

namespace penstock::rpc {

// Makes the directory of `path` if it is missing and removes a socket that nobody listens on.
// FAILED_PRECONDITION: somebody listens there, or something that is no socket lies there.
// UNAVAILABLE: the system refuses.
[[nodiscard]] absl::Status PrepareUnixSocket(const std::string& path);

// Files and sockets made during its life have at most mode 0660: there is no moment at which
// everybody can connect. The mask belongs to the whole process; keep it short.
class NarrowFileMode {
 public:
  NarrowFileMode() : former_(umask(0117)) {}
  ~NarrowFileMode() { umask(former_); }
  NarrowFileMode(const NarrowFileMode&) = delete;
  NarrowFileMode& operator=(const NarrowFileMode&) = delete;

 private:
  const mode_t former_;
};

}  // namespace penstock::rpc

#endif  // PENSTOCK_RPC_UNIX_SOCKET_H_

// The gRPC side of the daemon: listens, translates, asks the controller. No gRPC type shows here,
// so that whoever wires the parts stays free of it.

#ifndef PENSTOCK_RPC_SERVER_H_
#define PENSTOCK_RPC_SERVER_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace penstock::control {
class Controller;
}  // namespace penstock::control

namespace penstock::rpc {

struct ServerOptions {
  // "unix:/absolute/path", at least one: config::ControlConfig::listen.
  std::vector<std::string> listen;

  // As GetStatus reports it.
  std::string version;
};

// Thread safety: Start and Shutdown from one thread; gRPC brings its own for the requests.
class Server {
 public:
  // Listens on all addresses or fails: FAILED_PRECONDITION when another process listens there,
  // UNAVAILABLE when the system refuses (permissions, a directory that cannot be made).
  // Makes the directory of a socket if it is missing, removes a socket that nobody listens on, and
  // makes sockets with mode 0660. From then on grpc.health.v1 follows controller.IsReady().
  // REQUIRES: controller outlives the server.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<Server>> Start(
      const ServerOptions& options, control::Controller& controller);

  // Shuts down within a second if that has not happened.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Takes no new requests, waits at most `grace` for those in progress, then ends them. A client
  // that stalls holds nothing up. Idempotent.
  void Shutdown(std::chrono::milliseconds grace);

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::rpc

#endif  // PENSTOCK_RPC_SERVER_H_

// One daemon to talk to.

#ifndef PENSTOCK_CLI_CLIENT_H_
#define PENSTOCK_CLI_CLIENT_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>

#include "penstock/v1/config_service.grpc.pb.h"
#include "penstock/v1/pool_service.grpc.pb.h"
#include "penstock/v1/status_service.grpc.pb.h"

namespace penstock::cli {

class Client {
 public:
  // Connects with the first call.
  Client(std::string target, std::chrono::milliseconds timeout);

  [[nodiscard]] const std::string& target() const { return target_; }
  [[nodiscard]] std::chrono::milliseconds timeout() const { return timeout_; }
  [[nodiscard]] v1::ConfigService::Stub& config() { return *config_; }
  [[nodiscard]] v1::PoolService::Stub& pools() { return *pools_; }
  [[nodiscard]] v1::StatusService::Stub& status() { return *status_; }

  // One call with the deadline of the command line:
  //   client.Call(client.status(), &v1::StatusService::Stub::GetStatus, request, response)
  template <typename Stub, typename Method, typename Request, typename Response>
  [[nodiscard]] grpc::Status Call(Stub& stub, Method method, const Request& request,
                                  Response& response) const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + timeout_);
    return (stub.*method)(&context, request, &response);
  }

 private:
  const std::string target_;
  const std::chrono::milliseconds timeout_;
  std::unique_ptr<v1::ConfigService::Stub> config_;
  std::unique_ptr<v1::PoolService::Stub> pools_;
  std::unique_ptr<v1::StatusService::Stub> status_;
};

}  // namespace penstock::cli

#endif  // PENSTOCK_CLI_CLIENT_H_

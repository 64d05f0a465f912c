#include "rpc/server.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <string_view>
#include <thread>
#include <utility>

#include "penstock/base/mutex.h"
#include "rpc/services.h"
#include "rpc/unix_socket.h"

namespace penstock::rpc {
namespace {

// A configuration of 5,000 services and 100,000 backends has about 10 MB.
constexpr int kMaxReceiveBytes = 64 << 20;
constexpr std::chrono::milliseconds kHealthPeriod{100};
constexpr std::chrono::seconds kGraceOfDestructor{1};
constexpr std::string_view kUnixScheme = "unix:";

}  // namespace

class Server::Impl {
 public:
  Impl(const ServerOptions& options, control::Controller& controller)
      : controller_(controller),
        config_service_(controller),
        pool_service_(controller),
        status_service_(controller, options.version) {}

  absl::Status Listen(const std::vector<std::string>& addresses);
  void Shutdown(std::chrono::milliseconds grace);

 private:
  void FollowHealth();

  control::Controller& controller_;
  ConfigService config_service_;
  PoolService pool_service_;
  StatusService status_service_;
  std::unique_ptr<grpc::Server> server_;

  base::Mutex mutex_;
  base::CondVar stopped_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread health_;  // tells the health service what the controller says
};

absl::Status Server::Impl::Listen(const std::vector<std::string>& addresses) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(kMaxReceiveBytes);
  builder.RegisterService(&config_service_);
  builder.RegisterService(&pool_service_);
  builder.RegisterService(&status_service_);
  for (const std::string& address : addresses) {
    if (!std::string_view(address).starts_with(kUnixScheme)) {
      return absl::InvalidArgumentError(absl::StrCat("not a unix socket: ", address));
    }
    absl::Status status = PrepareUnixSocket(address.substr(kUnixScheme.size()));
    if (!status.ok()) return status;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  }
  {
    const NarrowFileMode narrow;
    server_ = builder.BuildAndStart();
  }
  if (server_ == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", addresses.empty() ? "nothing" : addresses.front(),
                     ": is the directory writable, and the path shorter than 108 bytes?"));
  }
  server_->GetHealthCheckService()->SetServingStatus(false);  // until FollowHealth has looked
  health_ = std::thread([this] { FollowHealth(); });
  return absl::OkStatus();
}

void Server::Impl::FollowHealth() {
  bool told = false;
  const base::MutexLock lock(mutex_);
  while (!stop_) {
    const bool ready = controller_.IsReady();
    if (ready != told) server_->GetHealthCheckService()->SetServingStatus(ready);
    told = ready;
    stopped_.wait_for(mutex_, kHealthPeriod);
  }
}

void Server::Impl::Shutdown(std::chrono::milliseconds grace) {
  if (server_ == nullptr) return;
  {
    const base::MutexLock lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  health_.join();
  server_->Shutdown(std::chrono::system_clock::now() + grace);
  server_->Wait();
  server_.reset();
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                                      control::Controller& controller) {
  auto impl = std::make_unique<Impl>(options, controller);
  const absl::Status status = impl->Listen(options.listen);
  if (!status.ok()) return status;
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  impl_->Shutdown(kGraceOfDestructor);
}

void Server::Shutdown(std::chrono::milliseconds grace) {
  impl_->Shutdown(grace);
}

}  // namespace penstock::rpc

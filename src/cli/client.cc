#include "cli/client.h"

#include <utility>

namespace penstock::cli {
namespace {

// As the daemon's: a whole configuration is 10 MB.
constexpr int kMaxReceiveBytes = 64 << 20;

}  // namespace

Client::Client(std::string target, std::chrono::milliseconds timeout)
    : target_(std::move(target)), timeout_(timeout) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxReceiveBytes);
  // A proxy of the environment has no business on a management socket.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  const auto channel =
      grpc::CreateCustomChannel(target_, grpc::InsecureChannelCredentials(), arguments);
  config_ = v1::ConfigService::NewStub(channel);
  pools_ = v1::PoolService::NewStub(channel);
  status_ = v1::StatusService::NewStub(channel);
}

}  // namespace penstock::cli

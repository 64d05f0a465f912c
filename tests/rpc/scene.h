// A server over a fake data plane, on a socket of its own.

#ifndef PENSTOCK_TESTS_RPC_SCENE_H_
#define PENSTOCK_TESTS_RPC_SCENE_H_

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "penstock/config/convert.h"
#include "penstock/control/controller.h"
#include "penstock/v1/config_service.grpc.pb.h"
#include "penstock/v1/pool_service.grpc.pb.h"
#include "penstock/v1/status_service.grpc.pb.h"
#include "rpc/server.h"
#include "tests/control/fake_dataplane.h"

namespace penstock::rpc {

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    std::string pattern = testing::TempDir() + "penstock_rpc_XXXXXX";
    directory = mkdtemp(pattern.data());
    Connect();
  }
  ~ServerTest() override {
    server.reset();
    std::filesystem::remove_all(directory);
  }

  [[nodiscard]] std::string path() const { return directory + "/run/penstockd.sock"; }
  [[nodiscard]] std::string address() const { return "unix:" + path(); }
  [[nodiscard]] ServerOptions options() const {
    return {.listen = {address()}, .version = "1.2.3"};
  }
  void Connect() {
    server = Server::Start(options(), controller);
    ASSERT_TRUE(server->ok()) << server->status();
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel = grpc::CreateCustomChannel(address(), grpc::InsecureChannelCredentials(), arguments);
    config = v1::ConfigService::NewStub(channel);
    pools = v1::PoolService::NewStub(channel);
    status = v1::StatusService::NewStub(channel);
  }
  grpc::Status Apply(const v1::ApplyConfigRequest& request) {
    grpc::ClientContext context;
    return config->ApplyConfig(&context, request, &applied);
  }
  grpc::Status Apply(const config::ServicesConfig& desired) {
    v1::ApplyConfigRequest request;
    *request.mutable_config() = config::ToProto(desired);
    return Apply(request);
  }

  std::string directory;
  control::FakePublisher publisher;
  control::FakeReader reader;
  control::Controller controller{publisher, reader, control::TestHost()};
  std::optional<absl::StatusOr<std::unique_ptr<Server>>> server;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::ConfigService::Stub> config;
  std::unique_ptr<v1::PoolService::Stub> pools;
  std::unique_ptr<v1::StatusService::Stub> status;
  v1::ApplyConfigResponse applied;
};

}  // namespace penstock::rpc

#endif  // PENSTOCK_TESTS_RPC_SCENE_H_

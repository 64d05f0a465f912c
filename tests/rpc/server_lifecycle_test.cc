// Start, stop, sockets, health, reflection, and clients that are none.

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/support/byte_buffer.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <random>
#include <thread>

#include "tests/rpc/scene.h"

namespace penstock::rpc {
namespace {

using testing::HasSubstr;

int ConnectTo(const std::string& path) {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(path, address.sun_path);
  EXPECT_EQ(connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return descriptor;
}

// grpc.health.v1.HealthCheckResponse is one varint field: 08 01 is SERVING, 08 02 NOT_SERVING.
std::string CheckHealth(grpc::Channel& channel) {
  const grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check",
                                         grpc::internal::RpcMethod::NORMAL_RPC);
  grpc::ClientContext context;
  grpc::ByteBuffer response;
  const grpc::Status status = grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
      &channel, method, &context, grpc::ByteBuffer(nullptr, 0), &response);
  if (!status.ok()) return status.error_message();
  grpc::Slice slice;
  if (!response.DumpToSingleSlice(&slice).ok() || slice.size() != 2) return "odd answer";
  return slice.begin()[1] == 1 ? "SERVING" : "NOT_SERVING";
}

bool BecomesHealth(grpc::Channel& channel, const std::string& wanted) {
  for (int i = 0; i < 100 && CheckHealth(channel) != wanted; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return CheckHealth(channel) == wanted;
}

TEST_F(ServerTest, HealthFollowsGenerationAndWorkers) {
  EXPECT_EQ(CheckHealth(*channel), "NOT_SERVING");
  ASSERT_TRUE(Apply(control::TestConfig()).ok());
  EXPECT_TRUE(BecomesHealth(*channel, "SERVING"));
  reader.heartbeat_age = std::chrono::seconds(5);
  EXPECT_TRUE(BecomesHealth(*channel, "NOT_SERVING"));
}

TEST_F(ServerTest, SocketIsForOwnerAndGroup) {
  struct stat found {};
  ASSERT_EQ(stat(path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0660U);
}

TEST_F(ServerTest, SecondDaemonIsRefusedAndHarmsNobody) {
  const auto second = Server::Start(options(), controller);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("another penstockd listens on"));
  EXPECT_TRUE(Apply(control::TestConfig()).ok());
}

TEST_F(ServerTest, StaleSocketIsReplaced) {
  (**server)->Shutdown(std::chrono::milliseconds(100));
  const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(path(), address.sun_path);
  ASSERT_EQ(bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  close(descriptor);
  Connect();
  EXPECT_TRUE(Apply(control::TestConfig()).ok());
}

TEST_F(ServerTest, WhatIsNoSocketIsLeftAlone) {
  const std::string file = directory + "/precious";
  fclose(fopen(file.c_str(), "w"));
  const auto refused = Server::Start({.listen = {"unix:" + file}, .version = ""}, controller);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(ServerTest, DirectoryThatCannotBeMadeIsAnError) {
  const auto refused =
      Server::Start({.listen = {"unix:/proc/nowhere/x.sock"}, .version = ""}, controller);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("/proc/nowhere"));
}

TEST_F(ServerTest, GarbageHarmsNobody) {
  std::mt19937 random(7);
  for (const std::size_t size : {0U, 1U, 24U, 5000U, 100000U}) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    const int descriptor = ConnectTo(path());
    (void)!send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    close(descriptor);
  }
  EXPECT_TRUE(Apply(control::TestConfig()).ok());
}

TEST_F(ServerTest, GarbageAsMessageIsAnErrorOfThatCall) {
  const grpc::internal::RpcMethod method("/penstock.v1.ConfigService/ApplyConfig",
                                         grpc::internal::RpcMethod::NORMAL_RPC);
  const grpc::Slice slice(std::string("\xff\xff\xff\xff\xff"));
  const grpc::ByteBuffer garbage(&slice, 1);
  grpc::ClientContext context;
  grpc::ByteBuffer response;
  EXPECT_FALSE((grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
                    channel.get(), method, &context, garbage, &response))
                   .ok());
  EXPECT_TRUE(Apply(control::TestConfig()).ok());
}

TEST_F(ServerTest, StalledClientsDoNotHoldUpTheStop) {
  std::promise<void> in_publish;
  publisher.before_publish = [&] {
    in_publish.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  };
  std::thread slow([this] { (void)Apply(control::TestConfig()); });
  in_publish.get_future().wait();
  const int idle = ConnectTo(path());
  const auto start = std::chrono::steady_clock::now();
  (**server)->Shutdown(std::chrono::milliseconds(100));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  slow.join();
  close(idle);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

// The size of a whole fleet, far above gRPC's default limit of 4 MiB.
TEST_F(ServerTest, LargeConfigurationsPass) {
  config::ServicesConfig desired;
  desired.hash.seed = "x";
  for (int p = 0; p < 500; ++p) {
    config::Pool pool = control::TestPool("pool" + std::to_string(p), 100);
    pool.table_size = 101;
    for (config::Backend& backend : pool.backends) backend.labels["note"] = std::string(200, 'n');
    desired.pools.push_back(std::move(pool));
  }
  ASSERT_GT(config::ToProto(desired).ByteSizeLong(), 8U << 20);
  const grpc::Status done = Apply(desired);
  EXPECT_TRUE(done.ok()) << done.error_message();
}

}  // namespace
}  // namespace penstock::rpc

// Every status code, with its details.

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/rpc/scene.h"

namespace penstock::rpc {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;

google::rpc::BadRequest DetailsOf(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.code(), status.error_code());
  EXPECT_EQ(details.message(), status.error_message());
  google::rpc::BadRequest request;
  EXPECT_TRUE(details.details_size() == 1 && details.details(0).UnpackTo(&request));
  return request;
}

grpc::Status Drain(v1::PoolService::Stub& pools, const std::string& pool,
                   const std::vector<std::string>& backends) {
  v1::DrainBackendRequest request;
  request.set_pool(pool);
  for (const std::string& backend : backends) request.add_backends(backend);
  grpc::ClientContext context;
  v1::DrainBackendResponse response;
  return pools.DrainBackend(&context, request, &response);
}

TEST_F(ServerTest, EveryMistakeIsNamedByItsPath) {
  v1::ApplyConfigRequest request;
  *request.mutable_config() = config::ToProto(control::TestConfig());
  request.mutable_config()->mutable_pools(0)->mutable_backends(2)->set_address("10.1.0");
  request.mutable_config()->mutable_services(1)->set_pool("nosuch");
  const grpc::Status refused = Apply(request);
  EXPECT_EQ(refused.error_code(), StatusCode::INVALID_ARGUMENT);
  const auto details = DetailsOf(refused);
  ASSERT_EQ(details.field_violations_size(), 2);
  EXPECT_EQ(details.field_violations(0).field(), "config.pools[0].backends[2].address");
  EXPECT_EQ(details.field_violations(1).field(), "config.services[1].pool");
  EXPECT_EQ(publisher.count(), 0);
}

TEST_F(ServerTest, WhatTheHostCannotCarryIsNamedToo) {
  config::ServicesConfig desired = control::TestConfig();
  desired.services[0].prefix = *net::IpPrefix::Parse("198.51.100.11");
  const grpc::Status refused = Apply(desired);
  EXPECT_EQ(refused.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailsOf(refused).field_violations(0).field(), "config.services[0].address");
}

TEST_F(ServerTest, ThousandsOfMistakesStillArrive) {
  v1::ApplyConfigRequest request;
  v1::Pool* pool = request.mutable_config()->add_pools();
  pool->set_name("web");
  for (int i = 0; i < 5000; ++i) pool->add_backends()->set_address("nonsense");
  const grpc::Status refused = Apply(request);
  // Expect: metadata that gRPC carries (it cuts at 8 KiB), and the rest counted.
  ASSERT_EQ(refused.error_code(), StatusCode::INVALID_ARGUMENT) << refused.error_message();
  EXPECT_LE(refused.error_details().size(), 6U * 1024);
  EXPECT_GE(refused.error_details().size(), 4U * 1024);
  const auto details = DetailsOf(refused);
  const auto& last = details.field_violations(details.field_violations_size() - 1);
  EXPECT_EQ(last.field(), "");
  EXPECT_EQ(last.description(),
            "and " + std::to_string(5000 - details.field_violations_size() + 1) + " more");
}

TEST_F(ServerTest, LongAndOddValuesStillArrive) {
  v1::ApplyConfigRequest request;
  v1::Pool* pool = request.mutable_config()->add_pools();
  pool->set_name("web");
  std::string address;
  for (int i = 0; i < 2000; ++i) address += "\u00fc";
  for (int i = 0; i < 30; ++i) pool->add_backends()->set_address(address);
  const grpc::Status refused = Apply(request);
  EXPECT_EQ(refused.error_code(), StatusCode::INVALID_ARGUMENT) << refused.error_message();
  EXPECT_LE(refused.error_details().size(), 6U * 1024);
}

TEST_F(ServerTest, ConfigIsRequired) {
  const grpc::Status refused = Apply(v1::ApplyConfigRequest());
  EXPECT_EQ(refused.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailsOf(refused).field_violations(0).field(), "config");
}

TEST_F(ServerTest, UnknownFieldsAreRefusedWithTheirPath) {
  v1::ApplyConfigRequest request;
  *request.mutable_config() = config::ToProto(control::TestConfig());
  v1::Pool* pool = request.mutable_config()->mutable_pools(1);
  pool->GetReflection()->MutableUnknownFields(pool)->AddVarint(4711, 1);
  const grpc::Status refused = Apply(request);
  EXPECT_EQ(refused.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(DetailsOf(refused).field_violations(0).field(), HasSubstr("config.pools[1]"));
}

TEST_F(ServerTest, SettingsOfPartsNotBuiltYetAreRefused) {
  v1::ApplyConfigRequest request;
  *request.mutable_config() = config::ToProto(control::TestConfig());
  request.set_dry_run(true);
  const grpc::Status refused = Apply(request);
  EXPECT_EQ(refused.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailsOf(refused).field_violations(0).field(), "dry_run");
}

TEST_F(ServerTest, NotFoundNamesWhatThereIs) {
  ASSERT_TRUE(Apply(control::TestConfig()).ok());
  const grpc::Status pool = Drain(*pools, "wob", {"web1"});
  EXPECT_EQ(pool.error_code(), StatusCode::NOT_FOUND);
  EXPECT_THAT(pool.error_message(), HasSubstr("web, dns"));
  EXPECT_EQ(Drain(*pools, "web", {"10.9.9.9"}).error_code(), StatusCode::NOT_FOUND);
  v1::ListBackendsRequest request;
  request.set_pool("wob");
  grpc::ClientContext context;
  v1::ListBackendsResponse response;
  EXPECT_EQ(status->ListBackends(&context, request, &response).error_code(), StatusCode::NOT_FOUND);
}

TEST_F(ServerTest, EmptyDrainIsInvalid) {
  const grpc::Status refused = Drain(*pools, "", {});
  EXPECT_EQ(refused.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailsOf(refused).field_violations_size(), 2);
}

TEST_F(ServerTest, LastUsableBackendIsAFailedPrecondition) {
  ASSERT_TRUE(Apply(control::TestConfig()).ok());
  const grpc::Status refused = Drain(*pools, "dns", {"web1", "web2"});
  EXPECT_EQ(refused.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(refused.error_message(), HasSubstr("force"));
}

TEST_F(ServerTest, SilentWorkersAreADeadlineExceeded) {
  publisher.silent = {1};
  const grpc::Status late = Apply(control::TestConfig());
  EXPECT_EQ(late.error_code(), StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(late.error_message(), HasSubstr("silent worker 1"));
}

}  // namespace
}  // namespace penstock::rpc

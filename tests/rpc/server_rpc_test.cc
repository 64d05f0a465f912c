// Every RPC, when all is well.

#include "tests/rpc/scene.h"

namespace penstock::rpc {
namespace {

TEST_F(ServerTest, AppliedConfigurationIsReadBack) {
  ASSERT_TRUE(Apply(control::TestConfig()).ok());
  EXPECT_EQ(applied.generation(), 1U);
  EXPECT_EQ(applied.warnings_size(), 0);
  grpc::ClientContext context;
  v1::GetConfigResponse response;
  ASSERT_TRUE(config->GetConfig(&context, {}, &response).ok());
  EXPECT_EQ(response.generation(), 1U);
  ASSERT_EQ(response.config().pools_size(), 2);
  EXPECT_EQ(response.config().pools(0).backends(0).state(), v1::ADMIN_STATE_ACTIVE);
  // Expect: what is read back can be applied, and is what runs.
  v1::ApplyConfigRequest again;
  *again.mutable_config() = response.config();
  ASSERT_TRUE(Apply(again).ok());
  EXPECT_EQ(applied.generation(), 1U);
}

TEST_F(ServerTest, WarningsComeWithTheAnswer) {
  config::ServicesConfig desired = control::TestConfig();
  desired.hash.seed.clear();
  ASSERT_TRUE(Apply(desired).ok());
  ASSERT_GE(applied.warnings_size(), 1);
  EXPECT_EQ(applied.warnings(0).path(), "hash.seed");
}

TEST_F(ServerTest, DrainAndUndrain) {
  ASSERT_TRUE(Apply(control::TestConfig()).ok());
  v1::DrainBackendRequest drain;
  drain.set_pool("web");
  drain.add_backends("10.1.0.11");
  drain.add_backends("web2");
  v1::DrainBackendResponse drained;
  grpc::ClientContext first;
  ASSERT_TRUE(pools->DrainBackend(&first, drain, &drained).ok());
  EXPECT_EQ(drained.generation(), 2U);
  v1::UndrainBackendRequest undrain;
  undrain.set_pool("web");
  undrain.add_backends("web1");
  v1::UndrainBackendResponse undrained;
  grpc::ClientContext second;
  ASSERT_TRUE(pools->UndrainBackend(&second, undrain, &undrained).ok());
  grpc::ClientContext third;
  v1::ListBackendsRequest request;
  request.set_pool("web");
  v1::ListBackendsResponse listed;
  ASSERT_TRUE(status->ListBackends(&third, request, &listed).ok());
  ASSERT_EQ(listed.backends_size(), 3);
  EXPECT_EQ(listed.backends(0).admin_state(), v1::ADMIN_STATE_ACTIVE);
  EXPECT_EQ(listed.backends(1).admin_state(), v1::ADMIN_STATE_DRAINING);
  EXPECT_EQ(listed.backends(1).slots(), 0U);
  EXPECT_EQ(listed.generation(), 3U);
}

TEST_F(ServerTest, ListsAreComplete) {
  ASSERT_TRUE(Apply(control::TestConfig()).ok());
  grpc::ClientContext first;
  v1::ListServicesResponse services;
  ASSERT_TRUE(status->ListServices(&first, {}, &services).ok());
  ASSERT_EQ(services.services_size(), 2);
  EXPECT_EQ(services.services(1).service().name(), "web-http");
  EXPECT_EQ(services.services(1).usable_backends(), 3U);
  grpc::ClientContext second;
  v1::ListPoolsResponse listed;
  ASSERT_TRUE(status->ListPools(&second, {}, &listed).ok());
  ASSERT_EQ(listed.pools_size(), 2);
  EXPECT_EQ(listed.pools(1).digest().size(), 16U);
  EXPECT_THAT(listed.pools(1).services(), testing::ElementsAre("web-http"));
}

TEST_F(ServerTest, StatusTellsOfTheHost) {
  grpc::ClientContext context;
  v1::GetStatusResponse response;
  ASSERT_TRUE(status->GetStatus(&context, {}, &response).ok());
  EXPECT_EQ(response.version(), "1.2.3");
  EXPECT_EQ(response.generation(), 0U);
  ASSERT_EQ(response.ports_size(), 1);
  EXPECT_EQ(response.ports(0).addresses(0), "198.51.100.11/24");
  EXPECT_EQ(response.workers_size(), 2);
  EXPECT_GT(response.start_time().seconds(), 0);
}

TEST_F(ServerTest, WorkersTellWhatTheyDidWithEachPort) {
  reader.ports_of_workers = {{.name = "uplink",
                              .received = 21,
                              .forwarded = 1,
                              .answered = 2,
                              .held = 4,
                              .dropped = 14,
                              .transmitted = 3},
                             {.name = "downlink"}};
  grpc::ClientContext context;
  v1::GetStatusResponse response;
  ASSERT_TRUE(status->GetStatus(&context, {}, &response).ok());
  ASSERT_EQ(response.workers_size(), 2);
  ASSERT_EQ(response.workers(1).ports_size(), 2);
  const v1::WorkerPort& port = response.workers(1).ports(0);
  EXPECT_EQ(port.name(), "uplink");
  EXPECT_EQ(port.received(), 21U);
  EXPECT_EQ(port.forwarded(), 1U);
  EXPECT_EQ(port.answered(), 2U);
  EXPECT_EQ(port.held(), 4U);
  EXPECT_EQ(port.dropped(), 14U);
  EXPECT_EQ(port.transmitted(), 3U);
  EXPECT_EQ(response.workers(1).ports(1).name(), "downlink");
}

TEST_F(ServerTest, CountersHaveNamesAndMeanings) {
  grpc::ClientContext context;
  v1::GetCountersResponse response;
  ASSERT_TRUE(status->GetCounters(&context, {}, &response).ok());
  EXPECT_GT(response.counters_size(), static_cast<int>(lb::kVerdictCount));
  for (const v1::Counter& one : response.counters()) EXPECT_FALSE(one.description().empty());
}

}  // namespace
}  // namespace penstock::rpc

#include "tests/control/scene.h"

namespace penstock::control {
namespace {

using testing::HasSubstr;

TEST_F(ControllerTest, FirstApplyIsGenerationOne) {
  const ChangeResult result = controller.Apply(TestConfig());
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.generation, 1U);
  ASSERT_NE(publisher.current(), nullptr);
  EXPECT_EQ(publisher.current()->generation(), 1U);
  EXPECT_NE(FindService(*publisher.current(), 80), nullptr);
  EXPECT_EQ(FindService(*publisher.current(), 81), nullptr);
}

TEST_F(ControllerTest, WorkersAreToldWhatServicesWantOfFragments) {
  config::ServicesConfig config = TestConfig();
  MustApply(config);
  EXPECT_TRUE(FindService(*publisher.current(), 80)->steer_fragments);
  for (config::Service& service : config.services) {
    service.fragments = config::Fragments::kDrop;
  }
  MustApply(config);
  EXPECT_FALSE(FindService(*publisher.current(), 80)->steer_fragments);
}

TEST_F(ControllerTest, EmptyConfigurationIsAGenerationToo) {
  EXPECT_EQ(MustApply({}), 1U);
  EXPECT_EQ(MustApply({}), 1U);
}

TEST_F(ControllerTest, EqualConfigurationIsNotPublishedAgain) {
  MustApply(TestConfig());
  config::ServicesConfig shuffled = TestConfig();
  std::swap(shuffled.pools[0], shuffled.pools[1]);
  std::swap(shuffled.pools[1].backends[0], shuffled.pools[1].backends[2]);
  // Expect: the order of lists has no meaning.
  EXPECT_EQ(MustApply(shuffled), 1U);
  EXPECT_EQ(publisher.count(), 1);
}

TEST_F(ControllerTest, BadConfigurationChangesNothingAndNamesEveryMistake) {
  MustApply(TestConfig());
  config::ServicesConfig bad = TestConfig();
  bad.pools[0].table_size = 1000;
  bad.services[1].pool = "nosuch";
  const ChangeResult result = controller.Apply(bad);
  EXPECT_EQ(result.status.code(), absl::StatusCode::kInvalidArgument);
  ASSERT_EQ(result.violations.size(), 2U);
  EXPECT_EQ(result.violations[0].path, "pools[0].table_size");
  EXPECT_EQ(result.violations[1].path, "services[1].pool");
  EXPECT_EQ(result.generation, 1U);
  EXPECT_EQ(publisher.count(), 1);
  EXPECT_EQ(controller.GetConfig().config.pools[0].table_size, 1009U);
}

TEST_F(ControllerTest, WhatTheHostCannotCarryIsRefused) {
  config::ServicesConfig config = TestConfig();
  config.services[0].prefix = *net::IpPrefix::Parse("198.51.100.11");
  const ChangeResult result = controller.Apply(config);
  EXPECT_EQ(result.status.code(), absl::StatusCode::kInvalidArgument);
  ASSERT_EQ(result.violations.size(), 1U);
  EXPECT_EQ(result.violations[0].path, "services[0].address");
  EXPECT_EQ(publisher.count(), 0);
}

TEST_F(ControllerTest, EmptySeedIsWarnedAbout) {
  config::ServicesConfig config = TestConfig();
  config.hash.seed.clear();
  const ChangeResult result = controller.Apply(config);
  EXPECT_TRUE(result.status.ok());
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_EQ(result.warnings[0].path, "hash.seed");
}

TEST_F(ControllerTest, UnchangedPoolsShareTheirTable) {
  MustApply(TestConfig());
  const auto first = publisher.current();
  config::ServicesConfig config = TestConfig();
  config.pools[0].backends[1].weight = 50;
  config.pools[0].backends[2].labels["rack"] = "r7";
  MustApply(config);
  const auto second = publisher.current();
  EXPECT_EQ(PoolOf(*first, 53).table, PoolOf(*second, 53).table);
  EXPECT_NE(PoolOf(*first, 80).table, PoolOf(*second, 80).table);
}

TEST_F(ControllerTest, AnotherSeedRebuildsEverything) {
  MustApply(TestConfig());
  const auto first = publisher.current();
  config::ServicesConfig config = TestConfig();
  config.hash.seed = "another";
  MustApply(config);
  EXPECT_NE(PoolOf(*first, 53).table, PoolOf(*publisher.current(), 53).table);
  EXPECT_EQ(publisher.current()->key(), lb::HashKey::FromSeed("another"));
}

TEST_F(ControllerTest, SilentWorkersAreNamed) {
  publisher.silent = {1};
  const ChangeResult result = controller.Apply(TestConfig());
  EXPECT_EQ(result.status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(result.status.message()),
              HasSubstr("generation 1 is handed over but not acknowledged: silent worker 1"));
  EXPECT_EQ(result.generation, 1U);
  // Expect: it is what the workers will run, so it is what we show.
  EXPECT_EQ(controller.GetConfig().generation, 1U);
  EXPECT_EQ(controller.ListPools().items.size(), 2U);
}

TEST_F(ControllerTest, SameChangeAfterSilenceIsHandedOverAgain) {
  publisher.silent = {0};
  EXPECT_FALSE(controller.Apply(TestConfig()).status.ok());
  publisher.silent.clear();
  EXPECT_EQ(MustApply(TestConfig()), 2U);
  EXPECT_EQ(MustApply(TestConfig()), 2U);
}

TEST_F(ControllerTest, ServicesThatDifferInOnNoBackendHaveATableEach) {
  config::ServicesConfig config = TestConfig();
  config.services[1].pool = "web";
  config.services[1].on_no_backend = config::OnNoBackend::kUseAll;
  for (config::Backend& backend : config.pools[0].backends) {
    backend.state = config::AdminState::kDraining;
  }
  MustApply(config);
  const auto table = publisher.current();
  const lb::Pool& drop = PoolOf(*table, 80);
  const lb::Pool& use_all = PoolOf(*table, 53);
  EXPECT_EQ(drop.ids, use_all.ids);
  EXPECT_EQ(drop.table->slot(0).current, lb::kNoMember);
  EXPECT_NE(use_all.table->slot(0).current, lb::kNoMember);
  EXPECT_EQ(DigestOf("web"), drop.table->digest());
}

TEST_F(ControllerTest, ServiceSettingsReachTheWorkers) {
  config::ServicesConfig config = TestConfig();
  config.services[0].hash = config::HashKind::kSourceAddress;
  config.services[0].idle_timeout.tcp = std::chrono::seconds(77);
  MustApply(config);
  const lb::Service* service = FindService(*publisher.current(), 80);
  EXPECT_EQ(service->hash, lb::SlotHash::kSourceAddress);
  EXPECT_EQ(service->tcp_idle_timeout, 77);
  EXPECT_EQ(service->udp_idle_timeout, 30);
  EXPECT_TRUE(publisher.current()->IsOwnAddress(Address("198.51.100.11")));
}

}  // namespace
}  // namespace penstock::control

#include "tests/control/scene.h"

namespace penstock::control {
namespace {

class IdentityTest : public ControllerTest {
 protected:
  IdentityTest() { MustApply(TestConfig()); }

  std::vector<lb::BackendId> WebIds() const { return PoolOf(*publisher.current(), 80).ids; }
  config::ServicesConfig WithoutFirstBackend() const {
    config::ServicesConfig config = TestConfig();
    config.pools[0].backends.erase(config.pools[0].backends.begin());
    return config;
  }
  lb::BackendCounters& CountersOf(lb::BackendId id, int worker) const {
    return publisher.current()->backend(id).counters[worker];
  }
};

TEST_F(IdentityTest, UnchangedBackendsKeepIdsAndCounters) {
  const std::vector<lb::BackendId> before = WebIds();
  CountersOf(before[1], 0).packets.Add(3);
  CountersOf(before[1], 1).packets.Add(4);
  config::ServicesConfig config = WithoutFirstBackend();
  config.pools[0].backends[0].weight = 7;
  MustApply(config);
  EXPECT_EQ(WebIds(), std::vector(before.begin() + 1, before.end()));
  EXPECT_EQ(controller.ListBackends("web")->items[0].packets, 7U);
}

TEST_F(IdentityTest, SameAddressInTwoPoolsIsTwoBackends) {
  const std::vector<lb::BackendId> dns = PoolOf(*publisher.current(), 53).ids;
  for (const lb::BackendId id : WebIds()) EXPECT_THAT(dns, testing::Not(testing::Contains(id)));
}

TEST_F(IdentityTest, ARemovedAndReAddedBackendIsNewAndCountsFromZero) {
  const lb::BackendId before = WebIds()[0];
  CountersOf(before, 0).packets.Add(9);
  MustApply(WithoutFirstBackend());
  reader.sweeps = 1;
  MustApply(TestConfig());
  EXPECT_NE(WebIds()[0], before);
  EXPECT_EQ(controller.ListBackends("web")->items[0].packets, 0U);
}

TEST_F(IdentityTest, F01_IdsAreFreeAfterThreeSweeps) {
  const lb::BackendId removed = WebIds()[0];
  reader.sweeps = 10;
  MustApply(WithoutFirstBackend());
  reader.sweeps = 12;
  MustApply(TestConfig());
  EXPECT_NE(WebIds()[0], removed);
  MustApply(WithoutFirstBackend());
  reader.sweeps = 13;
  MustApply(TestConfig());
  EXPECT_EQ(WebIds()[0], removed);
}

TEST_F(IdentityTest, IdsOfAnUnacknowledgedRemovalStayBlocked) {
  const lb::BackendId removed = WebIds()[0];
  publisher.silent = {0};
  EXPECT_FALSE(controller.Apply(WithoutFirstBackend()).status.ok());
  reader.sweeps = 50;
  publisher.silent.clear();
  MustApply(TestConfig());
  const lb::BackendId second = WebIds()[0];
  EXPECT_NE(second, removed);
  // Expect: that apply was acknowledged, so the quarantine runs from 50.
  MustApply(WithoutFirstBackend());
  reader.sweeps = 53;
  MustApply(TestConfig());
  EXPECT_EQ(WebIds()[0], std::min(removed, second));
}

TEST_F(IdentityTest, ServiceIdsFollowTheName) {
  const lb::ServiceId before = FindService(*publisher.current(), 80)->id;
  config::ServicesConfig config = TestConfig();
  config.services[0].ports = {{.first = 8080, .last = 8080}};
  config.services.push_back(TestService("extra", "web", 80));
  MustApply(config);
  EXPECT_EQ(FindService(*publisher.current(), 8080)->id, before);
  EXPECT_NE(FindService(*publisher.current(), 80)->id, before);
}

// A limit of new flows a second does not begin anew with each change of the configuration.
TEST_F(IdentityTest, NewFlowsOfTheSecondAreKeptAcrossChanges) {
  const lb::NewFlowWindow* before = FindService(*publisher.current(), 80)->new_flows;
  ASSERT_NE(before, nullptr);
  MustApply(WithoutFirstBackend());
  EXPECT_EQ(FindService(*publisher.current(), 80)->new_flows, before);
  EXPECT_NE(FindService(*publisher.current(), 53)->new_flows, before);
}

TEST_F(IdentityTest, WorkersLearnTrackingAndLimits) {
  EXPECT_EQ(FindService(*publisher.current(), 80)->tracking, lb::Tracking::kFull);
  EXPECT_FALSE(FindService(*publisher.current(), 80)->new_flow_rate.IsSet());
  config::ServicesConfig config = TestConfig();
  config.services[0].tracking = config::Tracking::kTransitionOnly;
  config.services[0].rate_limit = {.per_source = 3, .total = 400};
  config.services[1].tracking = config::Tracking::kNone;
  MustApply(config);
  const lb::Service& web = *FindService(*publisher.current(), 80);
  EXPECT_EQ(web.tracking, lb::Tracking::kTransitionOnly);
  EXPECT_EQ(web.new_flow_rate, (lb::NewFlowRate{.per_source = 3, .total = 400}));
  EXPECT_EQ(FindService(*publisher.current(), 53)->tracking, lb::Tracking::kNone);
}

TEST_F(IdentityTest, CountersOutliveTheirBackendInASnapshot) {
  const auto old = publisher.current();
  const lb::BackendId id = WebIds()[0];
  MustApply({});
  // Expect: a worker that still runs the former generation counts into living memory.
  old->backend(id).counters[0].packets.Increment();
  EXPECT_EQ(old->backend(id).counters[0].packets.Read(), 1U);
}

}  // namespace
}  // namespace penstock::control

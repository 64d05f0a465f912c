#include <algorithm>

#include "tests/control/scene.h"

namespace penstock::control {
namespace {

using testing::ElementsAre;

uint64_t ValueOf(const std::vector<CounterView>& counters, std::string_view name) {
  const auto found = std::ranges::find(counters, name, &CounterView::name);
  return found == counters.end() ? UINT64_MAX : found->value;
}

TEST_F(ControllerTest, BeforeTheFirstApplyThereIsNothing) {
  EXPECT_EQ(controller.GetStatus().generation, 0U);
  EXPECT_TRUE(controller.ListServices().items.empty());
  EXPECT_TRUE(controller.ListPools().items.empty());
  EXPECT_TRUE(controller.ListBackends().items.empty());
  EXPECT_FALSE(controller.IsReady());
}

TEST_F(ControllerTest, ReadyNeedsAGenerationAndLivingWorkers) {
  MustApply(TestConfig());
  EXPECT_TRUE(controller.IsReady());
  reader.heartbeat_age = std::chrono::seconds(3);
  EXPECT_FALSE(controller.IsReady());
}

TEST_F(ControllerTest, ListsAreSorted) {
  MustApply(TestConfig());
  const auto services = controller.ListServices().items;
  ASSERT_EQ(services.size(), 2U);
  EXPECT_EQ(services[0].service.name, "dns");
  EXPECT_EQ(services[1].usable_backends, 3U);
  const auto pools = controller.ListPools().items;
  ASSERT_EQ(pools.size(), 2U);
  EXPECT_EQ(pools[1].name, "web");
  EXPECT_THAT(pools[1].services, ElementsAre("web-http"));
  const auto backends = controller.ListBackends().items;
  ASSERT_EQ(backends.size(), 5U);
  EXPECT_EQ(backends[0].pool, "dns");
  EXPECT_EQ(backends[4].address.ToString(), "10.1.0.13");
}

TEST_F(ControllerTest, SlotsOfAPoolAddUp) {
  MustApply(TestConfig());
  uint32_t slots = 0;
  double share = 0;
  const Listing<BackendView> backends = controller.ListBackends();
  for (const BackendView& view : backends.items) {
    if (view.pool != "web") continue;
    slots += view.slots;
    share += view.share;
  }
  EXPECT_EQ(slots, 1009U);
  EXPECT_NEAR(share, 1.0, 1e-9);
}

TEST_F(ControllerTest, UnknownPoolHasNoBackends) {
  EXPECT_EQ(controller.ListBackends("web").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ControllerTest, GatewaysSayWhetherTheyAreKnown) {
  reader.gateway_v6_known = false;
  const StatusView status = controller.GetStatus();
  ASSERT_EQ(status.ports.size(), 1U);
  ASSERT_EQ(status.ports[0].gateways.size(), 2U);
  EXPECT_TRUE(status.ports[0].gateways[0].mac);
  EXPECT_FALSE(status.ports[0].gateways[1].mac);
  EXPECT_THAT(status.ports[0].addresses, ElementsAre("198.51.100.11/24", "2001:db8:1::11/64"));
}

TEST(ControllerCountersTest, ReceivedIsTheSumOfTheVerdicts) {
  FakePublisher publisher;
  FakeReader reader;
  for (const char* name : {"one", "two"}) {
    lb::PortTotals port;
    port.name = name;
    for (std::size_t v = 0; v < lb::kVerdictCount; ++v) port.verdicts[v] = v + 1;
    port.received_packets = lb::kVerdictCount * (lb::kVerdictCount + 1) / 2;
    reader.counters.ports.push_back(port);
  }
  const Controller controller(publisher, reader, TestHost());
  const std::vector<CounterView> counters = controller.GetCounters();
  uint64_t sum = 0;
  for (const lb::VerdictInfo& info : lb::kVerdicts) sum += ValueOf(counters, info.name);
  EXPECT_EQ(ValueOf(counters, "received"), sum);
  EXPECT_TRUE(std::ranges::is_sorted(counters, {}, &CounterView::name));
  for (const CounterView& counter : counters) EXPECT_FALSE(counter.description.empty());
  const auto forwarded = std::ranges::find(counters, "forwarded", &CounterView::name);
  EXPECT_THAT(forwarded->by_port, ElementsAre(testing::Pair("one", 1), testing::Pair("two", 1)));
}

}  // namespace
}  // namespace penstock::control

// Flows over a restart: ids are of one run, names stay.

#include "tests/control/scene.h"

namespace penstock::control {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

class ControllerFlowsTest : public ControllerTest {
 protected:
  // A flow of the service at port 80 on the first backend of its pool.
  lb::KeptFlow FlowNow() const {
    const lb::ServiceTable& table = *publisher.current();
    const lb::Service* service = FindService(table, 80);
    return {.source = Address("192.0.2.1"),
            .destination = Address("203.0.113.10"),
            .source_port = 40000,
            .destination_port = 80,
            .protocol = net::kProtocolTcp,
            .confirmed = true,
            .idle = 7,
            .service = service->id,
            .backend = table.pool(service->pool).ids[1]};
  }
  net::IpAddress AddressOf(const lb::ServiceTable& table, lb::BackendId id) const {
    return table.backend(id).address();
  }
};

TEST_F(ControllerFlowsTest, NamesOutliveIds) {
  MustApply(TestConfig());
  const lb::KeptFlow flow = FlowNow();
  const net::IpAddress backend = AddressOf(*publisher.current(), flow.backend);
  const lb::SavedFlows saved = controller.NameFlows({&flow, 1}, sys_seconds(seconds(1000)));
  ASSERT_EQ(saved.flows.size(), 1U);
  // Another run: one backend and one service more, in front, take other ids.
  FakePublisher other_publisher;
  Controller other(other_publisher, reader, TestHost());
  config::ServicesConfig config = TestConfig();
  config.pools[0].backends.insert(config.pools[0].backends.begin(),
                                  config::Backend{.address = Address("10.1.0.1")});
  ASSERT_TRUE(other.Apply(config).status.ok());
  const auto flows = other.ResolveFlows(saved, sys_seconds(seconds(1005)));
  ASSERT_EQ(flows.size(), 1U);
  EXPECT_EQ(AddressOf(*other_publisher.current(), flows[0].backend), backend);
  EXPECT_EQ(flows[0].idle, 12U);
  EXPECT_TRUE(flows[0].confirmed);
  EXPECT_EQ(flows[0].source, flow.source);
  EXPECT_EQ(flows[0].destination_port, 80);
}

TEST_F(ControllerFlowsTest, FlowsOfWhatIsGoneAreLeftOut) {
  MustApply(TestConfig());
  std::vector<lb::KeptFlow> flows = {FlowNow(), FlowNow(), FlowNow()};
  flows[1].backend = 4000;
  flows[2].service = 4000;
  lb::SavedFlows saved = controller.NameFlows(flows, sys_seconds(seconds(1000)));
  EXPECT_EQ(saved.flows.size(), 1U);
  EXPECT_EQ(controller.ResolveFlows(saved, sys_seconds(seconds(1000))).size(), 1U);
  // Expect: a clock set back adds nothing, and a day away is too long.
  EXPECT_EQ(controller.ResolveFlows(saved, sys_seconds(seconds(10))).front().idle, 7U);
  EXPECT_TRUE(controller.ResolveFlows(saved, sys_seconds(seconds(87400))).empty());
  saved.backends[0].pool = "nosuch";
  EXPECT_TRUE(controller.ResolveFlows(saved, sys_seconds(seconds(1000))).empty());
}

}  // namespace
}  // namespace penstock::control

#include "tests/control/scene.h"

namespace penstock::control {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class DrainTest : public ControllerTest {
 protected:
  DrainTest() { MustApply(TestConfig()); }

  config::AdminState StateOf(int backend) const {
    return controller.ListBackends("web")->items[static_cast<std::size_t>(backend - 1)].state;
  }
};

TEST_F(DrainTest, DrainAndUndrainRestoreTheDigest) {
  const std::string before = DigestOf("web");
  EXPECT_EQ(controller.DrainBackends("web", {"10.1.0.12"}, false).generation, 2U);
  EXPECT_EQ(StateOf(2), config::AdminState::kDraining);
  EXPECT_NE(DigestOf("web"), before);
  EXPECT_EQ(controller.ListBackends("web")->items[1].slots, 0U);
  EXPECT_EQ(controller.UndrainBackends("web", {"web2"}).generation, 3U);
  EXPECT_EQ(DigestOf("web"), before);
}

// A disabled backend gets no packets; a drain would let some reach it, an undrain would activate
// it.
TEST_F(DrainTest, DisabledBackendIsNeitherDrainedNorUndrained) {
  config::ServicesConfig config = TestConfig();
  config.pools[0].backends[1].state = config::AdminState::kDisabled;
  MustApply(config);
  const std::string disabled =
      controller.GetConfig().config.pools[0].backends[1].address.ToString();
  for (const ChangeResult& result : {controller.DrainBackends("web", {disabled}, true),
                                     controller.UndrainBackends("web", {disabled})}) {
    EXPECT_EQ(result.status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(result.status.message()), HasSubstr(disabled));
  }
}

TEST_F(DrainTest, IsIdempotent) {
  EXPECT_EQ(controller.DrainBackends("web", {"web1"}, false).generation, 2U);
  const ChangeResult again = controller.DrainBackends("web", {"web1", "web1"}, false);
  EXPECT_TRUE(again.status.ok());
  EXPECT_EQ(again.generation, 2U);
  EXPECT_EQ(controller.UndrainBackends("web", {"web2"}).generation, 2U);
}

TEST_F(DrainTest, AllOrNone) {
  const ChangeResult result = controller.DrainBackends("web", {"web1", "10.9.9.9"}, false);
  EXPECT_EQ(result.status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(result.status.message()),
              AllOf(HasSubstr("\"10.9.9.9\""), HasSubstr("10.1.0.11 (web1)")));
  EXPECT_EQ(StateOf(1), config::AdminState::kActive);
  EXPECT_EQ(publisher.count(), 1);
}

TEST_F(DrainTest, UnknownPoolIsNamedWithThoseThereAre) {
  const ChangeResult result = controller.DrainBackends("wob", {"web1"}, false);
  EXPECT_EQ(result.status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(result.status.message()),
              AllOf(HasSubstr("\"wob\""), HasSubstr("web, dns")));
}

TEST_F(DrainTest, NoBackendGivenIsInvalid) {
  EXPECT_EQ(controller.DrainBackends("web", {}, false).status.code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(DrainTest, LastUsableBackendNeedsForce) {
  EXPECT_TRUE(controller.DrainBackends("web", {"web1", "web2"}, false).status.ok());
  const ChangeResult refused = controller.DrainBackends("web", {"web3"}, false);
  EXPECT_EQ(refused.status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.status.message()), HasSubstr("--force"));
  EXPECT_EQ(StateOf(3), config::AdminState::kActive);
  EXPECT_TRUE(controller.DrainBackends("web", {"web3"}, true).status.ok());
  EXPECT_EQ(StateOf(3), config::AdminState::kDraining);
  // Expect: nothing is left to lose, so the same drain passes.
  EXPECT_TRUE(controller.DrainBackends("web", {"web3"}, false).status.ok());
}

TEST_F(DrainTest, AllAtOnceNeedsForceToo) {
  EXPECT_EQ(controller.DrainBackends("web", {"web1", "web2", "web3"}, false).status.code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(DrainTest, AdminStateSurvivesAnApplyWithoutState) {
  ASSERT_TRUE(controller.DrainBackends("web", {"web1"}, false).status.ok());
  config::ServicesConfig config = TestConfig();
  config.pools[0].backends.push_back(TestPool("web", 4).backends[3]);
  MustApply(config);
  EXPECT_EQ(StateOf(1), config::AdminState::kDraining);
  EXPECT_EQ(StateOf(4), config::AdminState::kActive);
  config.pools[0].backends[0].state = config::AdminState::kActive;
  MustApply(config);
  EXPECT_EQ(StateOf(1), config::AdminState::kActive);
}

TEST_F(DrainTest, ARemovedBackendComesBackActive) {
  ASSERT_TRUE(controller.DrainBackends("web", {"web1"}, false).status.ok());
  config::ServicesConfig without = TestConfig();
  without.pools[0].backends.erase(without.pools[0].backends.begin());
  MustApply(without);
  MustApply(TestConfig());
  EXPECT_EQ(StateOf(1), config::AdminState::kActive);
}

TEST_F(DrainTest, ConfigurationReadBackSaysTheState) {
  ASSERT_TRUE(controller.DrainBackends("web", {"web1"}, false).status.ok());
  const config::ServicesConfig read = controller.GetConfig().config;
  EXPECT_EQ(read.pools[0].backends[0].state, config::AdminState::kDraining);
  EXPECT_EQ(read.pools[0].backends[1].state, config::AdminState::kActive);
  // Expect: what is read back is what runs.
  EXPECT_EQ(MustApply(read), 2U);
}

}  // namespace
}  // namespace penstock::control

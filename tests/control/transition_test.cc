// Previous owners over generations, time and restarts.

#include <random>

#include "tests/control/lives.h"

namespace penstock::control {
namespace {

using TransitionTest = LivesTest;

TEST_F(TransitionTest, AnAddedBackendLeavesPreviousOwnersForATransition) {
  const auto life = Start();
  life->MustApply(WithBackends(3));
  Sleep(1000);
  EXPECT_EQ(life->MustApply(WithBackends(4)), 2U);
  EXPECT_GT(life->SlotsWithPrevious(), 200);  // a quarter of 1009 slots
  const std::string during = life->Digest();
  Sleep(299);
  EXPECT_TRUE(life->controller.Tick().ok());
  EXPECT_EQ(life->publisher.count(), 2);
  EXPECT_EQ(life->Digest(), during);
  Sleep(1);
  EXPECT_TRUE(life->controller.Tick().ok());
  // Expect: other tables for the workers, and the same generation: nobody has changed anything.
  EXPECT_EQ(life->publisher.count(), 3);
  EXPECT_EQ(life->publisher.current()->generation(), 2U);
  EXPECT_EQ(life->controller.GetConfig().generation, 2U);
  EXPECT_EQ(life->SlotsWithPrevious(), 0);
  EXPECT_NE(life->Digest(), during);
  EXPECT_TRUE(life->controller.Tick().ok());
  EXPECT_EQ(life->publisher.count(), 3);
  EXPECT_EQ(history.generations.size(), 2U);
}

TEST_F(TransitionTest, RemovalAndReweightingLeavePreviousOwnersToo) {
  const auto life = Start();
  life->MustApply(WithBackends(8));
  Sleep(1000);
  life->MustApply(WithBackends(7));
  EXPECT_GT(life->SlotsWithPrevious(), 0);  // the collateral slots
  EXPECT_LT(life->SlotsWithPrevious(), 100);
  Sleep(1000);
  config::ServicesConfig config = WithBackends(7);
  config.pools[0].backends[2].weight = 0;
  life->MustApply(config);
  int slots = 0;
  for (uint32_t slot = 0; slot < 1009; ++slot) slots += life->Table().slot(slot).previous == 2;
  EXPECT_NEAR(slots, 1009 / 7, 10);
}

TEST_F(TransitionTest, ThePoolsOwnTransitionCounts) {
  const auto life = Start();
  config::ServicesConfig config = WithBackends(3);
  config.pools[0].transition = std::chrono::seconds(20);
  life->MustApply(config);
  Sleep(1000);
  config.pools[0].backends.pop_back();
  config.pools[0].backends[0].weight = 50;
  life->MustApply(config);
  EXPECT_GT(life->SlotsWithPrevious(), 0);
  Sleep(20);
  EXPECT_TRUE(life->controller.Tick().ok());
  EXPECT_EQ(life->SlotsWithPrevious(), 0);
}

// Expect: an apply that leaves the pool alone shares its table, and one after the time is up
// does not bring previous owners back.
TEST_F(TransitionTest, OtherChangesDoNotTouchThePast) {
  const auto life = Start();
  life->MustApply(WithBackends(3));
  Sleep(1000);
  config::ServicesConfig config = WithBackends(4);
  life->MustApply(config);
  const lb::PoolTable* table = &life->Table();
  config.services[0].idle_timeout.tcp = std::chrono::seconds(77);
  life->MustApply(config);
  EXPECT_EQ(&life->Table(), table);
  Sleep(400);
  config.services[0].idle_timeout.tcp = std::chrono::seconds(78);
  life->MustApply(config);
  EXPECT_EQ(life->SlotsWithPrevious(), 0);
}

TEST_F(TransitionTest, DrainsKeepThePast) {
  const auto life = Start();
  life->MustApply(WithBackends(3));
  Sleep(1000);
  life->MustApply(WithBackends(4));
  const std::string before = life->Digest();
  ASSERT_TRUE(life->controller.DrainBackends("web", {"web1"}, false).status.ok());
  EXPECT_NE(life->Digest(), before);
  ASSERT_TRUE(life->controller.UndrainBackends("web", {"web1"}).status.ok());
  EXPECT_EQ(life->Digest(), before);
}

TEST_F(TransitionTest, AnotherSeedOrAPoolThatWasAwayBeginsAnew) {
  const auto life = Start();
  life->MustApply(WithBackends(3));
  Sleep(1000);
  config::ServicesConfig config = WithBackends(4);
  config.hash.seed = "another";
  life->MustApply(config);
  EXPECT_EQ(life->SlotsWithPrevious(), 0);
  Sleep(1000);
  life->MustApply({});
  life->MustApply(WithBackends(3));
  EXPECT_EQ(life->SlotsWithPrevious(), 0);
}

TEST_F(TransitionTest, ARestartGivesTheSameDigest) {
  std::mt19937_64 random(5);
  auto stays = std::make_unique<Life>(nullptr, now);
  auto restarts = Start();
  int with_previous = 0;
  for (int step = 0; step < 150; ++step) {
    config::ServicesConfig config = WithBackends(static_cast<int>(random() % 4 + 3));
    config.pools[0].backends[random() % 3].weight = static_cast<uint32_t>(random() % 3 * 50);
    stays->MustApply(config);
    restarts->MustApply(config);
    if (random() % 2 == 0) {
      (void)stays->controller.DrainBackends("web", {"web2"}, true);
      (void)restarts->controller.DrainBackends("web", {"web2"}, true);
    }
    Sleep(static_cast<int64_t>(random() % 300));
    ASSERT_TRUE(stays->controller.Tick().ok());
    if (random() % 2 == 0) {
      restarts = Start();
      ASSERT_EQ(*restarts->controller.Restore(), stays->controller.GetConfig().generation);
    }
    ASSERT_TRUE(restarts->controller.Tick().ok());
    ASSERT_EQ(restarts->Digest(), stays->Digest()) << "step " << step;
    with_previous += stays->SlotsWithPrevious() > 200;
  }
  EXPECT_GT(with_previous, 50);
}

// Expect: what some workers may never have run is nobody's past, on a host that was restarted as
// on one that was not.
TEST_F(TransitionTest, AGenerationThatWasNeverAcknowledgedLeavesNoTrace) {
  auto life = Start();
  life->MustApply(WithBackends(3));
  Sleep(1000);
  life->publisher.silent = {0};
  EXPECT_FALSE(life->controller.Apply(WithBackends(5)).status.ok());
  life->publisher.silent.clear();
  Sleep(1000);
  life->MustApply(WithBackends(3));
  EXPECT_EQ(life->SlotsWithPrevious(), 0);
  const std::string digest = life->Digest();
  life = Start();
  EXPECT_EQ(*life->controller.Restore(), 3U);
  EXPECT_EQ(life->Digest(), digest);
}

TEST_F(TransitionTest, ALateAcknowledgementIsNoticed) {
  auto life = Start();
  life->MustApply(WithBackends(3));
  uint64_t running = 1;
  life->reader.generation = [&running] { return running; };
  Sleep(1000);
  life->publisher.silent = {0};
  EXPECT_FALSE(life->controller.Apply(WithBackends(5)).status.ok());
  life->publisher.silent.clear();
  EXPECT_TRUE(life->controller.Tick().ok());
  EXPECT_FALSE(history.generations.back().info.acknowledged);
  running = 2;
  EXPECT_TRUE(life->controller.Tick().ok());
  EXPECT_TRUE(history.generations.back().info.acknowledged);
  // Expect: it held since it was handed over.
  Sleep(1000);
  life->MustApply(WithBackends(3));
  EXPECT_GT(life->SlotsWithPrevious(), 0);  // slots that moved between those that stay
  EXPECT_EQ(life->publisher.count(), 3);
}

TEST_F(TransitionTest, AClockThatIsSetBackStandsStill) {
  const auto life = Start();
  life->MustApply(WithBackends(3));
  Sleep(1000);
  life->MustApply(WithBackends(4));
  const std::string during = life->Digest();
  Sleep(-500);
  EXPECT_TRUE(life->controller.Tick().ok());
  EXPECT_EQ(life->Digest(), during);
  life->MustApply(WithBackends(5));
  EXPECT_EQ(history.generations[2].info.time, history.generations[1].info.time);
}

}  // namespace
}  // namespace penstock::control

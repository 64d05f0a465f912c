// Start, restart and history.

#include "tests/control/lives.h"

namespace penstock::control {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using LifeTest = LivesTest;

config::AdminState StateOf(const Life& life, std::size_t backend) {
  return life.controller.ListBackends("web")->items[backend].state;
}

TEST_F(LifeTest, NothingKeptIsNothingRestored) {
  const auto life = Start();
  EXPECT_EQ(*life->controller.Restore(), 0U);
  EXPECT_EQ(life->publisher.count(), 0);
  EXPECT_TRUE(life->controller.Tick().ok());
  EXPECT_EQ(life->MustApply(WithBackends(3)), 1U);
}

TEST_F(LifeTest, WithoutAHistoryThereIsNothingToAskFor) {
  const auto life = std::make_unique<Life>(nullptr, now);
  EXPECT_EQ(*life->controller.Restore(), 0U);
  life->MustApply(WithBackends(3));
  EXPECT_EQ(life->controller.ListGenerations().status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(life->controller.GetGeneration(1).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(LifeTest, EveryChangeIsKeptWithTimeAndNote) {
  const auto life = Start();
  life->MustApply(WithBackends(3), {.author = "alice", .comment = "first"});
  Sleep(60);
  ASSERT_TRUE(
      life->controller.DrainBackends("web", {"web1"}, false, {.author = "bob", .comment = "kernel"})
          .status.ok());
  life->MustApply(WithBackends(3));  // no change
  const std::vector<GenerationInfo> infos = *life->controller.ListGenerations();
  ASSERT_EQ(infos.size(), 2U);
  EXPECT_EQ(infos[0], (GenerationInfo{2, now, {"bob", "kernel"}, true}));
  EXPECT_EQ(infos[1],
            (GenerationInfo{1, now - std::chrono::seconds(60), {"alice", "first"}, true}));
  const Generation drained = *life->controller.GetGeneration(2);
  EXPECT_EQ(drained.config.pools[0].backends[0].state, config::AdminState::kDraining);
  EXPECT_EQ(drained.config.pools[0].backends[1].state, config::AdminState::kActive);
  EXPECT_EQ(life->controller.GetGeneration(7).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(LifeTest, ADrainSurvivesARestart) {
  auto life = Start();
  life->MustApply(WithBackends(3));
  ASSERT_TRUE(life->controller.DrainBackends("web", {"web1"}, false).status.ok());
  const std::string digest = life->Digest();
  life = Start();
  EXPECT_EQ(*life->controller.Restore(), 2U);
  EXPECT_EQ(StateOf(*life, 0), config::AdminState::kDraining);
  EXPECT_EQ(life->Digest(), digest);
  EXPECT_EQ(life->publisher.current()->generation(), 2U);
  // Expect: an apply without states leaves the drain alone, and is no change.
  EXPECT_EQ(life->MustApply(WithBackends(3)), 2U);
  EXPECT_EQ(life->MustApply(WithBackends(4)), 3U);
  EXPECT_EQ(StateOf(*life, 0), config::AdminState::kDraining);
}

TEST_F(LifeTest, WhatCannotBeKeptIsNotDone) {
  const auto life = Start();
  life->MustApply(WithBackends(3));
  history.append_status = absl::UnavailableError("disk full");
  for (const ChangeResult& result : {life->controller.Apply(WithBackends(4)),
                                     life->controller.DrainBackends("web", {"web1"}, false)}) {
    EXPECT_EQ(result.status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(result.status.message()),
                AllOf(HasSubstr("nothing was changed"), HasSubstr("disk full")));
    EXPECT_EQ(result.generation, 1U);
  }
  EXPECT_EQ(life->publisher.count(), 1);
  EXPECT_EQ(life->controller.GetConfig().generation, 1U);
  EXPECT_EQ(StateOf(*life, 0), config::AdminState::kActive);
  history.append_status = absl::OkStatus();
  EXPECT_EQ(life->MustApply(WithBackends(4)), 2U);
  // Expect: the identity that the refused change had taken was free again.
  const std::vector<lb::BackendId>& ids = life->publisher.current()->pool(0).ids;
  EXPECT_EQ(*std::ranges::max_element(ids), 4U);
}

TEST_F(LifeTest, AnAcknowledgementThatIsNotNotedIsWarnedAboutAndTriedAgain) {
  const auto life = Start();
  history.acknowledge_status = absl::UnavailableError("disk full");
  const ChangeResult result = life->controller.Apply(WithBackends(3));
  EXPECT_TRUE(result.status.ok());
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_THAT(result.warnings[0].reason, HasSubstr("disk full"));
  EXPECT_FALSE(life->controller.Tick().ok());
  history.acknowledge_status = absl::OkStatus();
  EXPECT_TRUE(life->controller.Tick().ok());
  EXPECT_TRUE(history.generations[0].info.acknowledged);
  const int calls = history.acknowledge_calls;
  EXPECT_TRUE(life->controller.Tick().ok());
  EXPECT_EQ(history.acknowledge_calls, calls);
}

TEST_F(LifeTest, TheLastAcknowledgedIsRestoredAndNoNumberComesTwice) {
  auto life = Start();
  life->MustApply(WithBackends(3));
  life->publisher.silent = {1};
  EXPECT_FALSE(life->controller.Apply(WithBackends(4)).status.ok());
  life = Start();
  EXPECT_EQ(*life->controller.Restore(), 1U);
  EXPECT_EQ(life->controller.ListBackends("web")->items.size(), 3U);
  EXPECT_EQ(life->MustApply(WithBackends(5)), 3U);
}

TEST_F(LifeTest, WhatTheHostCannotCarryAnyMoreIsNotRestored) {
  auto life = Start();
  life->MustApply(WithBackends(3));
  config::HostConfig host = TestHost();
  host.dataplane.ports[0].addresses[0] = *net::IpPrefix::Parse("203.0.113.10/24");
  life = std::make_unique<Life>(&history, now, host);
  const absl::StatusOr<uint64_t> restored = life->controller.Restore();
  EXPECT_EQ(restored.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(restored.status().message()),
              AllOf(HasSubstr("generation 1"), HasSubstr("services[0].address")));
  EXPECT_EQ(life->publisher.count(), 0);
}

TEST_F(LifeTest, AnOldGenerationThatCannotBeReadIsOnlyForgotten) {
  auto life = Start();
  life->MustApply(WithBackends(3));
  Sleep(1000);
  life->MustApply(WithBackends(4));
  history.unreadable = 1;
  life = Start();
  EXPECT_EQ(*life->controller.Restore(), 2U);
  EXPECT_EQ(life->SlotsWithPrevious(), 0);
  history.unreadable = 2;
  life = Start();
  EXPECT_EQ(life->controller.Restore().status().code(), absl::StatusCode::kNotFound);
}

TEST_F(LifeTest, ARestartReadsOnlyWhatMatters) {
  auto life = Start();
  for (int i = 0; i < 50; ++i) {
    life->MustApply(WithBackends(3 + i % 2));
    Sleep(600);
  }
  life = Start();
  history.get_calls = 0;
  EXPECT_EQ(*life->controller.Restore(), 50U);
  EXPECT_LE(history.get_calls, 4);
}

TEST_F(LifeTest, FilesAndApplyDoNotMix) {
  config::HostConfig host = TestHost();
  host.services_file = "/etc/penstock/services.yaml";
  const auto life = std::make_unique<Life>(&history, now, host);
  EXPECT_EQ(life->controller.ApplyServicesFile(WithBackends(3)).generation, 1U);
  EXPECT_EQ(history.generations[0].info.note,
            (ChangeNote{"services_file", "/etc/penstock/services.yaml"}));
  const ChangeResult refused = life->controller.Apply(WithBackends(4));
  EXPECT_EQ(refused.status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.status.message()),
              AllOf(HasSubstr("/etc/penstock/services.yaml"), HasSubstr("SIGHUP")));
  EXPECT_EQ(refused.generation, 1U);
  EXPECT_EQ(life->publisher.count(), 1);
  EXPECT_TRUE(life->controller.DrainBackends("web", {"web1"}, false).status.ok());
}

}  // namespace
}  // namespace penstock::control

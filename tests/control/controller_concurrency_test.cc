#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "tests/control/scene.h"

namespace penstock::control {
namespace {

TEST_F(ControllerTest, QuestionsDoNotWaitForAChange) {
  MustApply(TestConfig());
  std::promise<void> publishing;
  std::promise<void> go_on;
  publisher.before_publish = [&] {
    publishing.set_value();
    go_on.get_future().wait();
  };
  std::thread change([this] { MustApply({}); });
  publishing.get_future().wait();
  // Expect: all answers come while the change waits, and tell of the generation before it.
  EXPECT_EQ(controller.GetStatus().generation, 1U);
  EXPECT_EQ(controller.ListBackends().items.size(), 5U);
  EXPECT_EQ(controller.GetConfig().generation, 1U);
  go_on.set_value();
  change.join();
  EXPECT_EQ(controller.GetStatus().generation, 2U);
}

// Three writers and two readers; run under the thread sanitizer.
TEST_F(ControllerTest, WritersAndReadersInParallel) {
  MustApply(TestConfig());
  std::atomic<bool> stop = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        // Expect: one generation at a time, never a mixture.
        const std::size_t count = controller.ListBackends().items.size();
        EXPECT_TRUE(count == 5 || count == 6) << count;
        EXPECT_EQ(controller.ListPools().items.size(), 2U);
        EXPECT_FALSE(controller.GetConfig().config.services.empty());
        EXPECT_EQ(controller.GetStatus().workers.size(), 2U);
      }
    });
  }
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; ++i) {
    writers.emplace_back([&, i] {
      config::ServicesConfig config = TestConfig();
      if (i == 0) config.pools[0] = TestPool("web", 4);
      for (int round = 0; round < 50; ++round) {
        EXPECT_TRUE(controller.Apply(config).status.ok());
        if (i == 2) {
          EXPECT_TRUE(controller.DrainBackends("dns", {"web1"}, false).status.ok());
          EXPECT_TRUE(controller.UndrainBackends("dns", {"web1"}).status.ok());
        }
        ++reader.sweeps;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  stop = true;
  for (std::thread& one : readers) one.join();
  EXPECT_EQ(controller.GetConfig().generation, publisher.current()->generation());
}

}  // namespace
}  // namespace penstock::control

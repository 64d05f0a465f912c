// A controller that can end and start again, with a history and a clock that outlive it.

#ifndef PENSTOCK_TESTS_CONTROL_LIVES_H_
#define PENSTOCK_TESTS_CONTROL_LIVES_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "penstock/control/controller.h"
#include "tests/control/fake_dataplane.h"
#include "tests/control/memory_history.h"

namespace penstock::control {

// One run of a daemon.
struct Life {
  Life(History* history, const std::chrono::sys_seconds& now,
       const config::HostConfig& host = TestHost())
      : controller(publisher, reader, host, {.history = history, .clock = [&now] { return now; }}) {
  }

  std::string Digest(std::string_view pool = "web") const {
    for (const PoolView& view : controller.ListPools().items) {
      if (view.name == pool) return view.digest;
    }
    return "no such pool";
  }
  // The table that the workers have for the pool "web".
  const lb::PoolTable& Table() const {
    for (uint32_t i = 0;; ++i) {
      const lb::Pool& pool = publisher.current()->pool(i);
      if (pool.table->table_size() == TestPool("web", 1).table_size) return *pool.table;
    }
  }
  int SlotsWithPrevious() const {
    int count = 0;
    for (uint32_t slot = 0; slot < Table().table_size(); ++slot) {
      count += Table().slot(slot).previous != lb::kNoMember;
    }
    return count;
  }
  uint64_t MustApply(const config::ServicesConfig& config, const ChangeNote& note = {}) {
    const ChangeResult result = controller.Apply(config, note);
    EXPECT_TRUE(result.status.ok()) << result.status;
    return result.generation;
  }

  FakePublisher publisher;
  FakeReader reader;
  Controller controller;
};

class LivesTest : public testing::Test {
 protected:
  // The pool "web" with so many backends, and one service.
  static config::ServicesConfig WithBackends(int count) {
    config::ServicesConfig config;
    config.hash.seed = "a secret";
    config.pools = {TestPool("web", count)};
    config.services = {TestService("web-http", "web", 80)};
    return config;
  }
  void Sleep(int64_t seconds) { now += std::chrono::seconds(seconds); }
  std::unique_ptr<Life> Start() { return std::make_unique<Life>(&history, now); }

  std::chrono::sys_seconds now{std::chrono::seconds(1'700'000'000)};
  MemoryHistory history;
};

}  // namespace penstock::control

#endif  // PENSTOCK_TESTS_CONTROL_LIVES_H_

// The controller over the real store: what a restart goes on with.

#include <absl/status/status.h>
#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>

#include "penstock/control/controller.h"
#include "penstock/store/state_store.h"
#include "tests/control/fake_dataplane.h"
#include "tests/store/scene.h"

namespace penstock::store {
namespace {

using config::AdminState;
using testing::ElementsAre;
using testing::HasSubstr;

// A daemon without workers: from its start to its end.
struct Daemon {
  explicit Daemon(const std::string& directory) : store(StateStore::Open(directory)) {
    if (!store.ok()) return;
    controller =
        std::make_unique<control::Controller>(publisher, reader, control::TestHost(),
                                              control::ControllerOptions{.history = store->get()});
    restored = controller->Restore();
  }

  AdminState StateOf(std::size_t backend) const {
    return *controller->GetConfig().config.pools.at(0).backends.at(backend).state;
  }

  absl::StatusOr<std::unique_ptr<StateStore>> store;
  control::FakePublisher publisher;
  control::FakeReader reader;
  std::unique_ptr<control::Controller> controller;
  absl::StatusOr<uint64_t> restored;
};

class ControllerRestartTest : public StoreTest {
 protected:
  // Generation 1 is a configuration, 2 a drain, 3 another drain.
  void RunThreeChanges() {
    Daemon run(directory);
    ASSERT_TRUE(run.restored.ok()) << run.restored.status();
    EXPECT_EQ(*run.restored, 0U);
    ASSERT_TRUE(run.controller->Apply(control::TestConfig(), {"sre", "first"}).status.ok());
    ASSERT_TRUE(run.controller->DrainBackends("web", {"web1"}, false).status.ok());
    ASSERT_TRUE(run.controller->DrainBackends("web", {"web2"}, false).status.ok());
  }

  void Execute(const std::string& sql) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(database.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(handle);
  }
};

TEST_F(ControllerRestartTest, C03_DrainsAreThereAfterARestart) {
  RunThreeChanges();
  Daemon run(directory);
  ASSERT_TRUE(run.restored.ok()) << run.restored.status();
  EXPECT_EQ(*run.restored, 3U);
  EXPECT_EQ(run.StateOf(0), AdminState::kDraining);
  EXPECT_EQ(run.StateOf(1), AdminState::kDraining);
  EXPECT_EQ(run.StateOf(2), AdminState::kActive);
  EXPECT_EQ(run.controller->UndrainBackends("web", {"web1"}).generation, 4U);
  EXPECT_EQ(run.controller->ListGenerations()->back().note, (control::ChangeNote{"sre", "first"}));
}

TEST_F(ControllerRestartTest, C01_ADamagedGenerationGivesWayAndItsNumberIsNotReused) {
  RunThreeChanges();
  Execute("UPDATE generations SET config = x'00' WHERE number = 3");
  Daemon run(directory);
  ASSERT_TRUE(run.restored.ok()) << run.restored.status();
  EXPECT_EQ(*run.restored, 2U);
  EXPECT_THAT((*run.store)->notes(), ElementsAre(HasSubstr("generation 3")));
  EXPECT_EQ(run.StateOf(0), AdminState::kDraining);
  EXPECT_EQ(run.StateOf(1), AdminState::kActive);
  const control::ChangeResult result = run.controller->DrainBackends("web", {"web2"}, false);
  EXPECT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.generation, 4U);
}

TEST_F(ControllerRestartTest, C01_WithNothingWholeThereIsNoStart) {
  RunThreeChanges();
  Execute("UPDATE generations SET config = x'00'");
  EXPECT_TRUE(absl::IsDataLoss(Daemon(directory).store.status()));
}

TEST_F(ControllerRestartTest, AChangeThatCannotBeKeptIsNotMade) {
  RunThreeChanges();
  Daemon run(directory);
  const int published = run.publisher.count();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(database.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  const control::ChangeResult result = run.controller->UndrainBackends("web", {"web1"});
  sqlite3_close(other);
  EXPECT_TRUE(absl::IsUnavailable(result.status)) << result.status;
  EXPECT_THAT(std::string(result.status.message()), HasSubstr("is locked by another program"));
  EXPECT_EQ(run.publisher.count(), published);
  EXPECT_EQ(run.StateOf(0), AdminState::kDraining);
  EXPECT_EQ(run.controller->UndrainBackends("web", {"web1"}).generation, 4U);
}

}  // namespace
}  // namespace penstock::store

// A file system without room: errors by name, and the old state stays good.

#include <absl/status/status.h>
#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "penstock/store/flow_file.h"
#include "penstock/store/state_store.h"
#include "tests/store/scene.h"

namespace penstock::store {
namespace {

constexpr std::size_t kDiskBytes = std::size_t{256} << 10;

// Runs `run` with a small file system of its own over `path`, which nobody else sees and which goes
// with the process.
std::string OnSmallDisk(const std::string& path, const std::function<std::string()>& run) {
  return InChild([&]() -> std::string {
    // A user namespace of its own gives the right to mount to those who are not root.
    const int spaces = CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER);
    const std::string options = "size=" + std::to_string(kDiskBytes) + ",mode=0755";
    if (unshare(spaces) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", path.c_str(), "tmpfs", 0, options.c_str()) != 0) {
      return std::string("this test has to mount a file system: ") + std::strerror(errno);
    }
    return run();
  });
}

// Takes all the room there is.
void FillDisk(const std::string& path) {
  WriteFile(path, std::string(kDiskBytes * 2, 'x'));
}

// Empty, or what is wrong with `status`.
std::string IsFull(const absl::Status& status) {
  const std::string text = status.ToString();
  if (!absl::IsResourceExhausted(status)) return "not RESOURCE_EXHAUSTED: " + text + "; ";
  return text.find("; fix: free space") == std::string::npos ? "no way out in " + text : "";
}

std::string IsLast(const StateStore& store, uint64_t number) {
  const auto last = Last(store);
  if (!last.ok()) return last.status().ToString() + "; ";
  return *last == GenerationOf(number, true) ? "" : "another last generation; ";
}

// Appends big generations 4, 8, ... until there is no room; the number that had none.
uint64_t AppendUntilFull(StateStore& store, std::string& wrong) {
  uint64_t number = 0;
  absl::Status status;
  while (status.ok() && number < 1000) {
    number += 4;
    status = store.Append(GenerationOf(number, true));
  }
  wrong += IsFull(status);
  return number;
}

// All of 4, 8, ... below `end` and no other.
std::string AreKept(const StateStore& store, uint64_t end) {
  const auto list = store.List();
  if (!list.ok() || list->size() != end / 4 - 1) return "generations are missing; ";
  for (uint64_t number = 4; number < end; number += 4) {
    const auto kept = store.Get(number);
    if (!kept.ok() || *kept != GenerationOf(number, true)) return "generations differ; ";
  }
  return "";
}

TEST_F(StoreTest, C01_AFullDiskKeepsTheOldState) {
  EXPECT_EQ(OnSmallDisk(top(),
                        [&]() -> std::string {
                          std::string wrong;
                          uint64_t number = 0;
                          {
                            const auto store = StateStore::Open(directory);
                            if (!store.ok()) return store.status().ToString();
                            number = AppendUntilFull(**store, wrong);
                            wrong += AreKept(**store, number);
                            FillDisk(top() + "/filler");
                            wrong += IsFull((*store)->Append(GenerationOf(number, true)));
                            wrong += AreKept(**store, number);
                          }
                          const auto again = StateStore::Open(directory);  // needs no room
                          if (!again.ok()) return wrong + again.status().ToString();
                          return wrong + AreKept(**again, number) + IsLast(**again, number - 4);
                        }),
            "");
}

TEST_F(StoreTest, RoomAgainIsUsedAgain) {
  EXPECT_EQ(OnSmallDisk(top(),
                        [&]() -> std::string {
                          const auto store = StateStore::Open(directory);
                          Fill(**store, 1, 3);
                          FillDisk(top() + "/filler");
                          std::string wrong = IsFull((*store)->Append(GenerationOf(4)));
                          std::filesystem::remove(top() + "/filler");
                          Fill(**store, 4, 5);
                          return wrong + IsLast(**store, 5);
                        }),
            "");
}

TEST_F(StoreTest, AFirstStartOnAFullDiskLeavesNothing) {
  EXPECT_EQ(OnSmallDisk(top(),
                        [&]() -> std::string {
                          if (mkdir(directory.c_str(), 0700) != 0) return "no directory";
                          WriteFile(directory + "/lock", "");
                          FillDisk(top() + "/filler");
                          std::string wrong = IsFull(StateStore::Open(directory).status());
                          if (std::filesystem::exists(database)) wrong += "half a file; ";
                          if (std::filesystem::exists(database + ".new"))
                            wrong += "a temporary file; ";
                          return wrong;
                        }),
            "");
}

TEST_F(StoreTest, AFullDiskKeepsTheOldFlows) {
  EXPECT_EQ(OnSmallDisk(top(),
                        [&]() -> std::string {
                          lb::SavedFlows flows{.services = {"web"},
                                               .backends = {{.pool = "web", .address = {}}}};
                          flows.flows.resize(1000);
                          if (!WriteFlows(directory, flows).ok()) return "not written";
                          lb::SavedFlows more = flows;
                          more.flows.resize(100'000);
                          std::string wrong = IsFull(WriteFlows(directory, more));
                          const auto read = ReadFlows(directory);
                          if (!read.ok() || *read != flows) wrong += "the old flows are gone; ";
                          if (std::filesystem::exists(directory + "/flows.db.new"))
                            wrong += "a rest; ";
                          return wrong;
                        }),
            "");
}

}  // namespace
}  // namespace penstock::store

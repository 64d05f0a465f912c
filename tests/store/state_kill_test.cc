// Ends that nobody chose: kill -9 in the middle of writes, and a journal that is damaged on top.

#include <signal.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include "penstock/store/flow_file.h"
#include "penstock/store/state_store.h"
#include "tests/store/scene.h"

namespace penstock::store {
namespace {

constexpr int kRounds = 50;

// A process that works until it is killed, and says over a pipe what it has done.
class Victim {
 public:
  // `work` gets the descriptor to write 8-byte numbers to, and never returns.
  explicit Victim(const std::function<void(int)>& work) {
    EXPECT_EQ(pipe(ends_.data()), 0);
    pid_ = fork();
    if (pid_ != 0) {
      close(ends_[1]);  // or its end would not be noticed
      return;
    }
    work(ends_[1]);
    _exit(1);
  }
  ~Victim() { close(ends_[0]); }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  // Kills it some time after its first number; the last number that it told, 0 for none.
  uint64_t KillAfter(std::chrono::microseconds time) {
    uint64_t last = 0;
    EXPECT_EQ(read(ends_[0], &last, sizeof(last)), ssize_t{sizeof(last)});
    std::this_thread::sleep_for(time);
    kill(pid_, SIGKILL);
    int status = 0;
    waitpid(pid_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself, with " << WEXITSTATUS(status);
    uint64_t number = 0;
    while (read(ends_[0], &number, sizeof(number)) == ssize_t{sizeof(number)}) last = number;
    return last;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
  pid_t pid_ = 0;
};

void Tell(int pipe, uint64_t number) {
  if (write(pipe, &number, sizeof(number)) != ssize_t{sizeof(number)}) _exit(2);
}

// Appends and acknowledges generations from `number` on.
void KeepWriting(const std::string& directory, uint64_t number, int pipe) {
  const auto store = StateStore::Open(directory);
  if (!store.ok()) _exit(3);
  for (;; ++number) {
    if (!(*store)->Append(GenerationOf(number)).ok()) _exit(4);
    if (!(*store)->Acknowledge(number).ok()) _exit(5);
    Tell(pipe, number);
  }
}

uint32_t RandomSeed() {
  return static_cast<uint32_t>(testing::UnitTest::GetInstance()->random_seed());
}

// Cuts the file or flips some of its bits.
void Damage(const std::string& path, std::mt19937& random) {
  std::string bytes = ReadFile(path);
  if (bytes.empty()) return;
  if (random() % 2 == 0) {
    bytes.resize(random() % bytes.size());
  } else {
    for (int i = 0; i < 4; ++i) {
      char& byte = bytes[random() % bytes.size()];
      byte = static_cast<char>(byte ^ static_cast<char>(1U << (random() % 8)));
    }
  }
  std::filesystem::resize_file(path, 0);
  WriteFile(path, bytes);
}

// A copy of the directory whose journal is damaged: whatever is restored from it is some
// acknowledged generation, whole.
void ExpectNothingWrong(const std::string& directory, const std::string& copy,
                        std::mt19937& random) {
  std::filesystem::remove_all(copy);
  std::filesystem::copy(directory, copy);
  ASSERT_EQ(chmod(copy.c_str(), 0700), 0);
  Damage(copy + "/state.db-journal", random);
  const auto store = StateStore::Open(copy);
  if (!store.ok()) {
    // Damage in the header may look like the mark of a later release.
    EXPECT_TRUE(absl::IsDataLoss(store.status()) || absl::IsFailedPrecondition(store.status()))
        << store.status();
    return;
  }
  const auto last = Last(**store);
  ASSERT_TRUE(last.ok() || absl::IsNotFound(last.status())) << last.status();
  EXPECT_TRUE(!last.ok() || *last == GenerationOf(last->info.number, true));
}

class StateKillTest : public StoreTest {};

TEST_F(StateKillTest, C01_KilledAtAnyMoment) {
  std::mt19937 random(RandomSeed());
  uint64_t next = 1;
  int hot_journals = 0;
  for (int round = 0; round < kRounds; ++round) {
    Victim victim([&](int pipe) { KeepWriting(directory, next, pipe); });
    const uint64_t told = victim.KillAfter(std::chrono::microseconds(random() % 20000));
    if (std::filesystem::exists(database + "-journal")) {
      ++hot_journals;
      for (int i = 0; i < 10; ++i) ExpectNothingWrong(directory, top() + "/copy", random);
    }
    const auto store = StateStore::Open(directory);
    ASSERT_TRUE(store.ok()) << store.status();
    const auto last = Last(**store);
    ASSERT_TRUE(last.ok()) << last.status();
    const uint64_t number = last->info.number;
    // One more may be on disk, for it was killed before it could tell.
    ASSERT_GE(number, told);
    ASSERT_LE(number, told + 1);
    ASSERT_EQ(*last, GenerationOf(number, true));
    next = (*store)->List()->front().number + 1;
  }
  RecordProperty("generations", std::to_string(next - 1));
  RecordProperty("journals", hot_journals);
  EXPECT_GT(hot_journals, 0) << "no kill came in the middle of a write";
}

// The first start: before there is a whole file there is none.
TEST_F(StateKillTest, C01_KilledAtTheFirstStart) {
  std::mt19937 random(RandomSeed());
  for (int round = 0; round < kRounds; ++round) {
    std::filesystem::remove_all(directory);
    Victim victim([&](int pipe) {
      Tell(pipe, 1);
      for (;;) {
        { const auto store = StateStore::Open(directory); }
        std::filesystem::remove(database);
      }
    });
    victim.KillAfter(std::chrono::microseconds(random() % 10000));
    const auto store = StateStore::Open(directory);
    ASSERT_TRUE(store.ok()) << store.status();
    Fill(**store, 1, 1);
  }
}

TEST_F(StateKillTest, C01_FlowsAreTheOldOnesOrTheNewOnes) {
  std::mt19937 random(RandomSeed());
  const auto flows_of = [](uint64_t number) {
    lb::SavedFlows flows{.services = {"web"}, .backends = {{.pool = "web", .address = {}}}};
    flows.flows.resize(2000, {.idle_seconds = static_cast<uint32_t>(number)});
    return flows;
  };
  for (int round = 0; round < kRounds; ++round) {
    Victim victim([&](int pipe) {
      for (uint64_t number = 1;; ++number) {
        if (!WriteFlows(directory, flows_of(number)).ok()) _exit(3);
        Tell(pipe, number);
      }
    });
    const uint64_t told = victim.KillAfter(std::chrono::microseconds(random() % 10000));
    const auto flows = ReadFlows(directory);
    ASSERT_TRUE(flows.ok()) << flows.status();
    const uint64_t number = flows->flows.at(0).idle_seconds;
    ASSERT_TRUE(number == told || number == told + 1) << number << " after " << told;
    ASSERT_EQ(*flows, flows_of(number));
  }
}

}  // namespace
}  // namespace penstock::store

// A directory for one test, and generations that can be told apart.

#ifndef PENSTOCK_TESTS_STORE_SCENE_H_
#define PENSTOCK_TESTS_STORE_SCENE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "penstock/config/services_config.h"
#include "penstock/control/history.h"
#include "penstock/store/state_store.h"

namespace penstock::store {

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Keeps the file's mode when it is there.
inline void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline mode_t ModeOf(const std::string& path) {
  struct stat found {};
  EXPECT_EQ(stat(path.c_str(), &found), 0) << path;
  return found.st_mode & 07777U;
}

// Gone at the end of the test.
class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    std::string pattern = testing::TempDir() + "penstock-store-XXXXXX";
    top_ = mkdtemp(pattern.data());
    directory = top_ + "/state";
    database = directory + "/state.db";
  }
  ~StoreTest() override { std::filesystem::remove_all(top_); }

  // Exists, and holds nothing but `directory` once a store has made it.
  const std::string& top() const { return top_; }
  std::string directory;
  std::string database;

 private:
  std::string top_;
};

// Its content follows from `number`; odd ones have a draining backend, every fourth one does not
// fit a page of the database.
inline config::ServicesConfig ConfigOf(uint64_t number) {
  config::ServicesConfig config;
  config.hash.seed = "secret " + std::to_string(number);
  config::Pool pool{.name = "web"};
  const uint64_t count = number % 4 == 0 ? 200 : 3;
  for (uint64_t i = 1; i <= count; ++i) {
    config::Backend backend;
    backend.address = *net::IpAddress::Parse("10.1.0." + std::to_string(i));
    backend.weight = static_cast<uint32_t>((number + i) % 1000);
    backend.state =
        i == 1 && number % 2 == 1 ? config::AdminState::kDraining : config::AdminState::kActive;
    backend.labels["number"] = std::to_string(number);
    pool.backends.push_back(backend);
  }
  config.pools.push_back(pool);
  config::Service service{.name = "web-https"};
  service.prefix = *net::IpPrefix::Parse("203.0.113.10");
  service.ports = {{443, 443}};
  service.pool = "web";
  config.services.push_back(service);
  return config;
}

inline control::Generation GenerationOf(uint64_t number, bool acknowledged = false) {
  return {.info = {.number = number,
                   .time = std::chrono::sys_seconds(std::chrono::seconds(1700000000 + number)),
                   .note = {.author = "sre", .comment = "change " + std::to_string(number)},
                   .acknowledged = acknowledged},
          .config = ConfigOf(number)};
}

// Appends and acknowledges generations `first` to `last`.
inline void Fill(StateStore& store, uint64_t first, uint64_t last) {
  for (uint64_t number = first; number <= last; ++number) {
    ASSERT_TRUE(store.Append(GenerationOf(number)).ok()) << number;
    ASSERT_TRUE(store.Acknowledge(number).ok()) << number;
  }
}

// What a start goes on with: the newest acknowledged one of the list, whole. NOT_FOUND: none.
inline absl::StatusOr<control::Generation> Last(const StateStore& store) {
  const auto list = store.List();
  if (!list.ok()) return list.status();
  for (const control::GenerationInfo& info : *list) {
    if (info.acknowledged) return store.Get(info.number);
  }
  return absl::NotFoundError("none is acknowledged");
}

// What `run` returns in a process of its own: empty if all is well there, else what is not.
inline std::string InChild(const std::function<std::string()>& run) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = run();
    const bool told = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t got = 0; (got = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) text += " (the process ended with status " + std::to_string(status) + ")";
  return text;
}

}  // namespace penstock::store

#endif  // PENSTOCK_TESTS_STORE_SCENE_H_

// The directory: who holds it, who may touch it, and what else may lie there.

#include <absl/status/status.h>

#include <filesystem>
#include <string>

#include "penstock/store/directory_lock.h"
#include "penstock/store/state_store.h"
#include "tests/store/scene.h"

namespace penstock::store {
namespace {

using testing::HasSubstr;

absl::Status OpenStatus(const std::string& directory) {
  return StateStore::Open(directory).status();
}

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

// While it lives, file access is that of a user without rights.
class AsNobody {
 public:
  AsNobody() { EXPECT_EQ(was_ == 0 ? seteuid(65534) : 0, 0); }
  ~AsNobody() { EXPECT_EQ(was_ == 0 ? seteuid(0) : 0, 0); }

 private:
  const uid_t was_ = geteuid();
};

TEST_F(StoreTest, ASecondOpenerIsRefusedByNameOfTheFirst) {
  const auto first = StateStore::Open(directory);
  ASSERT_TRUE(first.ok()) << first.status();
  const std::string second =
      InChild([&] { return OpenStatus(directory).ToString(absl::StatusToStringMode::kDefault); });
  EXPECT_THAT(second, HasSubstr("FAILED_PRECONDITION"));
  EXPECT_THAT(second, HasSubstr(directory + " is in use by the process with pid " +
                                std::to_string(getpid()) + "; fix: "));
}

TEST_F(StoreTest, TheLockGoesWithItsHolder) {
  { const auto first = StateStore::Open(directory); }
  EXPECT_TRUE(OpenStatus(directory).ok());
  EXPECT_EQ(InChild([&]() -> std::string {
              auto lock = DirectoryLock::Take(directory);
              if (!lock.ok()) return "not taken";
              _exit(0);  // without a word
            }),
            "");
  EXPECT_TRUE(OpenStatus(directory).ok());
}

TEST_F(StoreTest, ALockWithoutAPidIsStillALock) {
  const auto first = DirectoryLock::Take(directory);
  WriteFile(directory + "/lock", "");
  const absl::Status status = DirectoryLock::Take(directory).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(Message(status), HasSubstr("pid unknown"));
}

TEST_F(StoreTest, ARelativePathIsRefused) {
  for (const char* path : {"state", "./state", ""}) {
    const absl::Status status = OpenStatus(path);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(Message(status), HasSubstr("\"" + std::string(path) + "\" is no absolute path"));
  }
}

TEST_F(StoreTest, OnlyTheLastComponentIsMade) {
  const absl::Status status = OpenStatus(top() + "/missing/state");
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(Message(status), HasSubstr("cannot make the directory " + top() + "/missing/state"));
}

TEST_F(StoreTest, AFileIsNoDirectory) {
  WriteFile(directory, "text");
  const absl::Status status = OpenStatus(directory);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(Message(status), HasSubstr(directory + " is no directory"));
  EXPECT_EQ(ReadFile(directory), "text");
}

TEST_F(StoreTest, ADirectoryThatOthersMayWriteToIsRefused) {
  ASSERT_EQ(mkdir(directory.c_str(), 0700), 0);
  for (const mode_t mode : {0770U, 0702U, 01777U}) {
    ASSERT_EQ(chmod(directory.c_str(), mode), 0);
    const absl::Status status = OpenStatus(directory);
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(Message(status), HasSubstr("chmod 700 " + directory));
  }
  ASSERT_EQ(chmod(directory.c_str(), 0755), 0);  // as service managers make it
  EXPECT_TRUE(OpenStatus(directory).ok());
}

TEST_F(StoreTest, AFileThatOthersMayReadIsRefused) {
  { const auto store = StateStore::Open(directory); }
  for (const mode_t mode : {0640U, 0604U, 0620U}) {
    ASSERT_EQ(chmod(database.c_str(), mode), 0);
    const absl::Status status = OpenStatus(directory);
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(Message(status), HasSubstr("chmod 600 " + database));
  }
}

TEST_F(StoreTest, SomebodyElsesFilesAreRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  { const auto store = StateStore::Open(directory); }
  ASSERT_EQ(chown(database.c_str(), 12345, 0), 0);
  EXPECT_THAT(Message(OpenStatus(directory)), HasSubstr(database + " belongs to user 12345"));
  ASSERT_EQ(chown(directory.c_str(), 12345, 0), 0);
  EXPECT_THAT(Message(OpenStatus(directory)), HasSubstr(directory + " belongs to user 12345"));
}

TEST_F(StoreTest, WithoutTheRightToWriteTheFileIsNamed) {
  ASSERT_EQ(chmod(top().c_str(), 0755), 0);
  ASSERT_EQ(mkdir(directory.c_str(), 0555), 0);
  const AsNobody nobody;
  const absl::Status status = OpenStatus(directory);
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_THAT(Message(status), HasSubstr("cannot open " + directory + "/lock"));
}

TEST_F(StoreTest, ALinkIsNotFollowed) {
  ASSERT_EQ(mkdir(directory.c_str(), 0700), 0);
  WriteFile(top() + "/target", "");
  std::filesystem::create_symlink(top() + "/target", database);
  EXPECT_THAT(Message(OpenStatus(directory)), HasSubstr(database + " is no regular file"));
}

}  // namespace
}  // namespace penstock::store

// Files that are torn, damaged, foreign or of the future: the good state, an older acknowledged one
// with a note, or a refusal that names the file; never another configuration, and never a repair.

#include <absl/status/status.h>
#include <fcntl.h>
#include <sqlite3.h>

#include <cstddef>
#include <optional>
#include <random>
#include <string>

#include "penstock/store/state_store.h"
#include "tests/store/scene.h"

namespace penstock::store {
namespace {

using testing::HasSubstr;

constexpr uint64_t kLast = 5;

class StateDamageTest : public StoreTest {
 protected:
  StateDamageTest() {
    {
      const auto store = StateStore::Open(directory);
      EXPECT_TRUE(store.ok()) << store.status();
      Fill(**store, 1, kLast);
    }
    good = ReadFile(database);
  }

  // Writes one byte of the file in place.
  void Poke(std::size_t offset, char byte) const {
    const int file = open(database.c_str(), O_WRONLY);
    ASSERT_EQ(pwrite(file, &byte, 1, static_cast<off_t>(offset)), 1);
    close(file);
  }

  void Execute(const std::string& sql) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(database.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }

  absl::Status OpenStatus() const { return StateStore::Open(directory).status(); }

  // What came of opening the file and restoring from it; fails on anything but the three outcomes.
  enum class Outcome { kGood, kOlder, kRefused };
  Outcome Look() const {
    const auto store = StateStore::Open(directory);
    if (!store.ok()) {
      EXPECT_TRUE(absl::IsDataLoss(store.status()) || absl::IsFailedPrecondition(store.status()))
          << store.status();
      EXPECT_THAT(std::string(store.status().message()), HasSubstr(database));
      EXPECT_THAT(std::string(store.status().message()), HasSubstr("; fix: "));
      return Outcome::kRefused;
    }
    const auto last = Last(**store);
    if (!last.ok()) {
      ADD_FAILURE() << "acknowledged generations vanished: " << last.status();
      return Outcome::kRefused;
    }
    const uint64_t number = last->info.number;
    EXPECT_EQ(*last, GenerationOf(number, true));
    if (number == kLast) return Outcome::kGood;
    EXPECT_FALSE((*store)->notes().empty()) << "an older generation in silence: " << number;
    return Outcome::kOlder;
  }

  std::string good;  // the file with generations 1 to kLast, all acknowledged
};

TEST_F(StateDamageTest, C01_AByteFlippedAnywhere) {
  std::mt19937 random(static_cast<uint32_t>(testing::UnitTest::GetInstance()->random_seed()));
  int good_count = 0;
  int older_count = 0;
  int refused_count = 0;
  for (std::size_t offset = 0; offset < good.size(); ++offset) {
    // Structure lies at the ends of pages; of what lies between, a sample will do.
    const std::size_t in_page = offset % 4096;
    if (in_page > 128 && in_page < 4096 - 1024 && random() % 4 != 0) continue;
    const char flip = static_cast<char>(1U << (random() % 8));
    Poke(offset, static_cast<char>(good[offset] ^ flip));
    SCOPED_TRACE("byte " + std::to_string(offset) + " ^ " + std::to_string(flip));
    const Outcome outcome = Look();
    good_count += outcome == Outcome::kGood ? 1 : 0;
    older_count += outcome == Outcome::kOlder ? 1 : 0;
    refused_count += outcome == Outcome::kRefused ? 1 : 0;
    Poke(offset, good[offset]);
    if (HasFailure()) break;
  }
  EXPECT_EQ(ReadFile(database), good) << "a damaged file was written to";
  EXPECT_GT(good_count, 0);
  EXPECT_GT(older_count, 10);
  EXPECT_GT(refused_count, 100);
}

TEST_F(StateDamageTest, C01_CutAnywhere) {
  for (std::size_t size = 0; size < good.size(); size += size % 4096 < 128 ? 1U : 61U) {
    WriteFile(database, good.substr(0, size));
    EXPECT_EQ(Look(), Outcome::kRefused) << "cut to " << size;
    EXPECT_EQ(std::filesystem::file_size(database), size) << "a cut file was written to";
  }
}

TEST_F(StateDamageTest, PagesOfZerosOrOfAnotherPlace) {
  for (std::size_t page = 0; page < good.size() / 4096; ++page) {
    std::string bytes = good;
    bytes.replace(page * 4096, 4096, 4096, '\0');
    WriteFile(database, bytes);
    const bool holds_the_last = page < 3;  // page 3 is the second one of generation 4
    EXPECT_EQ(Look() == Outcome::kGood, !holds_the_last) << "zeros in page " << page;
    bytes = good;
    bytes.replace(page * 4096, 4096, good, (page + 1) % (good.size() / 4096) * 4096, 4096);
    WriteFile(database, bytes);
    EXPECT_NE(Look(), Outcome::kGood) << "another page in page " << page;
  }
}

TEST_F(StateDamageTest, C01_ADamagedGenerationGivesWayToAnOlderOne) {
  Execute("UPDATE generations SET config = x'00' WHERE number = 5");
  Execute("UPDATE generations SET comment = 'another' WHERE number = 4");
  const auto store = StateStore::Open(directory);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_TRUE(absl::IsDataLoss((*store)->Get(5).status()));
  EXPECT_TRUE(absl::IsDataLoss((*store)->Get(4).status()));
  EXPECT_TRUE(absl::IsDataLoss((*store)->Acknowledge(4)));
  EXPECT_EQ(*Last(**store), GenerationOf(3, true));
  EXPECT_THAT((*store)->notes(),
              testing::ElementsAre(HasSubstr("generation 5 in " + database + " is damaged"),
                                   HasSubstr("generation 4 in " + database + " is damaged")));
  const auto list = (*store)->List();
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->at(1).number, 4U);
  EXPECT_EQ(list->at(1).note.comment, StateStore::kDamagedComment);
  EXPECT_FALSE(list->at(1).acknowledged);
  EXPECT_EQ(list->at(2), GenerationOf(3, true).info);
  Fill(**store, 6, 6);  // life goes on
  EXPECT_EQ(*Last(**store), GenerationOf(6, true));
}

TEST_F(StateDamageTest, RowsThatChangedPlacesOrVanished) {
  for (const char* sql : {"UPDATE generations SET number = 9 WHERE number = 5",
                          "DELETE FROM generations WHERE number = 5",
                          "UPDATE acknowledgements SET checksum = checksum + 1 WHERE number = 5",
                          "UPDATE generations SET config = (SELECT config FROM generations WHERE "
                          "number = 1) WHERE number = 5"}) {
    WriteFile(database, good);
    Execute(sql);
    EXPECT_EQ(Look(), Outcome::kOlder) << sql;
  }
  WriteFile(database, good);
  Execute("UPDATE generations SET time = 0");
  const absl::Status status = OpenStatus();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("no acknowledged generation in it is whole"));
}

TEST_F(StateDamageTest, TheNumberOfALostRowIsFree) {
  Execute("DELETE FROM generations WHERE number = 5");
  const auto store = StateStore::Open(directory);
  ASSERT_TRUE((*store)->Append(GenerationOf(5)).ok());
  EXPECT_EQ(*Last(**store), GenerationOf(4, true));
  EXPECT_EQ(*(*store)->Get(5), GenerationOf(5, false));
  ASSERT_TRUE((*store)->Acknowledge(5).ok());
  EXPECT_EQ(*Last(**store), GenerationOf(5, true));
}

TEST_F(StateDamageTest, AnAcknowledgementIsNotOfAnotherContent) {
  Execute(
      "INSERT INTO generations SELECT 6, time, author, comment, config_checksum, checksum, config "
      "FROM generations WHERE number = 5; INSERT INTO acknowledgements SELECT 6, checksum FROM "
      "acknowledgements WHERE number = 5");
  const auto store = StateStore::Open(directory);
  EXPECT_TRUE(absl::IsDataLoss((*store)->Get(6).status()));
  EXPECT_EQ(*Last(**store), GenerationOf(5, true));
}

TEST_F(StateDamageTest, ForeignFilesAreRefusedAndLeftAlone) {
  std::string foreign(5000, 'x');
  WriteFile(database, foreign);
  EXPECT_TRUE(absl::IsDataLoss(OpenStatus())) << OpenStatus();
  EXPECT_EQ(ReadFile(database), foreign);

  WriteFile(database, good);
  Execute("PRAGMA application_id = 1");
  EXPECT_THAT(std::string(OpenStatus().message()), HasSubstr("it is no state of penstock"));

  for (const char* sql : {"CREATE TABLE other(x)", "DROP TABLE acknowledgements",
                          "ALTER TABLE generations ADD COLUMN more INTEGER",
                          "CREATE TRIGGER t AFTER INSERT ON generations BEGIN SELECT 1; END"}) {
    WriteFile(database, good);
    Execute(sql);
    EXPECT_THAT(std::string(OpenStatus().message()), HasSubstr("its tables are not those")) << sql;
  }
}

TEST_F(StateDamageTest, ANewerSchemaIsRefusedByNumber) {
  Execute("PRAGMA user_version = 2");
  const absl::Status status = OpenStatus();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(database + " is of a newer release (schema 2, this one knows 1); fix: "));
  Execute("PRAGMA user_version = 0");
  EXPECT_TRUE(absl::IsDataLoss(OpenStatus())) << OpenStatus();
}

TEST_F(StateDamageTest, AJournalOfAnotherFileIsNotApplied) {
  std::filesystem::rename(database, top() + "/moved");
  WriteFile(database + "-journal", "rest");
  ASSERT_EQ(chmod((database + "-journal").c_str(), 0600), 0);
  const absl::Status status = OpenStatus();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(database + "-journal"));
  EXPECT_FALSE(std::filesystem::exists(database));
}

TEST_F(StateDamageTest, AnInterruptedFirstStartIsNoState) {
  std::filesystem::rename(database, database + ".new");
  EXPECT_TRUE(OpenStatus().ok()) << OpenStatus();
  EXPECT_FALSE(std::filesystem::exists(database + ".new"));
}

}  // namespace
}  // namespace penstock::store

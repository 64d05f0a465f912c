#include "store/rows.h"

#include <bit>
#include <chrono>
#include <string_view>
#include <utility>

#include "penstock/config/serialize.h"
#include "store/checksum.h"

namespace penstock::store {
namespace {

using control::GenerationInfo;

// The columns that ReadRow reads, in its order. ReadConfig's is behind them, so that only who wants
// it reads it from disk.
constexpr const char* kSelectRows =
    "SELECT g.number, time, author, comment, config_checksum, g.checksum, a.number IS NOT NULL, "
    "a.checksum, config FROM generations AS g LEFT JOIN acknowledgements AS a USING (number) ";
constexpr int kConfigColumn = 8;

// Checksums and numbers in SQLite's signed column, bit for bit.
int64_t Signed(uint64_t bits) {
  return std::bit_cast<int64_t>(bits);
}
uint64_t Unsigned(int64_t bits) {
  return std::bit_cast<uint64_t>(bits);
}

uint64_t ChecksumOf(std::string_view bytes) {
  Checksum sum;
  sum.Add(bytes);
  return sum.value();
}

uint64_t ChecksumOf(const GenerationInfo& info, uint64_t config_checksum) {
  Checksum sum;
  sum.Add(info.number);
  sum.Add(Unsigned(info.time.time_since_epoch().count()));
  sum.AddText(info.note.author);
  sum.AddText(info.note.comment);
  sum.Add(config_checksum);
  return sum.value();
}

// An acknowledgement is of these very contents.
uint64_t ChecksumOfAcknowledgement(uint64_t number, uint64_t checksum) {
  Checksum sum;
  sum.AddText("acknowledged");
  sum.Add(number);
  sum.Add(checksum);
  return sum.value();
}

Row ReadRow(const Statement& statement) {
  Row row;
  row.info.number = Unsigned(statement.Integer(0));
  row.info.time = std::chrono::sys_seconds(std::chrono::seconds(statement.Integer(1)));
  row.info.note = {.author = statement.Bytes(2), .comment = statement.Bytes(3)};
  row.config_checksum = Unsigned(statement.Integer(4));
  row.checksum = Unsigned(statement.Integer(5));
  row.whole = row.checksum == ChecksumOf(row.info, row.config_checksum);
  row.has_acknowledgement = statement.Integer(6) != 0;
  row.info.acknowledged =
      row.whole && row.has_acknowledgement &&
      Unsigned(statement.Integer(7)) == ChecksumOfAcknowledgement(row.info.number, row.checksum);
  return row;
}

}  // namespace

absl::StatusOr<uint64_t> NewestNumber(const Database& database) {
  Statement statement(database, "SELECT max(0, ifnull(max(number), 0)) FROM generations");
  if (const absl::StatusOr<bool> found = statement.Step(); !found.ok()) return found.status();
  return Unsigned(statement.Integer(0));
}

absl::StatusOr<std::vector<uint64_t>> AllNumbers(const Database& database) {
  Statement statement(database,
                      "SELECT number FROM generations UNION SELECT number FROM acknowledgements "
                      "ORDER BY number DESC");
  std::vector<uint64_t> numbers;
  for (;;) {
    const absl::StatusOr<bool> more = statement.Step();
    if (!more.ok()) return more.status();
    if (!*more) return numbers;
    numbers.push_back(Unsigned(statement.Integer(0)));
  }
}

absl::StatusOr<std::vector<Row>> AllRows(const Database& database) {
  Statement statement(database, std::string(kSelectRows) + "ORDER BY g.number DESC");
  std::vector<Row> rows;
  for (;;) {
    const absl::StatusOr<bool> more = statement.Step();
    if (!more.ok()) return more.status();
    if (!*more) return rows;
    rows.push_back(ReadRow(statement));
  }
}

absl::StatusOr<std::optional<Row>> FindRow(const Database& database, uint64_t number) {
  Statement statement(database, std::string(kSelectRows) + "WHERE g.number = ?");
  const absl::StatusOr<bool> found = statement.Bind(Signed(number)).Step();
  if (!found.ok()) return found.status();
  return *found ? std::optional<Row>(ReadRow(statement)) : std::nullopt;
}

absl::StatusOr<std::optional<RowAndConfig>> FindRowAndConfig(const Database& database,
                                                             uint64_t number) {
  Statement statement(database, std::string(kSelectRows) + "WHERE g.number = ?");
  const absl::StatusOr<bool> found = statement.Bind(Signed(number)).Step();
  if (!found.ok()) return found.status();
  if (!*found) return std::nullopt;
  RowAndConfig both{.row = ReadRow(statement), .config = statement.Bytes(kConfigColumn)};
  both.whole = both.row.whole && both.row.config_checksum == ChecksumOf(both.config);
  return both;
}

absl::Status InsertRow(const Database& database, const control::Generation& generation) {
  const GenerationInfo& info = generation.info;
  const std::string config = config::Serialize(generation.config);
  const uint64_t config_checksum = ChecksumOf(config);
  const uint64_t checksum = ChecksumOf(info, config_checksum);
  // One that outlived its generation, which was lost, is not of this one.
  absl::Status status = Statement(database, "DELETE FROM acknowledgements WHERE number = ?")
                            .Bind(Signed(info.number))
                            .Run();
  if (!status.ok()) return status;
  status = Statement(database, "INSERT INTO generations VALUES (?, ?, ?, ?, ?, ?, ?)")
               .Bind(Signed(info.number))
               .Bind(info.time.time_since_epoch().count())
               .BindText(info.note.author)
               .BindText(info.note.comment)
               .Bind(Signed(config_checksum))
               .Bind(Signed(checksum))
               .BindBlob(config)
               .Run();
  if (!status.ok() || !info.acknowledged) return status;
  return AcknowledgeRow(database, info.number, checksum);
}

absl::Status AcknowledgeRow(const Database& database, uint64_t number, uint64_t checksum) {
  return Statement(database, "INSERT OR REPLACE INTO acknowledgements VALUES (?, ?)")
      .Bind(Signed(number))
      .Bind(Signed(ChecksumOfAcknowledgement(number, checksum)))
      .Run();
}

absl::Status ForgetOldRows(const Database& database, int64_t kept) {
  const absl::Status status =
      Statement(database,
                "DELETE FROM generations WHERE number NOT IN "
                "(SELECT number FROM generations ORDER BY number DESC LIMIT ?) AND number IS NOT "
                "(SELECT max(number) FROM generations JOIN acknowledgements USING (number))")
          .Bind(kept)
          .Run();
  if (!status.ok()) return status;
  return database.Execute(
      "DELETE FROM acknowledgements WHERE number NOT IN (SELECT number FROM generations)");
}

}  // namespace penstock::store

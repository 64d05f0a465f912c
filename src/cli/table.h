// Aligned columns for people.

#ifndef PENSTOCK_CLI_TABLE_H_
#define PENSTOCK_CLI_TABLE_H_

#include <string>
#include <vector>

namespace penstock::cli {

struct Column {
  std::string title;
  bool right = false;  // as numbers are
};

[[nodiscard]] inline Column Left(std::string title) {
  return {std::move(title), false};
}
[[nodiscard]] inline Column Right(std::string title) {
  return {std::move(title), true};
}

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // REQUIRES: one cell a column.
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // Title line and rows, each ending with a newline and without trailing blanks.
  [[nodiscard]] std::string Print() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace penstock::cli

#endif  // PENSTOCK_CLI_TABLE_H_

#include "cli/table.h"

#include <algorithm>
#include <cstddef>

namespace penstock::cli {
namespace {

// Characters, not bytes: continuation bytes of UTF-8 take no room.
std::size_t Width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

void AppendCell(const std::string& cell, std::size_t width, bool right, std::string& line) {
  const std::string padding(width - Width(cell), ' ');
  if (!line.empty()) line += "  ";
  line += right ? padding + cell : cell + padding;
}

}  // namespace

std::string Table::Print() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = Width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, Width(row[c]));
    widths.push_back(width);
  }
  std::string text;
  const auto append_line = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      AppendCell(cell_of(c), widths[c], columns_[c].right, line);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  append_line([&](std::size_t c) -> const std::string& { return columns_[c].title; });
  for (const auto& row : rows_) {
    append_line([&](std::size_t c) -> const std::string& { return row[c]; });
  }
  return text;
}

}  // namespace penstock::cli

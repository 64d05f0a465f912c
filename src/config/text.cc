#include "config/text.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_format.h"

namespace penstock::config {
namespace {

constexpr std::size_t kShownBytes = 60;

uint32_t Byte(char c) {
  return static_cast<unsigned char>(c);
}

// Length of the sequence that a lead byte announces and the bits it carries itself.
struct Lead {
  std::size_t length;
  uint32_t bits;
  uint32_t smallest;  // below it the form is overlong
};

std::optional<Lead> ReadLead(uint32_t byte) {
  if (byte < 0x80) return Lead{1, byte, 0};
  if (byte >= 0xC2 && byte < 0xE0) return Lead{2, byte & 0x1F, 0x80};
  if (byte >= 0xE0 && byte < 0xF0) return Lead{3, byte & 0x0F, 0x800};
  if (byte >= 0xF0 && byte < 0xF5) return Lead{4, byte & 0x07, 0x10000};
  return std::nullopt;
}

void AppendEscaped(uint32_t code_point, std::string& out) {
  if (code_point == '\n') {
    out += "\\n";
  } else if (code_point == '\t') {
    out += "\\t";
  } else if (code_point <= 0xFF) {
    absl::StrAppendFormat(&out, "\\x%02x", code_point);
  } else {
    absl::StrAppendFormat(&out, "\\u%04x", code_point);
  }
}

std::string Escape(std::string_view text, bool quotes) {
  std::string out;
  while (!text.empty()) {
    const std::string_view before = text;
    const std::optional<uint32_t> code_point = TakeUtf8(text);
    if (!code_point) {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    } else if (IsUnprintable(*code_point)) {
      AppendEscaped(*code_point, out);
    } else {
      if (quotes && (*code_point == '"' || *code_point == '\\')) out += '\\';
      out += before.substr(0, before.size() - text.size());
    }
  }
  return out;
}

// Insertions, deletions, replacements and swaps of neighbours that make `a` into `b` (the "optimal
// string alignment" distance).
std::size_t Distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> cost((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return cost[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        at(i, j) = i + j;
        continue;
      }
      const std::size_t replace = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({replace, at(i - 1, j) + 1, at(i, j - 1) + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return cost.back();
}

}  // namespace

std::optional<uint32_t> TakeUtf8(std::string_view& rest) {
  if (rest.empty()) return std::nullopt;
  const std::optional<Lead> lead = ReadLead(Byte(rest[0]));
  if (!lead || rest.size() < lead->length) return std::nullopt;
  uint32_t code_point = lead->bits;
  for (std::size_t i = 1; i < lead->length; ++i) {
    if ((Byte(rest[i]) & 0xC0) != 0x80) return std::nullopt;
    code_point = (code_point << 6) | (Byte(rest[i]) & 0x3F);
  }
  const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
  if (code_point < lead->smallest || code_point > 0x10FFFF || surrogate) return std::nullopt;
  rest.remove_prefix(lead->length);
  return code_point;
}

bool IsUnprintable(uint32_t code_point) {
  if (code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0)) return true;
  // Line and paragraph separators, embeddings, overrides, isolates and the byte order mark.
  return (code_point >= 0x2028 && code_point <= 0x202E) ||
         (code_point >= 0x2066 && code_point <= 0x2069) || code_point == 0xFEFF;
}

std::string Quote(std::string_view text) {
  return Concat("\"", Escape(text, true), "\"");
}

std::string QuoteShort(std::string_view text) {
  if (text.size() <= kShownBytes) return Quote(text);
  std::string_view rest = text;
  // Whole characters only, so that the cut itself adds no replacement character.
  while (text.size() - rest.size() < kShownBytes) {
    if (!TakeUtf8(rest)) rest.remove_prefix(1);
  }
  return Quote(text.substr(0, text.size() - rest.size())) + "...";
}

std::string Printable(std::string_view text) {
  return Escape(text, false);
}

std::optional<std::string> Nearest(std::string_view text, const std::vector<std::string>& names) {
  constexpr std::size_t kFarthest = 2;
  if (text.size() > kShownBytes) return std::nullopt;
  std::optional<std::string> nearest;
  std::size_t best = kFarthest + 1;
  for (const std::string& name : names) {
    const std::size_t longer = std::max(name.size(), text.size());
    if (longer - std::min(name.size(), text.size()) > kFarthest) continue;
    const std::size_t distance = Distance(text, name);
    // With more than half of the letters changed it is another word, not a slip.
    if (distance >= best || distance * 2 > name.size()) continue;
    best = distance;
    nearest = name;
  }
  return nearest;
}

}  // namespace penstock::config

#include "cli/format.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

namespace penstock::cli {
namespace {

constexpr std::array<std::pair<std::string_view, int64_t>, 4> kUnits = {
    {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}}};
constexpr int64_t kMaxTimeout = 86'400'000;  // ms

}  // namespace

std::optional<std::chrono::milliseconds> ParseTimeout(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number <= 0 || number > kMaxTimeout) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const auto& [name, milliseconds] : kUnits) {
    if (unit != name || number > kMaxTimeout / milliseconds) continue;
    return std::chrono::milliseconds(number * milliseconds);
  }
  return std::nullopt;
}

std::string FormatDuration(const google::protobuf::Duration& duration) {
  const int64_t seconds = duration.seconds();
  if (seconds >= 86'400) return absl::StrCat(seconds / 86'400, "d", seconds / 3600 % 24, "h");
  if (seconds >= 3600) return absl::StrCat(seconds / 3600, "h", seconds / 60 % 60, "m");
  if (seconds >= 60) return absl::StrCat(seconds / 60, "m", seconds % 60, "s");
  if (seconds > 0) return absl::StrCat(seconds, "s");
  return absl::StrCat(duration.nanos() / 1'000'000, "ms");
}

std::string FormatPercent(double part) {
  return absl::StrFormat("%.1f%%", part * 100);
}

std::string FormatEnum(std::string_view name, std::string_view prefix) {
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  std::string text(name);
  absl::AsciiStrToLower(&text);
  return text;
}

std::string OrDash(const std::string& text) {
  return text.empty() ? "-" : text;
}

}  // namespace penstock::cli

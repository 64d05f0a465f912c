#include "config/duration.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "config/text.h"

namespace penstock::config {
namespace {

struct Unit {
  std::string_view name;
  int64_t nanoseconds;
};

constexpr std::array<Unit, 6> kUnits{{{"h", 3'600'000'000'000},
                                      {"m", 60'000'000'000},
                                      {"s", 1'000'000'000},
                                      {"ms", 1'000'000},
                                      {"us", 1'000},
                                      {"ns", 1}}};

// Takes leading digits off `text`.
std::optional<int64_t> TakeNumber(std::string_view& text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Takes leading letters off `text` and returns the index in kUnits.
std::optional<std::size_t> TakeUnit(std::string_view& text) {
  const std::size_t length = text.find_first_of("0123456789");
  const std::string_view name = text.substr(0, length);
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    if (kUnits[i].name != name) continue;
    text.remove_prefix(name.size());
    return i;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::chrono::nanoseconds> ParseDuration(std::string_view text) {
  int64_t total = 0;
  std::size_t next_unit = 0;
  do {
    const std::optional<int64_t> number = TakeNumber(text);
    if (!number) return std::nullopt;
    const std::optional<std::size_t> unit = TakeUnit(text);
    if (!unit || *unit < next_unit) return std::nullopt;
    int64_t part = 0;
    if (__builtin_mul_overflow(*number, kUnits[*unit].nanoseconds, &part) ||
        __builtin_add_overflow(total, part, &total)) {
      return std::nullopt;
    }
    next_unit = *unit + 1;
  } while (!text.empty());
  return std::chrono::nanoseconds(total);
}

std::string FormatDuration(std::chrono::nanoseconds duration) {
  if (duration.count() == 0) return "0s";
  std::string text;
  int64_t rest = duration.count();
  for (const Unit& unit : kUnits) {
    const int64_t number = rest / unit.nanoseconds;
    if (number == 0) continue;
    ConcatTo(text, number, unit.name);
    rest -= number * unit.nanoseconds;
  }
  return text;
}

}  // namespace penstock::config

// Durations as operators write them: "1h30m", "500ms", "0us".

#ifndef PENSTOCK_SRC_CONFIG_DURATION_H_
#define PENSTOCK_SRC_CONFIG_DURATION_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::config {

// One or more of NUMBER UNIT, with units h, m, s, ms, us, ns, each smaller than the one before;
// nullopt for anything else, signs, fractions and more than 292 years included.
[[nodiscard]] std::optional<std::chrono::nanoseconds> ParseDuration(std::string_view text);

// The shortest text that reads back as `duration`. REQUIRES: not negative.
[[nodiscard]] std::string FormatDuration(std::chrono::nanoseconds duration);

}  // namespace penstock::config

#endif  // PENSTOCK_SRC_CONFIG_DURATION_H_

// Numbers and times as people read them, and durations as they write them.

#ifndef PENSTOCK_CLI_FORMAT_H_
#define PENSTOCK_CLI_FORMAT_H_

#include <google/protobuf/duration.pb.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::cli {

// "10s", "500ms", "2m", "1h"; nullopt for anything else, for zero and for more than a day.
[[nodiscard]] std::optional<std::chrono::milliseconds> ParseTimeout(std::string_view text);
// "2d3h", "4m5s", "6s", "7ms": the two largest units.
[[nodiscard]] std::string FormatDuration(const google::protobuf::Duration& duration);
// 0.3333 as "33.3%".
[[nodiscard]] std::string FormatPercent(double part);
// "ADMIN_STATE_DRAINING" as "draining": the part behind the prefix.
[[nodiscard]] std::string FormatEnum(std::string_view name, std::string_view prefix);
// "-" for nothing, so that columns stay countable.
[[nodiscard]] std::string OrDash(const std::string& text);

}  // namespace penstock::cli

#endif  // PENSTOCK_CLI_FORMAT_H_

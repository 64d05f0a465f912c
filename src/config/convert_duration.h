// google.protobuf.Duration to and from std::chrono.

#ifndef PENSTOCK_SRC_CONFIG_CONVERT_DURATION_H_
#define PENSTOCK_SRC_CONFIG_CONVERT_DURATION_H_

#include <google/protobuf/duration.pb.h>

#include <chrono>
#include <optional>

namespace penstock::config {

// nullopt when `message` is negative, malformed or above 290 years.
[[nodiscard]] inline std::optional<std::chrono::nanoseconds> ReadDuration(
    const google::protobuf::Duration& message) {
  constexpr int64_t kMaxSeconds = int64_t{290} * 365 * 86400;
  if (message.seconds() < 0 || message.seconds() > kMaxSeconds) return std::nullopt;
  if (message.nanos() < 0 || message.nanos() > 999'999'999) return std::nullopt;
  return std::chrono::seconds(message.seconds()) + std::chrono::nanoseconds(message.nanos());
}

// Writes `message` into `duration`, counted in Unit; returns whether it is a whole number of them.
template <typename Unit>
[[nodiscard]] bool ReadWhole(const google::protobuf::Duration& message, Unit& duration) {
  const auto nanoseconds = ReadDuration(message);
  if (!nanoseconds) return false;
  duration = std::chrono::duration_cast<Unit>(*nanoseconds);
  return duration == *nanoseconds;
}

inline void WriteDuration(std::chrono::nanoseconds duration, google::protobuf::Duration& message) {
  message.set_seconds(duration.count() / 1'000'000'000);
  message.set_nanos(static_cast<int32_t>(duration.count() % 1'000'000'000));
}

}  // namespace penstock::config

#endif  // PENSTOCK_SRC_CONFIG_CONVERT_DURATION_H_

// Time as the packet path sees it: whole seconds since start, read once per burst.

#ifndef PENSTOCK_BASE_CLOCK_H_
#define PENSTOCK_BASE_CLOCK_H_

#include <chrono>
#include <cstdint>

namespace penstock::base {

// One tick is one second. Flow tables keep the low 16 bits of it.
using Tick = uint32_t;

inline constexpr std::chrono::seconds kTickLength{1};

// Monotonic time since the process started. Thread safety: any thread.
[[nodiscard]] std::chrono::nanoseconds SinceStart();

[[nodiscard]] constexpr Tick ToTick(std::chrono::nanoseconds since_start) {
  return static_cast<Tick>(since_start / kTickLength);
}

}  // namespace penstock::base

#endif  // PENSTOCK_BASE_CLOCK_H_

#include "penstock/base/clock.h"

namespace penstock::base {

std::chrono::nanoseconds SinceStart() {
  static const auto start = std::chrono::steady_clock::now();
  return std::chrono::steady_clock::now() - start;
}

}  // namespace penstock::base

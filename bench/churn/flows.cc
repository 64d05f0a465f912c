#include "bench/churn/flows.h"

namespace penstock::bench {
namespace {

constexpr double kShortLife = 30;  // seconds
constexpr double kLongLife = 600;
constexpr double kLongPart = 0.1;  // of the flows that begin
constexpr double kMeanLife = (1 - kLongPart) * kShortLife + kLongPart * kLongLife;
// At any time, of the flows that are there.
constexpr double kLongPresent = kLongPart * kLongLife / kMeanLife;

}  // namespace

FlowSource::FlowSource(uint32_t concurrent, uint32_t seed)
    : concurrent_(concurrent), random_(seed) {}

Flow FlowSource::NewFlow(uint32_t second, bool long_lived) {
  std::exponential_distribution<double> life(1 / (long_lived ? kLongLife : kShortLife));
  Flow flow;
  // 198.18.0.0/15 is for benchmarks (RFC 2544), and has room for 131,072 sources.
  flow.source = (198U << 24 | 18U << 16) + static_cast<uint32_t>(random_() % 131072);
  flow.port = static_cast<uint16_t>(1024 + random_() % 64000);
  flow.end = second + 1 + static_cast<uint32_t>(life(random_));
  return flow;
}

std::vector<Flow> FlowSource::Begin(uint32_t second) {
  std::vector<Flow> flows;
  std::uniform_real_distribution<double> chance(0, 1);
  if (second == 0) {
    for (uint32_t i = 0; i < concurrent_; ++i) {
      flows.push_back(NewFlow(second, chance(random_) < kLongPresent));
    }
    return flows;
  }
  owed_ += concurrent_ / kMeanLife;
  for (; owed_ >= 1; owed_ -= 1) flows.push_back(NewFlow(second, chance(random_) < kLongPart));
  return flows;
}

Packet FlowSource::RandomSyn() {
  const uint64_t random = random_();
  return {.source = 100U << 24 | 64U << 16 | static_cast<uint32_t>(random & 0x3FFFFF),
          .port = static_cast<uint16_t>(random >> 32),
          .syn = true};
}

}  // namespace penstock::bench

// Connections of clients: when they begin and end, and when they send.

#ifndef PENSTOCK_BENCH_CHURN_FLOWS_H_
#define PENSTOCK_BENCH_CHURN_FLOWS_H_

#include <cstdint>
#include <random>
#include <vector>

#include "bench/churn/rule.h"

namespace penstock::bench {

struct Flow {
  uint32_t source = 0;
  uint16_t port = 0;
  uint32_t end = 0;  // second of its last packet, a FIN
};

// Nine in ten live for half a minute on average, the others for ten minutes; both exponentially.
// Each sends a packet every 1 to 20 seconds. From the first second on there are as many as later.
class FlowSource {
 public:
  FlowSource(uint32_t concurrent, uint32_t seed);

  // Flows that begin in this second; more in the first one, which is full at once.
  [[nodiscard]] std::vector<Flow> Begin(uint32_t second);
  // Seconds until a flow's next packet.
  [[nodiscard]] uint32_t Gap() { return 1 + static_cast<uint32_t>(random_() % 20); }
  // Of a source that nobody else uses, as in a flood.
  [[nodiscard]] Packet RandomSyn();

 private:
  [[nodiscard]] Flow NewFlow(uint32_t second, bool long_lived);

  const uint32_t concurrent_;
  std::mt19937_64 random_;
  double owed_ = 0;  // parts of a flow that the seconds so far have left
};

}  // namespace penstock::bench

#endif  // PENSTOCK_BENCH_CHURN_FLOWS_H_

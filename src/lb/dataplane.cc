#include "penstock/lb/dataplane.h"

namespace penstock::lb {

WorkerPort SumOf(const PortCounters& counters) {
  WorkerPort sum;
  sum.received = counters.received_packets.Read();
  sum.transmitted = counters.transmitted_packets.Read();
  for (const VerdictInfo& info : kVerdicts) {
    const uint64_t packets = counters.verdicts[static_cast<std::size_t>(info.verdict)].Read();
    switch (info.kind) {
      case VerdictKind::kForwarded:
        sum.forwarded += packets;
        break;
      case VerdictKind::kAnswered:
        sum.answered += packets;
        break;
      case VerdictKind::kHeld:
        sum.held += packets;
        break;
      case VerdictKind::kDropped:
        sum.dropped += packets;
        break;
    }
  }
  return sum;
}

}  // namespace penstock::lb

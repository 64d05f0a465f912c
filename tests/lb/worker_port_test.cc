#include <gtest/gtest.h>

#include "penstock/lb/dataplane.h"

namespace penstock::lb {
namespace {

TEST(WorkerPort, SumsVerdictsByKind) {
  PortCounters counters;
  uint64_t all = 0;
  uint64_t forwarded = 0;
  uint64_t held = 0;
  uint64_t dropped = 0;
  // Powers of two: each sum can come from one set of verdicts only.
  for (const VerdictInfo& info : kVerdicts) {
    const uint64_t packets = uint64_t{1} << static_cast<unsigned>(info.verdict);
    counters.Count(info.verdict, packets);
    counters.received_packets.Add(packets);
    all += packets;
    if (info.name == "forwarded") forwarded += packets;
    if (info.name == "held") held += packets;
    if (info.name.starts_with("drop_")) dropped += packets;
  }
  counters.transmitted_packets.Add(7);
  const WorkerPort sum = SumOf(counters);
  EXPECT_EQ(sum.received, all);
  EXPECT_EQ(sum.forwarded, forwarded);
  EXPECT_EQ(sum.dropped, dropped);
  EXPECT_EQ(sum.held, held);
  EXPECT_EQ(sum.answered, all - forwarded - held - dropped);
  EXPECT_EQ(sum.transmitted, 7U);
}

static_assert(kVerdictCount <= 64);

}  // namespace
}  // namespace penstock::lb

// The frames that bring about each verdict, and the services that they meet.

#ifndef PENSTOCK_TESTS_DPDK_LEAK_CASES_H_
#define PENSTOCK_TESTS_DPDK_LEAK_CASES_H_

#include <array>
#include <functional>
#include <map>
#include <memory>

#include "penstock/lb/service_table.h"
#include "penstock/lb/verdict.h"
#include "tests/support/frame.h"

namespace penstock::dpdk {

inline constexpr std::size_t kLeakPools = 3;
// TCP payload of a packet of 1500 bytes.
inline constexpr std::size_t kFull = 1460;

// Makes a frame of its number; each number's may be of another flow.
using MakeFrame = std::function<testing::Bytes(unsigned number)>;

// By the verdict that the frame gets at port 0 of a RingRig that runs LeakServices. Those verdicts
// are not in it that need more than a frame.
[[nodiscard]] std::map<lb::Verdict, MakeFrame> LeakCases();

[[nodiscard]] std::shared_ptr<const lb::ServiceTable> LeakServices(
    std::array<lb::BackendCounters, kLeakPools>& counters);

}  // namespace penstock::dpdk

#endif  // PENSTOCK_TESTS_DPDK_LEAK_CASES_H_

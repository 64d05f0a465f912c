// Counts what a test program allocates. Link counting_new.cc, which replaces operator new.

#ifndef PENSTOCK_TESTS_SUPPORT_COUNTING_NEW_H_
#define PENSTOCK_TESTS_SUPPORT_COUNTING_NEW_H_

#include <cstdint>

namespace penstock::testing {

// Calls of operator new since the start. Thread safety: any.
[[nodiscard]] uint64_t Allocations();

}  // namespace penstock::testing

#endif  // PENSTOCK_TESTS_SUPPORT_COUNTING_NEW_H_

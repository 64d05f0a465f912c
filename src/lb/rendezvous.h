// Weighted rendezvous hashing in integers, equal on every host.

#ifndef PENSTOCK_LB_RENDEZVOUS_H_
#define PENSTOCK_LB_RENDEZVOUS_H_

#include <cstdint>

namespace penstock::lb {

// -log2(u / 2^64) in units of 2^-32, from a table with linear interpolation: at most 2^-21 off, and
// 0.1 % of the value. 0 counts as 1.
[[nodiscard]] uint64_t NegativeLog2(uint64_t u);

// A candidate's bid: the one with the smallest ratio of log to weight wins, with a probability in
// proportion to its weight (Schindelhauer and Schomaker, SPAA 2005, the logarithmic method).
struct Bid {
  uint64_t log = uint64_t{64} << 32;
  uint32_t weight = 1;  // at most 2^16, so that the products fit

  // True if this bid beats `other`; equal ones do not, so that the first of a list stays.
  [[nodiscard]] bool Beats(const Bid& other) const {
    return log * other.weight < other.log * weight;
  }
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_RENDEZVOUS_H_

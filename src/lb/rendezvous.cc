#include "lb/rendezvous.h"

#include <array>
#include <bit>

namespace penstock::lb {
namespace {

constexpr int kTableBits = 10;
constexpr int kFractionBits = 32;

// log2 of x / 2^31 for x in [2^31, 2^32), in units of 2^-32, bit by bit: squaring doubles the
// logarithm, and each overflow past 2 is the next bit. Integers only: no host rounds differently.
constexpr uint64_t Log2Fraction(uint64_t x) {
  uint64_t result = 0;
  for (int bit = 0; bit < kFractionBits; ++bit) {
    x = (x * x) >> 31;
    result <<= 1;
    if (x >= uint64_t{1} << 32) {
      result |= 1;
      x >>= 1;
    }
  }
  return result;
}

// log2(1 + i / 1024). The last entry is log2(2): the end of the last interval.
constexpr std::array<uint64_t, (1 << kTableBits) + 1> kLog2Table = [] {
  std::array<uint64_t, (1 << kTableBits) + 1> table{};
  for (std::size_t i = 0; i + 1 < table.size(); ++i) {
    table[i] = Log2Fraction((uint64_t{1} << 31) | i << (31 - kTableBits));
  }
  table.back() = uint64_t{1} << kFractionBits;
  return table;
}();

}  // namespace

uint64_t NegativeLog2(uint64_t u) {
  if (u == 0) u = 1;
  const int zeros = std::countl_zero(u);
  const uint64_t fraction = (u << zeros) << 1;  // the bits behind the leading one
  const uint64_t index = fraction >> (64 - kTableBits);
  const uint64_t rest = fraction << kTableBits >> 32;  // within the interval, in units of 2^-32
  const uint64_t low = kLog2Table[index];
  const uint64_t log = low + ((kLog2Table[index + 1] - low) * rest >> 32);
  return (static_cast<uint64_t>(zeros + 1) << kFractionBits) - log;
}

}  // namespace penstock::lb

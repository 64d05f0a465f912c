#include "lb/rendezvous.h"

#include <array>
#include <bit>

namespace penstock::lb {
namespace {

constexpr int kTableBits = 10;
constexpr int kFractionBits = 16;

// log2 of x / 2^31 for x in [2^31, 2^32), in units of 2^-16, bit by bit: squaring doubles the
// logarithm, and each overflow past 2 is the next bit. Integers only: no host rounds differently.
constexpr uint32_t Log2Fraction(uint64_t x) {
  uint32_t result = 0;
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

constexpr std::array<uint32_t, 1 << kTableBits> kLog2Table = [] {
  std::array<uint32_t, 1 << kTableBits> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    // The middle of the interval that shares these leading bits.
    table[i] = Log2Fraction((uint64_t{1} << 31) | (2 * i + 1) << (30 - kTableBits));
  }
  return table;
}();

}  // namespace

uint32_t NegativeLog2(uint64_t u) {
  if (u == 0) u = 1;
  const int zeros = std::countl_zero(u);
  const uint64_t mantissa = (u << zeros) << 1 >> (64 - kTableBits);
  const uint32_t whole = static_cast<uint32_t>(zeros + 1) << kFractionBits;
  return whole - kLog2Table[mantissa];
}

}  // namespace penstock::lb

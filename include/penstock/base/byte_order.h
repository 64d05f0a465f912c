// Big-endian integers as types of their own: a missing conversion does not compile.

#ifndef PENSTOCK_BASE_BYTE_ORDER_H_
#define PENSTOCK_BASE_BYTE_ORDER_H_

#include <array>
#include <bit>
#include <cstdint>

namespace penstock::base {

constexpr uint8_t SwapBytes(uint8_t v) {
  return v;
}
constexpr uint16_t SwapBytes(uint16_t v) {
  return __builtin_bswap16(v);
}
constexpr uint32_t SwapBytes(uint32_t v) {
  return __builtin_bswap32(v);
}
constexpr uint64_t SwapBytes(uint64_t v) {
  return __builtin_bswap64(v);
}

// An unsigned integer in network byte order, laid out as on the wire and aligned to one byte, so
// that headers made of these need no packing. `value()` is the host-order number, `raw()` the bytes
// as they lie in memory (for hashing and equality, never arithmetic).
template <typename T>
class BigEndian {
 public:
  constexpr BigEndian() = default;
  constexpr explicit BigEndian(T host) : bytes_(std::bit_cast<Bytes>(Convert(host))) {}

  [[nodiscard]] static constexpr BigEndian FromRaw(T raw) {
    BigEndian v;
    v.bytes_ = std::bit_cast<Bytes>(raw);
    return v;
  }
  [[nodiscard]] constexpr T value() const { return Convert(raw()); }
  [[nodiscard]] constexpr T raw() const { return std::bit_cast<T>(bytes_); }

  friend constexpr bool operator==(BigEndian, BigEndian) = default;

 private:
  using Bytes = std::array<uint8_t, sizeof(T)>;
  static constexpr T Convert(T v) {
    return std::endian::native == std::endian::little ? SwapBytes(v) : v;
  }
  Bytes bytes_{};
};

using be16_t = BigEndian<uint16_t>;
using be32_t = BigEndian<uint32_t>;

}  // namespace penstock::base

#endif  // PENSTOCK_BASE_BYTE_ORDER_H_

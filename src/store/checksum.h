// CRC-64/XZ: tells damage on disk. It is no protection against somebody who writes on purpose.

#ifndef PENSTOCK_SRC_STORE_CHECKSUM_H_
#define PENSTOCK_SRC_STORE_CHECKSUM_H_

#include <cstdint>
#include <string_view>

namespace penstock::store {

// ECMA-182's polynomial, reflected, as in the .xz file format (section 6); of "123456789" it is
// 0x995DC9BBDF1939FA.
class Checksum {
 public:
  void Add(std::string_view bytes);
  // The number's 8 bytes, lowest first.
  void Add(uint64_t number);
  // Its length and its bytes: two texts in a row cannot be taken for two others.
  void AddText(std::string_view text);
  [[nodiscard]] uint64_t value() const { return ~state_; }

 private:
  uint64_t state_ = ~uint64_t{0};
};

}  // namespace penstock::store

#endif  // PENSTOCK_SRC_STORE_CHECKSUM_H_

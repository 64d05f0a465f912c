#include "store/checksum.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace penstock::store {
namespace {

constexpr uint64_t kPolynomial = 0xC96C5795D7870F42;  // reflected

// kTables[k][b]: what byte b does to the checksum once k more bytes have followed it. Eight bytes
// are taken at a time, each by its table.
using Tables = std::array<std::array<uint64_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (uint64_t byte = 0; byte < 256; ++byte) {
    uint64_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = value;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const uint64_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

}  // namespace

void Checksum::Add(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t state = state_;
  while (bytes.size() >= 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    word ^= state;
    state = 0;
    for (std::size_t i = 0; i < 8; ++i) state ^= kTables[7 - i][(word >> (8 * i)) & 0xFF];
    bytes.remove_prefix(8);
  }
  for (const char byte : bytes) {
    state = (state >> 8) ^ kTables[0][(state ^ static_cast<uint8_t>(byte)) & 0xFF];
  }
  state_ = state;
}

void Checksum::Add(uint64_t number) {
  std::array<char, sizeof(number)> bytes;
  std::memcpy(bytes.data(), &number, sizeof(number));
  Add(std::string_view(bytes.data(), bytes.size()));
}

void Checksum::AddText(std::string_view text) {
  Add(uint64_t{text.size()});
  Add(text);
}

}  // namespace penstock::store

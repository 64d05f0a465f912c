#include "store/checksum.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock::store {
namespace {

uint64_t ChecksumOf(std::string_view bytes) {
  Checksum sum;
  sum.Add(bytes);
  return sum.value();
}

// The definition, bit by bit.
uint64_t SlowChecksumOf(std::string_view bytes) {
  uint64_t state = ~uint64_t{0};
  for (const char byte : bytes) {
    state ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      state = (state >> 1) ^ ((state & 1) != 0 ? 0xC96C5795D7870F42 : 0);
    }
  }
  return ~state;
}

TEST(Checksum, IsCrc64OfXz) {
  EXPECT_EQ(ChecksumOf("123456789"), 0x995DC9BBDF1939FA);  // the catalogue's check value
  EXPECT_EQ(ChecksumOf(""), 0U);
}

TEST(Checksum, AllLengthsAndPieces) {
  std::string bytes;
  for (int i = 0; i < 40; ++i) {
    bytes += static_cast<char>(i * 37 + 11);
    EXPECT_EQ(ChecksumOf(bytes), SlowChecksumOf(bytes)) << bytes.size();
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
      Checksum sum;
      sum.Add(std::string_view(bytes).substr(0, cut));
      sum.Add(std::string_view(bytes).substr(cut));
      EXPECT_EQ(sum.value(), ChecksumOf(bytes)) << bytes.size() << " cut at " << cut;
    }
  }
}

TEST(Checksum, TextsInARowAreToldApart) {
  Checksum one;
  one.AddText("ab");
  one.AddText("c");
  Checksum other;
  other.AddText("a");
  other.AddText("bc");
  EXPECT_NE(one.value(), other.value());
}

}  // namespace
}  // namespace penstock::store

#include "penstock/net/checksum.h"

#include <gtest/gtest.h>

#include <vector>

namespace penstock::net {
namespace {

TEST(Checksum, MatchesTheExampleOfRfc1071) {
  // Section 3: the words 0001 f203 f4f5 f6f7 sum to ddf2.
  const std::vector<uint8_t> bytes = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  EXPECT_EQ(FoldChecksum(SumBytes(bytes)).value(), static_cast<uint16_t>(~0xddf2));
}

TEST(Checksum, OddLastByteIsTheHighHalfOfAWord) {
  const std::vector<uint8_t> odd = {0x12, 0x34, 0x56};
  const std::vector<uint8_t> padded = {0x12, 0x34, 0x56, 0x00};
  EXPECT_EQ(FoldChecksum(SumBytes(odd)), FoldChecksum(SumBytes(padded)));
}

TEST(Checksum, HoldsForAHeaderAndNotForAnyFlippedBit) {
  // A header captured from a real exchange (checksum b861, known good).
  std::vector<uint8_t> header = {0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
                                 0xb8, 0x61, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7};
  EXPECT_TRUE(Ipv4ChecksumHolds(header));
  EXPECT_EQ(Ipv4Checksum(Load<Ipv4Header>(header.data())).value(), 0xb861);
  for (std::size_t bit = 0; bit < header.size() * 8; ++bit) {
    header[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_FALSE(Ipv4ChecksumHolds(header)) << "bit " << bit;
    header[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
}

}  // namespace
}  // namespace penstock::net

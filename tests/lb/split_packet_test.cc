#include "lb/split_packet.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/frame.h"

namespace penstock::lb {
namespace {

using testing::Bytes;
using testing::PacketSpec;

std::vector<Bytes> Split(Bytes packet, std::size_t room) {
  SplitPacket split(packet, room);
  std::vector<Bytes> fragments(1);
  for (std::size_t n = 1; n < split.count(); ++n) {
    fragments.emplace_back(split.SizeOf(n));
    split.Write(n, fragments.back().data());
  }
  split.CutFirst();
  fragments[0].assign(packet.begin(), packet.begin() + static_cast<long>(split.SizeOf(0)));
  return fragments;
}

// RFC 791 section 3.2 as a receiver carries it out.
Bytes Reassemble(const std::vector<Bytes>& fragments, std::size_t room) {
  Bytes payload;
  for (std::size_t n = 0; n < fragments.size(); ++n) {
    const Bytes& f = fragments[n];
    const auto ip = net::Load<net::Ipv4Header>(f.data());
    const std::size_t header = (ip.version_ihl & 0xFU) * 4U;
    EXPECT_LE(f.size(), room);
    EXPECT_EQ(ip.total_length.value(), f.size());
    EXPECT_TRUE(net::Ipv4ChecksumHolds({f.data(), header}));
    EXPECT_EQ(ip.id.value(), 0x1234);
    EXPECT_EQ((ip.fragment.value() & net::kIpv4OffsetMask) * 8U, payload.size());
    const bool last = n + 1 == fragments.size();
    EXPECT_EQ((ip.fragment.value() & net::kIpv4MoreFragments) == 0, last);
    // Expect: as few fragments as can be.
    EXPECT_TRUE(last || f.size() + 8 > room);
    payload.insert(payload.end(), f.begin() + static_cast<long>(header), f.end());
  }
  return payload;
}

TEST(SplitPacket, FragmentsMakeUpThePacket) {
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    PacketSpec spec;
    spec.payload = 1200 + random() % 8000;
    spec.tos = static_cast<uint8_t>(random());
    if (random() % 2 == 0) spec.options = {0x83, 7, 4, 10, 0, 0, 1, 1, 0x44, 4, 5, 0};
    const Bytes packet = testing::Ipv4Packet(spec);
    const std::size_t room = 128 + random() % (packet.size() - 128);
    const std::size_t header = 20 + spec.options.size();
    ASSERT_EQ(Reassemble(Split(packet, room), room),
              Bytes(packet.begin() + static_cast<long>(header), packet.end()));
  }
}

// The source route has the copied flag, the time stamp has not.
TEST(SplitPacket, OnlyCopiedOptionsGoIntoLaterFragments) {
  PacketSpec spec;
  spec.payload = 3000;
  spec.options = {0x44, 4, 5, 0, 1, 0x83, 3, 4, 0, 0, 0, 0};
  const auto fragments = Split(testing::Ipv4Packet(spec), 1480);
  ASSERT_EQ(fragments.size(), 3U);
  EXPECT_EQ(fragments[0][0], 0x48);
  EXPECT_EQ(Bytes(fragments[0].begin() + 20, fragments[0].begin() + 32), spec.options);
  for (const std::size_t n : {1U, 2U}) {
    EXPECT_EQ(fragments[n][0], 0x46);
    EXPECT_EQ(Bytes(fragments[n].begin() + 20, fragments[n].begin() + 24), (Bytes{0x83, 3, 4, 0}));
  }
}

TEST(SplitPacket, OptionsThatLieAboutTheirLengthEndTheList) {
  for (const Bytes& options :
       {Bytes{0x83, 0, 4, 0}, Bytes{0x83, 1, 4, 0}, Bytes{0x83, 9, 4, 0}, Bytes{1, 1, 1, 0x83}}) {
    PacketSpec spec;
    spec.payload = 3000;
    spec.options = options;
    EXPECT_EQ(Split(testing::Ipv4Packet(spec), 1480)[1][0], 0x45);
  }
}

}  // namespace
}  // namespace penstock::lb

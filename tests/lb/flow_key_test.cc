#include "penstock/lb/flow_key.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace penstock::lb {
namespace {

FlowKey4 Key4(uint32_t source, uint32_t destination, uint16_t sport, uint16_t dport) {
  return {.source = base::be32_t(source).raw(),
          .destination = base::be32_t(destination).raw(),
          .source_port = base::be16_t(sport),
          .destination_port = base::be16_t(dport),
          .service = ServiceAndProtocol::Of(7, 6)};
}

FlowKey6 Key6(uint32_t low, uint16_t sport) {
  FlowKey6 key;
  key.source = {0x20, 1, 0xd, 0xb8};
  std::memcpy(&key.source[12], &low, 4);
  key.destination = {0x20, 1, 0xd, 0xb8, 0, 0x53, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10};
  key.source_port = base::be16_t(sport);
  key.destination_port = base::be16_t(80);
  key.service = ServiceAndProtocol::Of(7, 6);
  return key;
}

const HashKey& Secret() {
  static const HashKey key = HashKey::FromSeed("test");
  return key;
}

TEST(HashKey, SameSeedSameKeyOtherSeedOtherKey) {
  EXPECT_EQ(HashKey::FromSeed("fleet"), HashKey::FromSeed("fleet"));
  std::set<uint64_t> words;
  for (const char* seed : {"", "a", "b", "fleet", "fleet ", "Fleet"}) {
    for (const uint64_t w : HashKey::FromSeed(seed).words) words.insert(w);
  }
  EXPECT_EQ(words.size(), 36U);
}

// The wire values are pinned: hosts of one fleet may run different builds.
TEST(FlowHash, ValuesAreTheSameInEveryBuild) {
  EXPECT_EQ(HashFlow(Key4(0x0A000001, 0xCB00710A, 40000, 80), Secret()).bits, 0xF1748BB5678F4058);
  EXPECT_EQ(HashFlow(Key6(1, 40000), Secret()).bits, 0xA9403EB6D6C7C2C6);
}

TEST(FlowHash, ServiceIdHasNoPart) {
  FlowKey4 a = Key4(1, 2, 3, 4);
  FlowKey4 b = a;
  b.service = ServiceAndProtocol::Of(8, 6);
  EXPECT_EQ(HashFlow(a, Secret()), HashFlow(b, Secret()));
  b.service = ServiceAndProtocol::Of(7, 17);
  EXPECT_NE(HashFlow(a, Secret()), HashFlow(b, Secret()));
}

TEST(FlowHash, EveryFieldCounts) {
  const FlowKey4 base = Key4(1, 2, 3, 4);
  std::set<uint64_t> seen = {HashFlow(base, Secret()).bits};
  for (const FlowKey4& k :
       {Key4(2, 2, 3, 4), Key4(1, 3, 3, 4), Key4(1, 2, 4, 4), Key4(1, 2, 3, 5)}) {
    EXPECT_TRUE(seen.insert(HashFlow(k, Secret()).bits).second);
  }
}

TEST(SlotBits, KindsLookAtTheirFieldsOnly) {
  const FlowKey4 a = Key4(1, 2, 3, 4);
  const auto bits = [&](const FlowKey4& k, SlotHash kind) {
    return SlotBits(k, HashFlow(k, Secret()), kind, Secret());
  };
  EXPECT_EQ(bits(a, SlotHash::kSourceAddress), bits(Key4(1, 2, 9, 9), SlotHash::kSourceAddress));
  EXPECT_NE(bits(a, SlotHash::kSourceAddress), bits(Key4(5, 2, 3, 4), SlotHash::kSourceAddress));
  EXPECT_NE(bits(a, SlotHash::kSourceAddress), bits(Key4(1, 5, 3, 4), SlotHash::kSourceAddress));
  EXPECT_EQ(bits(a, SlotHash::kSourceAddressPort),
            bits(Key4(1, 2, 3, 9), SlotHash::kSourceAddressPort));
  EXPECT_NE(bits(a, SlotHash::kSourceAddressPort),
            bits(Key4(1, 2, 9, 4), SlotHash::kSourceAddressPort));
  EXPECT_NE(bits(a, SlotHash::kFiveTuple), bits(Key4(1, 2, 3, 9), SlotHash::kFiveTuple));
}

// Chi-square over 256 cells of one part of the hash, as a z value: |z| < 5 for a good hash.
double UniformityZ(int keys, const std::function<uint64_t(int)>& hash, int shift) {
  std::vector<double> cells(256);
  for (int i = 0; i < keys; ++i) cells[hash(i) >> shift & 255] += 1;
  const double expected = keys / 256.0;
  double chi = 0;
  for (const double c : cells) chi += (c - expected) * (c - expected) / expected;
  return (chi - 255) / std::sqrt(2 * 255.0);
}

TEST(FlowHash, StructuredKeysSpreadEvenlyInEveryPart) {
  const std::vector<std::pair<std::string, std::function<uint64_t(int)>>> families = {
      {"ports in turn",
       [](int i) {
         return HashFlow(Key4(0x0A000001, 0xCB00710A, static_cast<uint16_t>(i), 80), Secret()).bits;
       }},
      {"addresses in turn",
       [](int i) {
         return HashFlow(Key4(static_cast<uint32_t>(i), 0xCB00710A, 40000, 80), Secret()).bits;
       }},
      {"addresses by 256",
       [](int i) {
         return HashFlow(Key4(static_cast<uint32_t>(i) << 8, 0xCB00710A, 40000, 80), Secret()).bits;
       }},
      {"addresses and ports",
       [](int i) {
         return HashFlow(Key4(static_cast<uint32_t>(i / 256), 0xCB00710A,
                              static_cast<uint16_t>(i % 256 * 256), 80),
                         Secret())
             .bits;
       }},
      {"IPv6 hosts in turn",
       [](int i) {
         return HashFlow(Key6(base::SwapBytes(static_cast<uint32_t>(i)), 40000), Secret()).bits;
       }},
      {"IPv6 ports in turn",
       [](int i) { return HashFlow(Key6(1, static_cast<uint16_t>(i)), Secret()).bits; }},
  };
  for (const auto& [name, hash] : families) {
    for (const int shift : {0, 8, 16, 24, 32, 40, 48, 56}) {
      EXPECT_LT(std::abs(UniformityZ(65536, hash, shift)), 5) << name << ", bits from " << shift;
    }
  }
}

}  // namespace
}  // namespace penstock::lb

#include "config/address_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "config/prefix.h"

namespace penstock::config {
namespace {

// Among few addresses and many lengths, so that prefixes meet often.
class RandomPrefixes {
 public:
  net::IpPrefix Next() {
    net::IpPrefix prefix;
    prefix.address = NextAddress();
    prefix.length =
        static_cast<uint8_t>(random_() % static_cast<unsigned>(Bits(prefix.address) + 1));
    if (random_() % 4 != 0) prefix.length = std::max<uint8_t>(prefix.length, 20);
    prefix.address = FirstAddress(prefix);
    return prefix;
  }

  net::IpAddress NextAddress() {
    net::IpAddress address;
    if (random_() % 2 == 0) address.family = net::Family::kIpv6;
    for (int i = 0; i < address.size(); ++i) {
      const auto dice = random_() % 8;
      address.bytes[static_cast<std::size_t>(i)] = static_cast<uint8_t>(dice < 6    ? 0x80
                                                                        : dice == 6 ? 0xFF
                                                                                    : random_());
    }
    return address;
  }

 private:
  std::mt19937 random_{7};
};

TEST(Prefixes, FirstAndLast) {
  const auto parse = [](const char* text) { return *net::IpPrefix::Parse(text); };
  EXPECT_EQ(LastAddress(parse("203.0.113.5/28")).ToString(), "203.0.113.15");
  EXPECT_EQ(FirstAddress(parse("203.0.113.5/28")).ToString(), "203.0.113.0");
  EXPECT_EQ(LastAddress(parse("203.0.113.5")).ToString(), "203.0.113.5");
  EXPECT_EQ(LastAddress(parse("0.0.0.0/0")).ToString(), "255.255.255.255");
  EXPECT_EQ(LastAddress(parse("128.0.0.0/1")).ToString(), "255.255.255.255");
  EXPECT_EQ(FirstAddress(parse("2001:db8:ffff::1/33")).ToString(), "2001:db8:8000::");
  EXPECT_EQ(PrefixText(parse("2001:db8::/127")), "2001:db8::/127");
  EXPECT_EQ(PrefixText(parse("2001:db8::1/128")), "2001:db8::1");
}

TEST(AddressIndex, SameAsEachForItself) {
  RandomPrefixes random;
  std::vector<AddressIndex::Entry> entries;
  for (std::size_t i = 0; i < 200; ++i) entries.push_back({random.NextAddress(), i, i + 1});
  const AddressIndex index(entries);
  std::size_t found = 0;
  for (int round = 0; round < 5000; ++round) {
    const net::IpPrefix prefix = random.Next();
    const auto within = index.Within(prefix);
    const auto expected = std::ranges::count_if(
        entries, [&](const AddressIndex::Entry& entry) { return prefix.Contains(entry.address); });
    ASSERT_EQ(std::ssize(within), expected) << prefix.ToString();
    for (const auto& entry : within) ASSERT_TRUE(prefix.Contains(entry.address));
    found += within.size();
  }
  EXPECT_GT(found, 100U);
}

TEST(PrefixIndex, SameAsEachForItself) {
  RandomPrefixes random;
  std::size_t hits = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<PrefixIndex::Entry> entries;
    for (std::size_t i = 0; i < 5; ++i) entries.push_back({random.Next(), i});
    const PrefixIndex index(entries);
    for (int question = 0; question < 5; ++question) {
      const net::IpPrefix prefix = random.Next();
      const auto* hit = index.FindIntersecting(prefix);
      const bool expected = std::ranges::any_of(
          entries, [&](const auto& entry) { return Intersect(entry.prefix, prefix); });
      ASSERT_EQ(hit != nullptr, expected) << prefix.ToString();
      ASSERT_TRUE(hit == nullptr || Intersect(hit->prefix, prefix));
      hits += expected ? 1 : 0;
      const net::IpAddress address = random.NextAddress();
      ASSERT_EQ(index.Holds(address), std::ranges::any_of(entries, [&](const auto& entry) {
                  return entry.prefix.Contains(address);
                }));
    }
  }
  // Expect: both answers were given.
  EXPECT_GT(hits, 1000U);
  EXPECT_LT(hits, 9000U);
}

}  // namespace
}  // namespace penstock::config

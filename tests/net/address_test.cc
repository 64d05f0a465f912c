#include "penstock/net/address.h"

#include <gtest/gtest.h>

namespace penstock::net {
namespace {

TEST(IpAddress, TextRoundTrips) {
  for (const char* text : {"203.0.113.10", "0.0.0.0", "255.255.255.255", "2001:db8:53::10", "::1",
                           "::", "fe80::1", "ff02::1:ff00:1"}) {
    const auto address = IpAddress::Parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->ToString(), text);
  }
}

TEST(IpAddress, RefusesWhatIsNoAddress) {
  for (const char* text : {"", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.4/24", " 1.2.3.4",
                           "1.2.3.4 ", "fe80::1%eth0", "2001:db8::/32", "g::1", "1.2.3.04x"}) {
    EXPECT_FALSE(IpAddress::Parse(text)) << text;
  }
  EXPECT_FALSE(IpAddress::Parse(std::string_view("1.2.3.4\0x", 9)));
}

TEST(IpAddress, OrderIsByFamilyThenBytes) {
  // Expect: the canonical order of backends, whatever order a file has them in.
  EXPECT_LT(*IpAddress::Parse("9.0.0.0"), *IpAddress::Parse("10.0.0.0"));
  EXPECT_LT(*IpAddress::Parse("255.255.255.255"), *IpAddress::Parse("::1"));
}

TEST(IpAddress, KnowsItsKinds) {
  EXPECT_TRUE(IpAddress::Parse("224.0.0.1")->IsMulticast());
  EXPECT_FALSE(IpAddress::Parse("223.255.255.255")->IsMulticast());
  EXPECT_TRUE(IpAddress::Parse("ff02::1")->IsMulticast());
  EXPECT_TRUE(IpAddress::Parse("127.3.4.5")->IsLoopback());
  EXPECT_TRUE(IpAddress::Parse("::1")->IsLoopback());
  EXPECT_FALSE(IpAddress::Parse("::2")->IsLoopback());
  EXPECT_TRUE(IpAddress::Parse("::")->IsUnspecified());
}

TEST(IpPrefix, ContainsItsNetworkOnly) {
  const auto prefix = IpPrefix::Parse("198.51.100.11/23");
  ASSERT_TRUE(prefix);
  EXPECT_TRUE(prefix->Contains(*IpAddress::Parse("198.51.101.255")));
  EXPECT_FALSE(prefix->Contains(*IpAddress::Parse("198.51.102.0")));
  EXPECT_FALSE(prefix->Contains(*IpAddress::Parse("2001:db8::1")));
  const auto v6 = IpPrefix::Parse("2001:db8:1::11/64");
  EXPECT_TRUE(v6->Contains(*IpAddress::Parse("2001:db8:1::ffff")));
  EXPECT_FALSE(v6->Contains(*IpAddress::Parse("2001:db8:1:1::1")));
  EXPECT_TRUE(IpPrefix::Parse("0.0.0.0/0")->Contains(*IpAddress::Parse("8.8.8.8")));
}

TEST(IpPrefix, RefusesWhatIsNoPrefix) {
  for (const char* text : {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/ 8", "::/129", "/8",
                           "10.0.0.0/8/8", "10.0.0.0/+8", "10.0.0.0/256"}) {
    EXPECT_FALSE(IpPrefix::Parse(text)) << text;
  }
}

TEST(MacAddress, TextRoundTripsAndRefuses) {
  EXPECT_EQ(MacAddress::Parse("02:0A:ff:00:00:01")->ToString(), "02:0a:ff:00:00:01");
  for (const char* text : {"", "02:00:00:00:00", "02:00:00:00:00:0g", "02-00-00-00-00-01",
                           "2:0:0:0:0:1", "02:00:00:00:00:01:", "02:00:00:00:00: 1"}) {
    EXPECT_FALSE(MacAddress::Parse(text)) << text;
  }
}

}  // namespace
}  // namespace penstock::net

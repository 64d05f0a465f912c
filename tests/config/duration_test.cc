#include "config/duration.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock::config {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

TEST(Duration, ReadsEveryUnit) {
  EXPECT_EQ(ParseDuration("5m"), nanoseconds(5min));
  EXPECT_EQ(ParseDuration("500ms"), nanoseconds(500ms));
  EXPECT_EQ(ParseDuration("0us"), nanoseconds(0));
  EXPECT_EQ(ParseDuration("1h30m"), nanoseconds(90min));
  EXPECT_EQ(ParseDuration("1h2m3s4ms5us6ns"), nanoseconds(1h + 2min + 3s + 4ms + 5us + 6ns));
}

TEST(Duration, RefusesTheRest) {
  // Expect: nothing is guessed, not even a unit for 0.
  for (const char* text :
       {"", "0", "5", "m", "-5m", "+5m", "1.5s", "5 m", "5M", "5min", "30m1h", "1h1h", "1s ", " 1s",
        "99999999999999999999h", "9223372036854775808ns", "2562048h", "0x1s", "1e3s"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

TEST(Duration, WritesTheShortestForm) {
  EXPECT_EQ(FormatDuration(0ns), "0s");
  EXPECT_EQ(FormatDuration(90min), "1h30m");
  EXPECT_EQ(FormatDuration(500ms), "500ms");
  EXPECT_EQ(FormatDuration(1s + 1ns), "1s1ns");
}

TEST(Duration, ReadsBackWhatItWrites) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const nanoseconds duration(static_cast<int64_t>(random() >> (1 + random() % 63)));
    EXPECT_EQ(ParseDuration(FormatDuration(duration)), duration);
  }
}

}  // namespace
}  // namespace penstock::config

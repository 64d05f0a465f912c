#include "penstock/lb/new_flow_limiter.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock::lb {
namespace {

constexpr uint64_t kSource = 0x1234'5678'9ABC'DEF0;

class NewFlowLimiterTest : public ::testing::Test {
 protected:
  int Allowed(NewFlowLimiter& limiter, const NewFlowRate& rate, int tries, base::Tick now,
              uint64_t source = kSource) {
    int allowed = 0;
    for (int i = 0; i < tries; ++i) allowed += limiter.Allow(rate, window_, source, now) ? 1 : 0;
    return allowed;
  }
  NewFlowWindow window_;
};

TEST_F(NewFlowLimiterTest, CountsInWholeSeconds) {
  NewFlowLimiter limiter(1);
  for (base::Tick now = 0; now < 3; ++now) {
    EXPECT_EQ(Allowed(limiter, {.total = 100}, 1000, now), 100);
    EXPECT_EQ(Allowed(limiter, {.total = 100}, 1000, now), 0);
  }
  for (base::Tick now = 3; now < 6; ++now) {
    EXPECT_EQ(Allowed(limiter, {.per_source = 7}, 1000, now), 7);
    EXPECT_EQ(Allowed(limiter, {.per_source = 7}, 1000, now), 0);
  }
}

TEST_F(NewFlowLimiterTest, EachWorkerHasItsShareRoundedUp) {
  NewFlowLimiter limiter(3);
  EXPECT_EQ(Allowed(limiter, {.total = 10}, 100, 1), 4);
  EXPECT_EQ(Allowed(limiter, {.total = 9}, 100, 2), 3);
  EXPECT_EQ(Allowed(limiter, {.per_source = 1}, 100, 3), 1);
  EXPECT_EQ(Allowed(limiter, {.total = UINT32_MAX}, 100, 4), 100);
}

TEST_F(NewFlowLimiterTest, ZeroIsNoLimit) {
  NewFlowLimiter limiter(2);
  EXPECT_EQ(Allowed(limiter, {.per_source = 0, .total = 0}, 100000, 1), 100000);
  EXPECT_FALSE(NewFlowRate{}.IsSet());
  EXPECT_TRUE((NewFlowRate{.per_source = 1}).IsSet());
  EXPECT_TRUE((NewFlowRate{.total = 1}).IsSet());
}

TEST_F(NewFlowLimiterTest, WhatASourceIsRefusedTakesNothingFromTheOthers) {
  NewFlowLimiter limiter(1);
  const NewFlowRate rate = {.per_source = 10, .total = 50};
  EXPECT_EQ(Allowed(limiter, rate, 1000, 1), 10);
  for (uint64_t other = 1; other <= 4; ++other) {
    EXPECT_EQ(Allowed(limiter, rate, 1000, 1, kSource + (other << 40)), 10);
  }
  EXPECT_EQ(Allowed(limiter, rate, 1000, 1, kSource + (5ULL << 40)), 0);
}

// Services have windows of their own: nobody's total is another's.
TEST_F(NewFlowLimiterTest, ServicesShareNothing) {
  NewFlowLimiter limiter(1);
  std::array<NewFlowWindow, 100> windows;
  for (NewFlowWindow& window : windows) {
    int allowed = 0;
    for (int i = 0; i < 100; ++i) {
      allowed += limiter.Allow({.total = 5}, window, kSource, 1) ? 1 : 0;
    }
    EXPECT_EQ(allowed, 5);
  }
}

// More sources than there is room for: nobody is refused for what others do, and one that goes on
// for long is still known among those that come once.
TEST_F(NewFlowLimiterTest, AFloodOfSourcesRefusesNobodyAndHidesNobodyForLong) {
  NewFlowLimiter limiter(1);
  std::mt19937_64 random(3);
  const NewFlowRate rate = {.per_source = 10};
  int greedy = 0;
  for (int i = 0; i < 200000; ++i) {
    ASSERT_TRUE(limiter.Allow(rate, window_, random(), 1));
    if (i % 100 == 0) greedy += limiter.Allow(rate, window_, kSource, 1) ? 1 : 0;
  }
  EXPECT_LE(greedy, 20);
}

TEST(NewFlowSource, IsAnAddressOfIpv4AndANetworkOfIpv6) {
  const HashKey secret = HashKey::FromSeed("a");
  FlowKey4 v4 = {.source = 1, .service = ServiceAndProtocol::Of(1, 6)};
  const uint64_t one = HashSource(v4, secret);
  v4.source_port = base::be16_t(7);
  v4.destination = 9;
  EXPECT_EQ(HashSource(v4, secret), one);
  EXPECT_NE(HashSource(v4, HashKey::FromSeed("b")), one);
  v4.source = 2;
  EXPECT_NE(HashSource(v4, secret), one);
  v4.source = 1;
  v4.service = ServiceAndProtocol::Of(2, 6);
  EXPECT_NE(HashSource(v4, secret), one);

  FlowKey6 v6 = {.service = ServiceAndProtocol::Of(1, 6)};
  const uint64_t network = HashSource(v6, secret);
  v6.source[8] = 1;
  v6.source[15] = 1;
  EXPECT_EQ(HashSource(v6, secret), network);
  v6.source[7] = 1;
  EXPECT_NE(HashSource(v6, secret), network);
}

}  // namespace
}  // namespace penstock::lb

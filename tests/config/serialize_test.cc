// What is kept on disk: there and back again, and bytes that are something else.

#include "penstock/config/serialize.h"

#include <absl/status/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "penstock/v1/stored_config.pb.h"
#include "tests/config/random_config.h"

namespace penstock::config {
namespace {

std::string MessageOf(std::string_view bytes) {
  const auto config = Deserialize(bytes);
  if (config.ok()) return "";
  EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(config.status().message());
}

// Every key with a value that is not its default, and each admin state.
ServicesConfig Full() {
  ServicesConfig config;
  config.hash.seed = "fleet-wide \"secret\" \xC3\xA9";
  Pool& pool = config.pools.emplace_back();
  pool.name = "web";
  pool.table_size = 101;
  pool.transition = std::chrono::seconds(7);
  pool.backends = {
      {.address = *net::IpAddress::Parse("10.0.0.1"),
       .weight = 0,
       .name = "web1",
       .labels = {{"rack", "r7"}, {"row", "12"}, {"a", ""}},
       .state = AdminState::kDraining},
      {.address = *net::IpAddress::Parse("2001:db8::1"), .state = AdminState::kDisabled},
      {.address = *net::IpAddress::Parse("10.0.0.2"), .state = AdminState::kActive},
      {.address = *net::IpAddress::Parse("10.0.0.3")}};
  Service& service = config.services.emplace_back();
  service.name = "dns";
  service.prefix = *net::IpPrefix::Parse("2001:db8:53::/64");
  service.protocol = Protocol::kUdp;
  service.ports = {{53, 53}, {8000, 8010}};
  service.pool = "web";
  service.encapsulation = Encapsulation::kGue;
  service.hash = HashKind::kSourceAddressPort;
  service.on_no_backend = OnNoBackend::kUseAll;
  service.idle_timeout = {.tcp = std::chrono::seconds(2), .udp = std::chrono::seconds(3)};
  service.icmp_echo = IcmpEcho::kForward;
  service.fragments = Fragments::kDrop;
  service.tracking = Tracking::kTransitionOnly;
  service.outer_source_prefix = *net::IpPrefix::Parse("198.51.100.0/25");
  service.gue_udp_checksum = GueUdpChecksum::kZero;
  service.deny = {*net::IpPrefix::Parse("2001:db8:bad::/48"),
                  *net::IpPrefix::Parse("2001:db8::bad")};
  service.rate_limit = {.per_source = 4, .total = 5};
  return config;
}

TEST(Serialize, ThereAndBackAgain) {
  const auto full = Deserialize(Serialize(Full()));
  ASSERT_TRUE(full.ok()) << full.status();
  EXPECT_EQ(*full, Full());
  const auto empty = Deserialize(Serialize(ServicesConfig{}));
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_EQ(*empty, ServicesConfig{});
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const ServicesConfig config = RandomConfig(seed).Make();
    const auto again = Deserialize(Serialize(config));
    ASSERT_TRUE(again.ok()) << again.status();
    ASSERT_EQ(*again, config) << seed;
  }
}

TEST(Serialize, EqualOnesGiveEqualBytes) {
  // Expect: labels are sorted, although a protobuf map has another order in each message.
  ServicesConfig config = Full();
  for (int i = 0; i < 60; ++i) {
    config.pools[0].backends[0].labels["l" + std::to_string(i)] = std::to_string(i);
  }
  const std::string bytes = Serialize(config);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(Serialize(config), bytes);
  EXPECT_LT(bytes.find("l10"), bytes.find("l11"));
  EXPECT_LT(bytes.find("l11"), bytes.find("l59"));
}

TEST(Serialize, KeysThatTheWriterDidNotKnow) {
  v1::StoredConfig message;
  message.mutable_config()->add_pools()->set_name("web");
  const auto config = Deserialize(message.SerializeAsString());
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->pools.at(0), (Pool{.name = "web"}));
}

TEST(Serialize, APartIsNotTheWhole) {
  const std::string bytes = Serialize(Full());
  // Expect: also where one of the inner fields ends.
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(MessageOf(std::string_view(bytes).substr(0, size)), "") << size;
  }
  EXPECT_EQ(MessageOf(""), "the stored configuration is damaged: it is empty");
  EXPECT_EQ(MessageOf(bytes.substr(0, bytes.size() - 1)),
            "the stored configuration is damaged: it cannot be parsed");
  EXPECT_NE(MessageOf(bytes.substr(1)), "");
}

TEST(Serialize, WhatThisReleaseDoesNotKnow) {
  const auto with_field = [](auto edit) {
    v1::StoredConfig message;
    EXPECT_TRUE(message.ParseFromString(Serialize(Full())));
    google::protobuf::Message& where = edit(message);
    where.GetReflection()->MutableUnknownFields(&where)->AddVarint(999, 1);
    return MessageOf(message.SerializeAsString());
  };
  using Message = google::protobuf::Message;
  EXPECT_EQ(with_field([](v1::StoredConfig& m) -> Message& { return m; }),
            "the stored configuration has field number 999, which this release does not know");
  EXPECT_EQ(with_field([](v1::StoredConfig& m) -> Message& { return *m.mutable_config(); }),
            "the stored configuration has field number 999, which this release does not know");
  EXPECT_EQ(with_field([](v1::StoredConfig& m) -> Message& {
              return *m.mutable_config()->mutable_services(0)->mutable_rate_limit();
            }),
            "the stored configuration: services[0].rate_limit has field number 999, which this "
            "release does not know");
}

TEST(Serialize, EveryMistakeIsCounted) {
  v1::StoredConfig message;
  ASSERT_TRUE(message.ParseFromString(Serialize(Full())));
  v1::Service& service = *message.mutable_config()->mutable_services(0);
  service.set_tracking(static_cast<v1::Tracking>(77));
  service.set_address("2001:db8::/x");
  EXPECT_EQ(MessageOf(message.SerializeAsString()),
            "the stored configuration: services[0].tracking has value 77, which this release does "
            "not know and 1 more");
}

// Expect: no crash whatever byte is wrong, and what is read nevertheless is a configuration.
TEST(Serialize, DamagedBytes) {
  const std::string good = Serialize(Full());
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = good;
    for (uint64_t wrong = 1 + random() % 3; wrong > 0; --wrong) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const auto config = Deserialize(bytes);
    if (!config.ok()) {
      ASSERT_FALSE(config.status().message().empty());
      continue;
    }
    const auto again = Deserialize(Serialize(*config));
    ASSERT_TRUE(again.ok()) << again.status();
    ASSERT_EQ(*again, *config);
  }
}

TEST(Serialize, RandomBytes) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    // Expect: noise is no configuration.
    EXPECT_NE(MessageOf(bytes), "");
  }
}

}  // namespace
}  // namespace penstock::config

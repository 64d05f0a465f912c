// Messages that did not come from YAML: what an RPC may hold.

#include "penstock/config/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/config/validate.h"
#include "penstock/v1/config_service.pb.h"

namespace penstock::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

v1::Config GoodConfig() {
  v1::Config config;
  config.mutable_hash()->set_seed("s");
  v1::Pool* pool = config.add_pools();
  pool->set_name("web");
  pool->add_backends()->set_address("10.0.0.1");
  v1::Service* service = config.add_services();
  service->set_name("a");
  service->set_address("192.0.2.1");
  service->set_protocol(v1::PROTOCOL_TCP);
  service->add_ports()->set_first(80);
  service->mutable_ports(0)->set_last(80);
  service->set_pool("web");
  return config;
}

Violations Read(const v1::Config& message) {
  ServicesConfig config;
  return FromProtoAndValidate(message, config);
}

TEST(Convert, GoodOnes) {
  EXPECT_THAT(Read(GoodConfig()), IsEmpty());
  // Expect: the configuration without pools and services is legal.
  EXPECT_THAT(Read(v1::Config()), IsEmpty());
}

TEST(Convert, ThereAndBackAgain) {
  ServicesConfig config;
  ASSERT_THAT(FromProto(GoodConfig(), config), IsEmpty());
  config.pools[0].transition = std::chrono::hours(24);
  config.pools[0].backends[0].state = AdminState::kDraining;
  config.pools[0].backends[0].labels = {{"rack", "r7"}};
  config.services[0].hash = HashKind::kSourceAddress;
  config.services[0].prefix = *net::IpPrefix::Parse("192.0.2.0/28");
  config.services[0].ports = {{80, 80}, {8000, 8010}};
  config.services[0].encapsulation = Encapsulation::kGue;
  config.services[0].icmp_echo = IcmpEcho::kDrop;
  config.services[0].outer_source_prefix = *net::IpPrefix::Parse("198.51.100.0/24");
  config.services[0].gue_udp_checksum = GueUdpChecksum::kZero;
  config.services[0].deny = {*net::IpPrefix::Parse("10.0.0.0/8")};
  config.services[0].fragments = Fragments::kDrop;
  config.services[0].tracking = Tracking::kNone;
  config.services[0].rate_limit = {.per_source = 1, .total = kMaxRate};
  ServicesConfig again;
  EXPECT_THAT(FromProto(ToProto(config), again), IsEmpty());
  EXPECT_EQ(again, config);
  // Expect: an absent state, echo or outer source stays absent; every port is none.
  const v1::Service defaults = ToProto(Service{});
  EXPECT_EQ(defaults.icmp_echo(), v1::ICMP_ECHO_UNSPECIFIED);
  EXPECT_FALSE(defaults.has_outer_source_prefix());
  EXPECT_EQ(defaults.ports_size(), 0);
  config.pools[0].backends[0].state.reset();
  EXPECT_EQ(ToProto(config).pools(0).backends(0).state(), v1::ADMIN_STATE_UNSPECIFIED);
}

TEST(Convert, HostThereAndBackAgain) {
  HostConfig config;
  config.dataplane.workers = {1, 2};
  config.dataplane.idle_sleep = std::chrono::microseconds(50);
  config.dataplane.icmp_rate = 0;
  config.dataplane.ports = {{.name = "up",
                             .device = "net_null0",
                             .mtu = 9000,
                             .vlan = 4094,
                             .addresses = {*net::IpPrefix::Parse("192.0.2.2/24")},
                             .gateways = {*net::IpAddress::Parse("192.0.2.1")},
                             .gateway_mac = net::MacAddress::Parse("02:00:00:00:00:01")}};
  config.control.state_dir = "/var/lib/penstock";
  config.log.level = LogLevel::kError;
  HostConfig again;
  EXPECT_THAT(FromProto(ToProto(config), again), IsEmpty());
  EXPECT_EQ(again, config);
  // Expect: a folder that is not named is absent, not empty.
  EXPECT_FALSE(ToProto(HostConfig{}).control().has_state_dir());
}

TEST(Convert, AddressesAsPeopleWriteThem) {
  Service service;
  service.prefix = *net::IpPrefix::Parse("192.0.2.1/32");
  service.deny = {*net::IpPrefix::Parse("2001:db8::/32"), *net::IpPrefix::Parse("2001:db8::1")};
  EXPECT_EQ(ToProto(service).address(), "192.0.2.1");
  EXPECT_THAT(ToProto(service).deny(), ElementsAre("2001:db8::/32", "2001:db8::1"));
  service.prefix = *net::IpPrefix::Parse("192.0.2.0/31");
  EXPECT_EQ(ToProto(service).address(), "192.0.2.0/31");
}

TEST(Convert, EveryWordOfEveryEnumeration) {
  for (const auto encapsulation :
       {Encapsulation::kIpip, Encapsulation::kGre, Encapsulation::kGue, Encapsulation::kL2}) {
    for (const auto echo : {IcmpEcho::kReply, IcmpEcho::kForward, IcmpEcho::kDrop}) {
      ServicesConfig config;
      ASSERT_THAT(FromProto(GoodConfig(), config), IsEmpty());
      config.services[0].encapsulation = encapsulation;
      config.services[0].icmp_echo = echo;
      ServicesConfig again;
      EXPECT_THAT(FromProto(ToProto(config), again), IsEmpty());
      EXPECT_EQ(again, config);
    }
  }
}

TEST(Convert, EveryWordForFragmentsAndTracking) {
  v1::Config config = GoodConfig();
  const auto read = [&] {
    ServicesConfig result;
    EXPECT_THAT(FromProto(config, result), IsEmpty());
    return result.services.at(0);
  };
  v1::Service& service = *config.mutable_services(0);
  EXPECT_EQ(read().fragments, Fragments::kSteer);
  EXPECT_EQ(read().tracking, Tracking::kFull);
  service.set_fragments(v1::FRAGMENTS_DROP);
  service.set_tracking(v1::TRACKING_TRANSITION_ONLY);
  EXPECT_EQ(read().fragments, Fragments::kDrop);
  EXPECT_EQ(read().tracking, Tracking::kTransitionOnly);
  service.set_fragments(v1::FRAGMENTS_STEER);
  service.set_tracking(v1::TRACKING_NONE);
  EXPECT_EQ(read().fragments, Fragments::kSteer);
  EXPECT_EQ(read().tracking, Tracking::kNone);
  service.set_tracking(v1::TRACKING_FULL);
  EXPECT_EQ(read().tracking, Tracking::kFull);
}

TEST(Convert, WhatThisReleaseDoesNotKnow) {
  v1::Config config = GoodConfig();
  // Expect: a value or field of a newer client is refused, not taken for the default.
  config.mutable_services(0)->set_hash(static_cast<v1::HashKind>(77));
  v1::Pool* pool = config.mutable_pools(0);
  pool->GetReflection()->MutableUnknownFields(pool)->AddVarint(999, 1);
  EXPECT_THAT(
      Read(config),
      ElementsAre(Violation{"pools[0]", "has field number 999, which this release does not know"},
                  Violation{"services[0].hash", "has value 77, which this release does not know"}));
}

TEST(Convert, RequestsAreCheckedWhole) {
  v1::ApplyConfigRequest request;
  *request.mutable_config() = GoodConfig();
  EXPECT_THAT(CheckSupported(request), IsEmpty());
  // Expect: a dry run that would be carried out in earnest is refused.
  request.set_dry_run(true);
  request.mutable_config()->mutable_pools(0)->set_min_healthy(0);
  EXPECT_THAT(CheckSupported(request),
              ElementsAre(Violation{"config.pools[0].min_healthy", "is not yet supported"},
                          Violation{"dry_run", "is not yet supported"}));
}

TEST(Convert, TextThatWouldBreakALog) {
  v1::Config config = GoodConfig();
  config.mutable_hash()->set_seed(std::string("a\0b", 3));
  (*config.mutable_pools(0)->mutable_backends(0)->mutable_labels())["rack"] = "\x1b[2J";
  EXPECT_THAT(Read(config), ElementsAre(Violation{"hash.seed", "holds a control character"},
                                        Violation{"pools[0].backends[0].labels.rack",
                                                  "holds a control character"}));
}

TEST(Convert, DurationsOutOfShape) {
  for (const auto& [seconds, nanos] : std::vector<std::pair<int64_t, int32_t>>{
           {-1, 0}, {0, -1}, {1, 1}, {1, 1000000000}, {INT64_MAX, 0}, {INT64_MIN, 0}}) {
    v1::Config config = GoodConfig();
    auto* tcp = config.mutable_services(0)->mutable_idle_timeout()->mutable_tcp();
    tcp->set_seconds(seconds);
    tcp->set_nanos(nanos);
    EXPECT_THAT(Read(config),
                ElementsAre(Violation{"services[0].idle_timeout.tcp",
                                      "has to be a whole number of seconds, 1s to 8h"}));
    config.mutable_pools(0)->mutable_transition()->Swap(tcp);
    config.mutable_services(0)->clear_idle_timeout();
    EXPECT_THAT(Read(config),
                ElementsAre(Violation{"pools[0].transition",
                                      "has to be a whole number of seconds, 0s to 24h"}));
  }
}

TEST(Convert, PortRanges) {
  v1::Config config = GoodConfig();
  v1::PortRange* range = config.mutable_services(0)->add_ports();
  range->set_first(9);
  range->set_last(8);
  EXPECT_THAT(Read(config), ElementsAre(Violation{"services[0].ports[1]", "begins after its end"}));
  range->set_last(0);
  EXPECT_THAT(Read(config), ElementsAre(Violation{"services[0].ports[1]", "0 is not in 1..65535"}));
}

TEST(Convert, TooManyBackends) {
  v1::Config config = GoodConfig();
  v1::Pool* pool = config.mutable_pools(0);
  pool->set_table_size(kMaxTableSize);
  pool->clear_backends();
  for (uint32_t i = 0; i < kMaxBackendsPerPool; ++i) {
    pool->add_backends()->set_address("10.1." + std::to_string(i / 256) + "." +
                                      std::to_string(i % 256));
  }
  EXPECT_THAT(Read(config), IsEmpty());
  pool->add_backends()->set_address("10.2.0.0");
  EXPECT_THAT(Read(config),
              ElementsAre(Violation{"pools[0].backends", "65535 backends are more than 65534"}));
}

// H03: sizes that are no primes are recognised.
TEST(Validate, H03_KnowsPrimes) {
  for (const uint32_t p : {2U, 3U, 5U, 7U, 65537U, 655373U, 5000011U}) EXPECT_TRUE(IsPrime(p)) << p;
  for (const uint32_t c : {0U, 1U, 4U, 9U, 65536U, 65535U, 5000000U, 66049U}) {
    EXPECT_FALSE(IsPrime(c)) << c;
  }
}

TEST(Convert, Prime) {
  EXPECT_FALSE(IsPrime(0));
  EXPECT_FALSE(IsPrime(1));
  EXPECT_TRUE(IsPrime(2));
  EXPECT_TRUE(IsPrime(3));
  EXPECT_FALSE(IsPrime(9));
  EXPECT_TRUE(IsPrime(65537));
  EXPECT_TRUE(IsPrime(kMaxTableSize));
  EXPECT_TRUE(IsPrime(4294967291U));
  EXPECT_FALSE(IsPrime(4294967295U));
}

}  // namespace
}  // namespace penstock::config

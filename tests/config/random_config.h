// Configurations of every kind, for tests that write and read them.

#ifndef PENSTOCK_TESTS_CONFIG_RANDOM_CONFIG_H_
#define PENSTOCK_TESTS_CONFIG_RANDOM_CONFIG_H_

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "penstock/config/services_config.h"
#include "penstock/net/address.h"

namespace penstock::config {

// Random configurations that Validate accepts.
class RandomConfig {
 public:
  explicit RandomConfig(uint64_t seed) : random_(seed) {}

  ServicesConfig Make() {
    ServicesConfig config;
    config.hash.seed = Text();
    const uint64_t pools = Below(4);
    for (uint64_t i = 0; i < pools; ++i) config.pools.push_back(MakePool(i));
    const uint64_t services = pools == 0 ? 0 : Below(5);
    for (uint64_t i = 0; i < services; ++i) config.services.push_back(MakeService(i, pools));
    return config;
  }

 private:
  uint64_t Below(uint64_t limit) { return random_() % limit; }

  // Words that YAML has a meaning for, and any printable characters.
  std::string Text() {
    static const std::vector<std::string> kWords{
        "",   "null", "~",    "true", "no", "0x10", "1.5", "- a",  "a: b",     "#x", "a #b",
        "&a", "*a",   "!x",   "'",    "\"", "\\",   "{a}", "[b",   "%",        "@",  "`",
        " a", "a ",   "a, b", "?",    "|",  ">",    "1e3", "2024", "10.0.0.1", ":",  "\xC3\xA9"};
    if (Below(2) == 0) return kWords[Below(kWords.size())];
    std::string text;
    for (uint64_t i = Below(30); i > 0; --i) text += static_cast<char>(' ' + Below(95));
    return text;
  }

  net::IpAddress Address(const std::string& v4, const std::string& v6) {
    return *net::IpAddress::Parse(Below(2) == 0 ? v4 : v6);
  }

  net::IpPrefix Prefix(const std::string& number) {
    switch (Below(4)) {
      case 0:
        return *net::IpPrefix::Parse("192.0." + number + ".0/24");
      case 1:
        return *net::IpPrefix::Parse("2001:db8:1:" + number + "::/64");
      default:
        return *net::IpPrefix::Parse(
            Address("192.0.2." + number, "2001:db8:1::" + number).ToString());
    }
  }

  Pool MakePool(uint64_t index) {
    static const std::vector<uint32_t> kSizes{65537, 101, kMaxTableSize};
    Pool pool{.name = "pool-" + std::to_string(index), .table_size = kSizes[Below(3)]};
    pool.transition = std::chrono::seconds(Below(86401));
    for (uint64_t i = Below(5); i > 0; --i) pool.backends.push_back(MakeBackend(i));
    return pool;
  }

  Backend MakeBackend(uint64_t index) {
    const std::string number = std::to_string(index);
    Backend backend{.address = Address("10.0.0." + number, "2001:db8::" + number)};
    backend.weight = static_cast<uint32_t>(Below(kMaxWeight + 1));
    if (Below(2) == 0) backend.name = "true" + number;
    for (uint64_t i = Below(3); i > 0; --i) backend.labels["l." + std::to_string(i)] = Text();
    if (Below(2) == 0) backend.state = static_cast<AdminState>(Below(3));
    return backend;
  }

  Service MakeService(uint64_t index, uint64_t pools) {
    const std::string number = std::to_string(index + 1);
    Service service{.name = number, .prefix = Prefix(number)};
    service.protocol = static_cast<Protocol>(Below(2));
    const uint64_t first = 1 + Below(60000);
    for (uint64_t i = Below(5); i > 0; --i) {
      const auto port = static_cast<uint16_t>(first + i * 4);
      service.ports.push_back({.first = port, .last = static_cast<uint16_t>(port + Below(4))});
    }
    service.pool = "pool-" + std::to_string(Below(pools));
    service.hash = static_cast<HashKind>(Below(3));
    service.on_no_backend = static_cast<OnNoBackend>(Below(2));
    service.idle_timeout.tcp = std::chrono::seconds(1 + Below(28800));
    service.encapsulation = static_cast<Encapsulation>(Below(4));
    if (Below(2) == 0) service.icmp_echo = static_cast<IcmpEcho>(Below(3));
    service.fragments = static_cast<Fragments>(Below(2));
    service.tracking = static_cast<Tracking>(Below(3));
    if (Below(2) == 0) service.rate_limit.per_source = static_cast<uint32_t>(Below(kMaxRate + 1));
    if (Below(2) == 0) service.rate_limit.total = static_cast<uint32_t>(Below(kMaxRate + 1));
    const bool udp = service.protocol == Protocol::kUdp;
    if (udp && service.tracking != Tracking::kFull) service.rate_limit = {};
    service.gue_udp_checksum = static_cast<GueUdpChecksum>(Below(2));
    if (service.encapsulation != Encapsulation::kL2 && Below(2) == 0) {
      service.outer_source_prefix = net::IpPrefix::Parse("198.51.100.0/25");
    }
    const std::string deny = service.prefix.address.IsV4() ? "172.16.0.0/" : "2001:db8:b::/";
    for (uint64_t i = Below(3); i > 0; --i) {
      const std::string length = std::to_string((service.prefix.address.IsV4() ? 12 : 48) + i);
      service.deny.push_back(*net::IpPrefix::Parse(deny + length));
    }
    return service;
  }

  std::mt19937_64 random_;
};

}  // namespace penstock::config

#endif  // PENSTOCK_TESTS_CONFIG_RANDOM_CONFIG_H_

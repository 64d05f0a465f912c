#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/config/load.h"
#include "penstock/config/validate.h"

namespace penstock::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

HostConfig Host(const std::string& port) {
  const auto loaded = ParseHostConfig(
      "dataplane: {ports: [{name: up, device: net_null0, " + port + "}]}", "h.yaml");
  EXPECT_THAT(loaded.errors, IsEmpty());
  return loaded.value;
}

ServicesConfig Services(const std::string& vip, const std::string& backend) {
  const auto loaded = ParseServicesConfig("pools: [{name: p, backends: [{address: \"" + backend +
                                              "\"}]}]\n" + "services: [{name: a, address: \"" +
                                              vip + "\", protocol: tcp, ports: [1], pool: p}]\n",
                                          "s.yaml");
  EXPECT_THAT(loaded.errors, IsEmpty());
  return loaded.value;
}

constexpr char kV4Only[] = "addresses: [192.0.2.2/24], gateways: [192.0.2.1]";

TEST(ValidateAgainstHost, BackendWithoutAWayOut) {
  EXPECT_THAT(ValidateAgainstHost(Services("203.0.113.1", "10.0.0.1"), Host(kV4Only)), IsEmpty());
  EXPECT_THAT(ValidateAgainstHost(Services("203.0.113.1", "2001:db8::1"), Host(kV4Only)),
              ElementsAre(Violation{
                  "pools[0].backends[0].address",
                  "no port of this host has an IPv6 address and a gateway, so the backend "
                  "cannot be reached"}));
  // Expect: an address without a next hop is not enough; a fixed MAC is one.
  const ServicesConfig v4 = Services("203.0.113.1", "10.0.0.1");
  EXPECT_EQ(ValidateAgainstHost(v4, Host("addresses: [192.0.2.2/24]")).size(), 1U);
  EXPECT_THAT(ValidateAgainstHost(
                  v4, Host("addresses: [192.0.2.2/24], gateway_mac: \"02:00:00:00:00:01\"")),
              IsEmpty());
}

TEST(ValidateAgainstHost, VipThatIsOurOwnAddress) {
  EXPECT_THAT(ValidateAgainstHost(Services("192.0.2.2", "10.0.0.1"), Host(kV4Only)),
              ElementsAre(Violation{"services[0].address",
                                    "192.0.2.2 is an address of port up of this host"}));
}

// E06: a backend that is this host would get its own packets back.
TEST(ValidateAgainstHost, E06_BackendThatIsOurOwnAddress) {
  EXPECT_THAT(ValidateAgainstHost(Services("203.0.113.1", "192.0.2.2"), Host(kV4Only)),
              ElementsAre(Violation{"pools[0].backends[0].address",
                                    "192.0.2.2 is an address of port up of this host, which would "
                                    "send to itself"}));
}

TEST(ValidateAgainstHost, Ipv6ThatDoesNotFit) {
  const std::string v4 = kV4Only;
  const ServicesConfig services = Services("2001:db8::53", "10.0.0.1");
  EXPECT_THAT(ValidateAgainstHost(services, Host(v4 + ", mtu: 1300")), IsEmpty());
  EXPECT_THAT(ValidateAgainstHost(services, Host(v4 + ", mtu: 1299")),
              ElementsAre(Violation{"services[0].address",
                                    "IPv6 packets do not fit the MTU of port up of this host: 1299 "
                                    "is below 1280 + 20"}));
  EXPECT_THAT(ValidateAgainstHost(Services("203.0.113.1", "10.0.0.1"), Host(v4 + ", mtu: 1280")),
              IsEmpty());
}

}  // namespace
}  // namespace penstock::config

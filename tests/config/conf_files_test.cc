// The files of conf/, which operators copy.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "penstock/config/load.h"
#include "penstock/config/validate.h"

namespace penstock::config {
namespace {

using ::testing::IsEmpty;

std::string Conf(const std::string& name) {
  return std::string(PENSTOCK_SOURCE_DIR) + "/conf/" + name;
}

TEST(ConfFiles, HostOfProduction) {
  const auto loaded = LoadHostConfig(Conf("penstockd.yaml"));
  // Expect: no mistakes; the comments' claim that values are the defaults holds.
  EXPECT_THAT(loaded.errors, IsEmpty());
  const HostConfig defaults;
  EXPECT_EQ(loaded.value.dataplane.memory, defaults.dataplane.memory);
  EXPECT_EQ(loaded.value.dataplane.flow_table, defaults.dataplane.flow_table);
  EXPECT_EQ(loaded.value.dataplane.idle_sleep, defaults.dataplane.idle_sleep);
  EXPECT_EQ(loaded.value.dataplane.icmp_rate, defaults.dataplane.icmp_rate);
  EXPECT_EQ(loaded.value.dataplane.ports.at(0).vlan, PortConfig{}.vlan);
  EXPECT_EQ(loaded.value.control.listen, defaults.control.listen);
  EXPECT_EQ(loaded.value.control.state_dir, "/var/lib/penstock");
  EXPECT_EQ(loaded.value.log, defaults.log);
  EXPECT_EQ(loaded.value.dataplane.ports.at(0).device, "0000:3b:00.0");
}

TEST(ConfFiles, HostOfTheLab) {
  const auto loaded = LoadHostConfig(Conf("lab.yaml"));
  // Expect: no mistakes, no hugepages, a virtual device.
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_FALSE(loaded.value.dataplane.memory.hugepages);
  EXPECT_EQ(loaded.value.control.state_dir, "");
  EXPECT_EQ(loaded.value.dataplane.idle_sleep, std::chrono::microseconds(50));
  EXPECT_EQ(loaded.value.dataplane.ports.at(0).device, "net_af_packet0,iface=eth0");
}

TEST(ConfFiles, Services) {
  const auto loaded = LoadServicesConfig(Conf("services.yaml"));
  // Expect: no mistakes, nothing to warn about, and both hosts above can carry it.
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_THAT(Warnings(loaded.value), IsEmpty());
  EXPECT_EQ(loaded.value.services.size(), 3U);
  // Expect: what the first pool and service say of these is what the others get without.
  EXPECT_EQ(loaded.value.pools.at(0).transition, Pool{}.transition);
  EXPECT_EQ(loaded.value.services.at(0).fragments, Service{}.fragments);
  EXPECT_EQ(loaded.value.services.at(0).tracking, Service{}.tracking);
  EXPECT_EQ(loaded.value.services.at(0).rate_limit, Service{}.rate_limit);
  for (const char* host : {"penstockd.yaml", "lab.yaml"}) {
    EXPECT_THAT(ValidateAgainstHost(loaded.value, LoadHostConfig(Conf(host)).value), IsEmpty());
  }
}

TEST(ConfFiles, WhatServicesLeaveInComments) {
  std::ifstream file(Conf("services.yaml"));
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  // Expect: without its "# " each commented-out setting is right.
  for (const std::string key : {"outer_source_prefix", "gue_udp_checksum"}) {
    const std::size_t at = text.find("# " + key + ": ");
    ASSERT_NE(at, std::string::npos) << key;
    text.erase(at, 2);
  }
  const auto loaded = ParseServicesConfig(text, "s");
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_TRUE(loaded.value.services.at(0).outer_source_prefix);
  EXPECT_THAT(ValidateAgainstHost(loaded.value, LoadHostConfig(Conf("penstockd.yaml")).value),
              IsEmpty());
}

TEST(ConfFiles, FileThatCannotBeRead) {
  // Expect: one line that names the file and the reason, also for a folder.
  EXPECT_THAT(LoadHostConfig("/nonexistent.yaml").errors,
              testing::ElementsAre("/nonexistent.yaml: cannot be read: No such file or directory"));
  EXPECT_THAT(LoadServicesConfig("/").errors,
              testing::ElementsAre("/: cannot be read: Is a directory"));
}

}  // namespace
}  // namespace penstock::config

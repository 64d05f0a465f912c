// penstockd.yaml with mistakes, and the lines an operator gets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/config/load.h"
#include "penstock/config/validate.h"

namespace penstock::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Errors(std::string_view text) {
  return ParseHostConfig(text, "h.yaml").errors;
}

constexpr char kPort[] =
    "  ports: [{name: up, device: net_null0, addresses: [192.0.2.2/24], gateways: [192.0.2.1]}]\n";

std::string WithPort(const std::string& rest) {
  return "dataplane:\n" + (kPort + rest);
}

// A file with one port whose further keys are `keys`, on line 4.
std::string Port(const std::string& keys) {
  return "dataplane:\n  ports:\n    - name: up\n      " + keys + "\n      device: net_null0\n";
}

TEST(HostFile, Defaults) {
  const auto loaded = ParseHostConfig(WithPort(""), "h.yaml");
  EXPECT_THAT(loaded.errors, IsEmpty());
  HostConfig expected;
  expected.dataplane.ports = {{.name = "up",
                               .device = "net_null0",
                               .mtu = 1500,
                               .addresses = {*net::IpPrefix::Parse("192.0.2.2/24")},
                               .gateways = {*net::IpAddress::Parse("192.0.2.1")},
                               .gateway_mac = std::nullopt}};
  EXPECT_EQ(loaded.value, expected);
  EXPECT_THAT(loaded.value.control.listen, ElementsAre("unix:/run/penstock/penstockd.sock"));
}

TEST(HostFile, Values) {
  const auto loaded = ParseHostConfig(
      WithPort("  workers: [3, 2]\n"
               "  memory: {hugepages: false, megabytes: 64}\n"
               "  flow_table: {v4_entries_per_worker: 1024, v6_entries_per_worker: 134217728}\n"
               "  idle_sleep: 10ms\n"
               "control: {listen: [\"unix:/tmp/a\", unix:/tmp/b], state_dir: /var/lib/penstock}\n"
               "services_file: /etc/penstock/services.yaml\n"
               "log: {level: warn, format: text}\n"),
      "h.yaml");
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_THAT(loaded.value.dataplane.workers, ElementsAre(3, 2));
  EXPECT_FALSE(loaded.value.dataplane.memory.hugepages);
  EXPECT_EQ(loaded.value.dataplane.idle_sleep, std::chrono::milliseconds(10));
  EXPECT_THAT(loaded.value.control.listen, ElementsAre("unix:/tmp/a", "unix:/tmp/b"));
  EXPECT_EQ(loaded.value.control.state_dir, "/var/lib/penstock");
  EXPECT_EQ(loaded.value.services_file, "/etc/penstock/services.yaml");
  EXPECT_EQ(loaded.value.log.level, LogLevel::kWarn);
}

TEST(HostFile, TwoPacketSocketsOnOneInterface) {
  const auto errors = Errors(R"(dataplane:
  ports:
    - {name: a, device: "net_af_packet0,iface=eth0", addresses: [192.0.2.2/24]}
    - {name: b, device: "net_af_packet1,qpairs=1,iface=eth0", addresses: [192.0.2.3/24]}
)");
  EXPECT_THAT(errors, ElementsAre("h.yaml:4:25 dataplane.ports[1].device: is the same as "
                                  "dataplane.ports[0].device"));
}

TEST(HostFile, PortsThatAreQueuesOfOneInterfaceAreTheSameOtherwise) {
  EXPECT_THAT(Errors(R"(dataplane:
  ports:
    - {name: a, device: "net_af_xdp0,iface=eth1", addresses: [192.0.2.4/24], vlan: 5}
    - {name: b, device: "net_af_xdp1,iface=eth1,start_queue=1", addresses: [192.0.2.4/24], vlan: 5}
    - {name: c, device: "net_af_xdp2,iface=eth2,start_queue=0", addresses: [192.0.2.5/24]}
)"),
              testing::IsEmpty());
  EXPECT_THAT(
      Errors(R"(dataplane:
  ports:
    - {name: a, device: "net_af_xdp0,iface=eth1,queue_count=2", addresses: [192.0.2.4/24]}
    - {name: b, device: "net_af_xdp1,iface=eth1,start_queue=2", addresses: [192.0.2.5/24]}
    - {name: c, device: "net_af_xdp2,start_queue=1,iface=eth1", addresses: [192.0.2.4/24], mtu: 1400}
)"),
      ElementsAre(
          "h.yaml:4:76 dataplane.ports[1].addresses: is not that of dataplane.ports[0]: both "
          "are queues of eth1, and a packet may come to any",
          "h.yaml:5:25 dataplane.ports[2].device: opens a queue of eth1 that "
          "dataplane.ports[0] opens",
          "h.yaml:5:97 dataplane.ports[2].mtu: is not that of dataplane.ports[0]: both are "
          "queues of eth1, and a packet may come to any"));
}

TEST(HostFile, EveryMistakeAtOnce) {
  EXPECT_THAT(
      Errors(R"(dataplane:
  workers: [2, 2, 1024]
  memory: {megabytes: 63}
  flow_table: {v4_entries_per_worker: 1000, v6_entries_per_worker: 134217729}
  idle_sleep: 11ms
  icmp_rate: 1000001
  ports:
    - name: up
      device: net_null0
      mtu: 70000
      vlan: 4095
      addresses: [192.0.2.2, 192.0.2.0/24, 192.0.2.255/24, 10.0.0.1/7]
      gateways: [192.0.3.1]
      gateway_mac: "ff:ff:ff:ff:ff:ff"
    - {name: up, device: net_null0, mtu: 1279, gateway_mac: "1:2:3"}
control: {listen: [127.0.0.1:7443, "unix:relative"], state_dir: var/lib}
log: {level: warning, format: json}
)"),
      ElementsAre(
          "h.yaml:2:16 dataplane.workers[1]: is the same as dataplane.workers[0]",
          "h.yaml:2:19 dataplane.workers[2]: 1024 is not in 0..1023",
          "h.yaml:3:23 dataplane.memory.megabytes: 63 is not in 64..1048576",
          "h.yaml:4:39 dataplane.flow_table.v4_entries_per_worker: 1000 is not in "
          "1024..134217728",
          "h.yaml:4:68 dataplane.flow_table.v6_entries_per_worker: 134217729 is not in "
          "1024..134217728",
          "h.yaml:5:15 dataplane.idle_sleep: is not in 0us..10ms",
          "h.yaml:6:14 dataplane.icmp_rate: 1000001 is not in 0..1000000",
          "h.yaml:10:12 dataplane.ports[0].mtu: is not in 1280..9600",
          "h.yaml:11:13 dataplane.ports[0].vlan: is not in 0..4094",
          "h.yaml:12:19 dataplane.ports[0].addresses[0]: is not an address with a prefix length, "
          "such as 198.51.100.11/24: \"192.0.2.2\"",
          "h.yaml:12:30 dataplane.ports[0].addresses[1]: is the address of the network itself",
          "h.yaml:12:44 dataplane.ports[0].addresses[2]: is the network's broadcast address",
          "h.yaml:12:60 dataplane.ports[0].addresses[3]: /7 is shorter than /8",
          "h.yaml:13:18 dataplane.ports[0].gateways[0]: 192.0.3.1 is outside the prefixes of the "
          "port's addresses",
          "h.yaml:14:20 dataplane.ports[0].gateway_mac: is not the address of one machine",
          "h.yaml:15:7 dataplane.ports[1].addresses: at least one is required",
          "h.yaml:15:14 dataplane.ports[1].name: is the same as dataplane.ports[0].name",
          "h.yaml:15:26 dataplane.ports[1].device: is the same as dataplane.ports[0].device",
          "h.yaml:15:42 dataplane.ports[1].mtu: is not in 1280..9600",
          "h.yaml:15:61 dataplane.ports[1].gateway_mac: is not a MAC address such as "
          "02:00:00:00:00:01: \"1:2:3\"",
          "h.yaml:16:20 control.listen[0]: a TCP address is not yet supported: needs tls",
          "h.yaml:16:36 control.listen[1]: is not unix:/ABSOLUTE/PATH: \"unix:relative\"",
          "h.yaml:16:65 control.state_dir: is not an absolute path: \"var/lib\"",
          "h.yaml:17:14 log.level: has to be one of trace, debug, info, warn, error, not "
          "\"warning\"",
          "h.yaml:17:31 log.format: json is not yet supported"));
}

TEST(HostFile, Vlan) {
  const auto port = [](const std::string& value) {
    return ParseHostConfig(Port("addresses: [192.0.2.2/24]\n      vlan: " + value), "h.yaml");
  };
  // Expect: untagged unless said otherwise; 0 says it too.
  EXPECT_EQ(ParseHostConfig(WithPort(""), "h.yaml").value.dataplane.ports[0].vlan, 0);
  for (const int vlan : {0, 1, 4094}) {
    const auto loaded = port(std::to_string(vlan));
    EXPECT_THAT(loaded.errors, IsEmpty());
    EXPECT_EQ(loaded.value.dataplane.ports[0].vlan, vlan);
  }
  // Expect: also numbers that 16 bits do not hold.
  for (const char* vlan : {"4095", "65535", "65537", "4294967295"}) {
    EXPECT_THAT(port(vlan).errors,
                ElementsAre("h.yaml:5:13 dataplane.ports[0].vlan: is not in 0..4094"));
  }
}

TEST(HostFile, IcmpRate) {
  const auto rate = [](const std::string& value) {
    return ParseHostConfig(WithPort("  icmp_rate: " + value + "\n"), "h.yaml");
  };
  EXPECT_EQ(ParseHostConfig(WithPort(""), "h.yaml").value.dataplane.icmp_rate, 1000U);
  // Expect: none at all is a legal wish.
  EXPECT_EQ(rate("0").value.dataplane.icmp_rate, 0U);
  EXPECT_EQ(rate("1000000").value.dataplane.icmp_rate, 1000000U);
  EXPECT_THAT(rate("1000000").errors, IsEmpty());
  EXPECT_THAT(rate("1000001").errors,
              ElementsAre("h.yaml:3:14 dataplane.icmp_rate: 1000001 is not in 0..1000000"));
}

TEST(HostFile, APortIsRequired) {
  EXPECT_THAT(Errors("log: {level: info}"),
              ElementsAre("h.yaml:1:1 dataplane.ports: at least one is required"));
  EXPECT_THAT(Errors("dataplane: {ports: [{}]}"),
              ElementsAre("h.yaml:1:21 dataplane.ports[0].name: is required",
                          "h.yaml:1:21 dataplane.ports[0].device: is required",
                          "h.yaml:1:21 dataplane.ports[0].addresses: at least one is required"));
}

TEST(HostFile, AddressesAndGateways) {
  const auto port = [](const std::string& keys) { return Errors(Port(keys)); };
  EXPECT_THAT(port("addresses: [192.0.2.2/31, \"2001:db8::2/64\"]\n"
                   "      gateways: [192.0.2.3, \"2001:db8::1\"]"),
              IsEmpty());
  // Expect: a fixed MAC needs no gateways.
  EXPECT_THAT(port("addresses: [192.0.2.2/24]\n      gateway_mac: \"02:00:00:00:00:01\""),
              IsEmpty());
  EXPECT_THAT(port("addresses: [192.0.2.2/24]\n      gateway_mac: \"\""), IsEmpty());
  EXPECT_THAT(port("addresses: [192.0.2.2/24]\n      gateway_mac: \"00:00:00:00:00:00\"").size(),
              1U);
  EXPECT_THAT(
      port("addresses: [192.0.2.2/24]\n      gateways: [192.0.2.1, 192.0.2.9]"),
      ElementsAre("h.yaml:5:29 dataplane.ports[0].gateways[1]: is the second gateway of its "
                  "family"));
  EXPECT_THAT(port("addresses: [192.0.2.2/24]\n      gateways: [192.0.2.2]"),
              ElementsAre("h.yaml:5:18 dataplane.ports[0].gateways[0]: is an address of the port "
                          "itself"));
  EXPECT_THAT(port("addresses: [192.0.2.2/24]\n      gateways: [\"2001:db8::1\"]"),
              ElementsAre("h.yaml:5:18 dataplane.ports[0].gateways[0]: 2001:db8::1 is outside the "
                          "prefixes of the port's addresses"));
  EXPECT_THAT(port("addresses: [192.0.2.2/24, 192.0.2.2/25, 224.0.0.1/24, \"::/64\"]").size(), 3U);
}

TEST(HostFile, StateDir) {
  const auto folder = [](const std::string& value) {
    return ParseHostConfig(WithPort("control: {state_dir: \"" + value + "\"}\n"), "h.yaml");
  };
  const std::string at = "h.yaml:3:22 control.state_dir: ";
  EXPECT_EQ(ParseHostConfig(WithPort(""), "h.yaml").value.control.state_dir, "");
  EXPECT_THAT(folder("").errors, IsEmpty());
  EXPECT_EQ(folder("/").value.control.state_dir, "/");
  EXPECT_THAT(folder("state").errors, ElementsAre(at + "is not an absolute path: \"state\""));
  const std::string fits = "/" + std::string(3999, 'a');
  EXPECT_THAT(folder(fits).errors, IsEmpty());
  EXPECT_THAT(folder(fits + "a").errors, ElementsAre(at + "is longer than 4000 bytes"));
  // Expect: no path that ends earlier for the kernel than for us, wherever it came from.
  EXPECT_THAT(folder("/a\\0b").errors, ElementsAre(at + "holds a control character"));
  HostConfig config = folder("/a").value;
  EXPECT_THAT(Validate(config), IsEmpty());
  config.control.state_dir = std::string("/a\0b", 4);
  EXPECT_THAT(Validate(config), ElementsAre(Violation{"control.state_dir", "holds a zero byte"}));
}

TEST(HostFile, SocketPathThatDoesNotFit) {
  const std::string fits = "/" + std::string(106, 'a');
  EXPECT_THAT(Errors(WithPort("control: {listen: [\"unix:" + fits + "\"]}\n")), IsEmpty());
  EXPECT_THAT(Errors(WithPort("control: {listen: [\"unix:" + fits + "a\"]}\n")),
              ElementsAre("h.yaml:3:20 control.listen[0]: the path is longer than 107 bytes"));
  EXPECT_THAT(Errors(WithPort("control: {listen: [unix:/a, unix:/a]}\n")),
              ElementsAre("h.yaml:3:29 control.listen[1]: is the same as control.listen[0]"));
}

}  // namespace
}  // namespace penstock::config

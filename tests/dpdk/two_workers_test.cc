// Two workers on two ports with a queue of each for each: every packet is counted where it came in,
// and leaves where its backend is. EAL starts once a process: one test, one program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "dpdk/dataplane.h"
#include "tests/dpdk/pcap_file.h"
#include "tests/dpdk/scene.h"

namespace penstock::dpdk {
namespace {

using testing::Bytes;
using testing::Ip;
using testing::PacketSpec;

constexpr std::size_t kWorkers = 2;
constexpr std::size_t kPorts = 2;
constexpr uint16_t kTo4 = 80;     // the VIP's port whose backend has an IPv4 address: port 0
constexpr uint16_t kTo6 = 8046;   // ... an IPv6 address: port 1
constexpr uint16_t kNobody = 81;  // ... nobody's
constexpr std::array<const char*, kPorts> kNetworks = {"10.2.1.2/24", "2001:db8:2::2/64"};
constexpr std::array<const char*, kPorts> kGateways = {"10.2.1.1", "2001:db8:2::1"};
constexpr std::array<const char*, kPorts> kBackends = {"10.3.1.2", "2001:db8:3::2"};
constexpr std::array<std::size_t, kPorts> kFront = {14 + 20, 14 + 40};  // of wrapped packets

// The MAC address that net_pcap gives to its device of this number.
net::MacAddress MacOf(std::size_t port) {
  return {{2, 'p', 'c', 'a', 'p', static_cast<uint8_t>(port)}};
}

// What comes in on one queue. Each number occurs once in the test, so that no sum is right by
// chance.
struct Traffic {
  std::size_t to4 = 0;
  std::size_t to6 = 0;
  std::size_t dropped = 0;
  std::vector<Bytes> frames;
  std::array<std::vector<Bytes>, kPorts> inner{};  // packets to wrap, by port of their backend
};

Traffic MakeTraffic(std::size_t worker, std::size_t port) {
  const std::size_t queue = worker * kPorts + port;
  Traffic traffic{.to4 = 1000 + 10 * queue, .to6 = 1200 + 100 * queue, .dropped = 301 + queue};
  const auto add = [&](std::size_t count, uint16_t to) {
    for (std::size_t i = 0; i < count; ++i) {
      const PacketSpec packet{.source = "192.0.2." + std::to_string(1 + queue),
                              .source_port = static_cast<uint16_t>(10000 + i),
                              .destination_port = to,
                              .payload = i % 700,
                              .ethernet_destination = MacOf(port)};
      traffic.frames.push_back(testing::Frame(packet));
      if (to != kNobody) traffic.inner[to == kTo6].push_back(testing::Ipv4Packet(packet));
    }
  };
  // Interleaved, so that bursts hold packets for both ports and for none.
  add(traffic.to4, kTo4);
  add(traffic.to6, kTo6);
  add(traffic.dropped, kNobody);
  std::vector<Bytes> mixed;
  for (std::size_t start = 0; start < 7; ++start) {
    for (std::size_t i = start; i < traffic.frames.size(); i += 7) {
      mixed.push_back(std::move(traffic.frames[i]));
    }
  }
  traffic.frames = std::move(mixed);
  return traffic;
}

std::string FileOf(std::size_t port, std::size_t worker, const char* way) {
  return ::testing::TempDir() + "two_workers_" + std::to_string(port) + "_" +
         std::to_string(worker) + "_" + way + ".pcap";
}

std::vector<int> TwoCores() {
  cpu_set_t mask;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE && cores.size() < kWorkers; ++core) {
    if (CPU_ISSET(static_cast<unsigned>(core), &mask)) cores.push_back(core);
  }
  return cores;
}

config::HostConfig TwoPortHost() {
  config::HostConfig host = testing::HostWithPort("");
  host.dataplane.memory.megabytes = 128;
  host.dataplane.workers = TwoCores();
  host.dataplane.ports.clear();
  for (std::size_t port = 0; port < kPorts; ++port) {
    config::PortConfig config;
    config.name = "port" + std::to_string(port);
    config.device = "net_pcap" + std::to_string(port);
    // The driver makes a queue of each file.
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
      config.device += ",rx_pcap=" + FileOf(port, worker, "in");
      config.device += ",tx_pcap=" + FileOf(port, worker, "out");
    }
    config.addresses = {*net::IpPrefix::Parse(kNetworks[port])};
    config.gateways = {Ip(kGateways[port])};
    config.gateway_mac = testing::kGatewayMac;
    host.dataplane.ports.push_back(config);
  }
  return host;
}

// TCP port kTo4 of the VIP goes to a backend behind port 0, kTo6 to one behind port 1.
std::shared_ptr<const lb::ServiceTable> TwoServices(
    std::array<lb::BackendCounters, kWorkers * kPorts>& counters) {
  lb::ServiceTableSpec spec;
  spec.key = lb::HashKey::FromSeed("scene");
  spec.generation = 1;
  for (std::size_t i = 0; i < kPorts; ++i) {
    spec.ports.push_back({.addresses = {*net::IpPrefix::Parse(kNetworks[i])},
                          .reaches_v4 = i == 0,
                          .reaches_v6 = i == 1,
                          .mtu = 1500});
    const auto path = std::make_shared<lb::BackendPath>();
    spec.keep_alive.push_back(path);
    lb::PoolTable::Spec pool;
    pool.members = {{.address = Ip(kBackends[i])}};
    pool.table_size = 101;
    pool.key = spec.key;
    spec.pools.push_back({.table = lb::PoolTable::Build(pool),
                          .ids = {static_cast<lb::BackendId>(1 + i)},
                          .counters = {&counters[i * kWorkers]},
                          .paths = {path.get()}});
    lb::ServiceTableSpec::ServiceSpec service;
    const uint16_t to = i == 0 ? kTo4 : kTo6;
    service.vip = {.prefix = {Ip(testing::kVip), 32}, .ports = {{to, to}}};
    service.service.id = static_cast<lb::ServiceId>(1 + i);
    service.service.pool = static_cast<uint32_t>(i);
    spec.services.push_back(service);
  }
  return std::make_shared<const lb::ServiceTable>(std::move(spec));
}

// Indexed by worker, then port.
using AllTraffic = std::array<std::array<Traffic, kPorts>, kWorkers>;

AllTraffic MakeAll() {
  AllTraffic all;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    for (std::size_t port = 0; port < kPorts; ++port) {
      all[worker][port] = MakeTraffic(worker, port);
      testing::WritePcap(FileOf(port, worker, "in"), all[worker][port].frames);
    }
  }
  return all;
}

// The packets that a worker has to send through a port, wherever they came in.
std::vector<Bytes> ToSend(const std::array<Traffic, kPorts>& worker, std::size_t port) {
  std::vector<Bytes> packets;
  for (const Traffic& traffic : worker) {
    packets.insert(packets.end(), traffic.inner[port].begin(), traffic.inner[port].end());
  }
  std::ranges::sort(packets);
  return packets;
}

void ExpectWorker(const lb::WorkerStatus& status, const std::array<Traffic, kPorts>& traffic) {
  ASSERT_EQ(status.ports.size(), kPorts);
  for (std::size_t port = 0; port < kPorts; ++port) {
    const lb::WorkerPort& counted = status.ports[port];
    const Traffic& in = traffic[port];
    EXPECT_EQ(counted.name, "port" + std::to_string(port));
    EXPECT_EQ(counted.received, in.frames.size());
    EXPECT_EQ(counted.forwarded, in.to4 + in.to6);
    EXPECT_EQ(counted.answered, 0U);
    EXPECT_EQ(counted.held, 0U);
    EXPECT_EQ(counted.dropped, in.dropped);
    EXPECT_EQ(counted.transmitted, ToSend(traffic, port).size());
  }
}

void ExpectOutputs(const AllTraffic& all) {
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    for (std::size_t port = 0; port < kPorts; ++port) {
      std::vector<Bytes> sent = testing::ReadPcap(FileOf(port, worker, "out"));
      for (Bytes& frame : sent) {
        ASSERT_GT(frame.size(), kFront[port]);
        frame.erase(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(kFront[port]));
      }
      std::ranges::sort(sent);
      EXPECT_TRUE(sent == ToSend(all[worker], port)) << "worker " << worker << ", port " << port;
    }
  }
}

void ExpectSums(const lb::CounterTotals& totals, const std::vector<lb::WorkerStatus>& workers) {
  for (std::size_t port = 0; port < kPorts; ++port) {
    uint64_t received = 0;
    uint64_t forwarded = 0;
    uint64_t transmitted = 0;
    for (const lb::WorkerStatus& worker : workers) {
      received += worker.ports[port].received;
      forwarded += worker.ports[port].forwarded;
      transmitted += worker.ports[port].transmitted;
    }
    EXPECT_EQ(totals.ports[port].received_packets, received);
    EXPECT_EQ(totals.ports[port].verdicts[0], forwarded);
    EXPECT_EQ(totals.ports[port].transmitted_packets, transmitted);
  }
}

// D07: packets of each port's pool leave through the other port too, and every buffer comes back to
// the pool that it is from.
TEST(TwoWorkers, D07_EveryPacketIsCountedWhereItCameInAndEveryBufferComesBack) {
  const AllTraffic all = MakeAll();
  const auto started = Dataplane::Start(TwoPortHost());
  ASSERT_TRUE(started.ok()) << started.status();
  Dataplane& dataplane = **started;
  ASSERT_EQ(dataplane.worker_count(), 2) << "this test needs two cores";
  std::array<lb::BackendCounters, kWorkers * kPorts> counters;
  ASSERT_TRUE(dataplane.Publish(TwoServices(counters)).acknowledged);
  ASSERT_TRUE(dataplane.Launch().ok());
  std::size_t input = 0;
  for (const auto& worker : all) {
    for (const Traffic& traffic : worker) input += traffic.frames.size();
  }
  ASSERT_TRUE(testing::Eventually([&] {
    const lb::CounterTotals totals = dataplane.ReadCounters();
    return totals.ports[0].received_packets + totals.ports[1].received_packets == input;
  }));
  dataplane.Stop();
  EXPECT_EQ(dataplane.BuffersInUse(), 0U);
  const std::vector<lb::WorkerStatus> workers = dataplane.ReadWorkers();
  ASSERT_EQ(workers.size(), kWorkers);
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    ExpectWorker(workers[worker], all[worker]);
    // Expect: each worker counts for itself at the backends as well.
    for (std::size_t port = 0; port < kPorts; ++port) {
      EXPECT_EQ(counters[port * kWorkers + worker].packets.Read(),
                ToSend(all[worker], port).size());
    }
  }
  ExpectSums(dataplane.ReadCounters(), workers);
  ExpectOutputs(all);
}

}  // namespace
}  // namespace penstock::dpdk

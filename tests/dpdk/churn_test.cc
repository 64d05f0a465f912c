// Changes of the configuration, one after the other, while workers forward: the real controller,
// the real publication and the real pipeline, without a NIC. For the sanitizers above all.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "dpdk/snapshot.h"
#include "penstock/control/controller.h"
#include "penstock/lb/pipeline.h"
#include "tests/control/fake_dataplane.h"
#include "tests/support/frame.h"
#include "tests/support/heap_frames.h"

namespace penstock::dpdk {
namespace {

using testing::Bytes;

constexpr int kWorkers = 4;
constexpr int kChanges = 10'000;
constexpr int kPools = 3;
constexpr int kServices = 6;     // service i uses pool i % kPools
constexpr int kMaxBackends = 5;  // of a pool

std::string VipOf(int service) {
  return "203.0.113." + std::to_string(10 + service);
}
// The third byte tells the pool.
net::IpAddress BackendAddress(int pool, int number) {
  return testing::Ip("10.1." + std::to_string(pool) + "." + std::to_string(1 + number));
}

// What a worker has seen.
struct Findings {
  uint64_t forwarded = 0;
  uint64_t without_service = 0;  // the service was not configured
  uint64_t astray = 0;           // to a backend of another pool
  uint64_t to_nobody = 0;        // to a backend that the generation does not have
  uint64_t went_back = 0;        // to an earlier generation
};

// Forwards packets of all services without end.
class ChurnWorker {
 public:
  ChurnWorker(int index, SnapshotStore& store, lb::Neighbors& neighbors,
              lb::FragmentTable& fragments)
      : index_(index),
        store_(store),
        neighbors_(neighbors),
        fragments_(fragments),
        random_(static_cast<unsigned>(index) + 1) {}

  // Before Run.
  void AddPeer(const ChurnWorker& other) { peers_.push_back(other.flows_.get()); }

  void Run(const std::atomic<bool>& stop, std::atomic<int>& started) {
    store_.Register(index_);
    started.fetch_add(1);
    while (!stop.load(std::memory_order_relaxed)) {
      const lb::ServiceTable& table = store_.Read();
      if (table.generation() < generation_) ++findings.went_back;
      generation_ = table.generation();
      Forward(table);
      store_.Quiescent(index_);
      if (random_() % 64 == 0) Sleep();
      std::this_thread::yield();  // four workers and a controller share what cores there are
    }
    store_.Unregister(index_);
  }

  [[nodiscard]] uint64_t sweeps() const { return flows_->CompletedSweeps(); }

  Findings findings;  // read once the worker has ended

 private:
  void Sleep() {
    store_.Offline(index_);
    std::this_thread::sleep_for(std::chrono::microseconds(10));
    store_.Online(index_);
  }

  void Forward(const lb::ServiceTable& table) {
    const lb::ForwardContext context{.services = table,
                                     .flows = *flows_,
                                     .neighbors = neighbors_,
                                     .flow_counters = flow_counters_,
                                     .icmp = icmp_,
                                     .new_flows = new_flows_,
                                     .extra = extra_,
                                     .fragments = fragments_,
                                     .worker = index_,
                                     .now = ++now_ / 64,
                                     .peers = peers_};
    lb::PacketBurst burst;
    FillBurst(burst);
    lb::ForwardBurst(context, burst);
    for (std::size_t i = 0; i < lb::kBurstSize; ++i) Judge(table, burst, i);
    lb::SweepFlows(context, 64);
  }

  void FillBurst(lb::PacketBurst& burst) {
    burst.count = lb::kBurstSize;
    burst.port = 0;
    for (std::size_t i = 0; i < lb::kBurstSize; ++i) {
      service_[i] = static_cast<int>(random_() % kServices);
      // One in eight is a first fragment, for the table that all workers share.
      const uint16_t fragment = random_() % 8 == 0 ? net::kIpv4MoreFragments : uint16_t{0};
      const Bytes frame =
          testing::Frame({.destination = VipOf(service_[i]),
                          .source_port = static_cast<uint16_t>(1 + random_() % 500),
                          .tcp_flags = random_() % 4 == 0 ? net::kTcpSyn : net::kTcpAck,
                          .payload = 4,
                          .fragment = fragment});
      std::copy(frame.begin(), frame.end(), room_[i].begin() + kHeadroom);
      burst.data[i] = room_[i].data() + kHeadroom;
      burst.length[i] = static_cast<uint16_t>(frame.size());
      burst.headroom[i] = kHeadroom;
      burst.tailroom[i] = 0;
      burst.flags[i] = 0;
    }
  }

  void Judge(const lb::ServiceTable& table, const lb::PacketBurst& burst, std::size_t i) {
    if (burst.verdict[i] != lb::Verdict::kForward) {
      ++findings.without_service;
      return;
    }
    ++findings.forwarded;
    const auto outer = net::Load<net::Ipv4Header>(burst.data[i] + net::kEthernetSize);
    const net::IpAddress to = net::IpAddress::V4(outer.destination);
    bool is_there = false;
    table.ForEachBackendAt(to, [&](const lb::Backend&) { is_there = true; });
    if (!is_there) ++findings.to_nobody;
    if ((outer.destination.value() >> 8 & 0xFF) != static_cast<uint32_t>(service_[i] % kPools)) {
      ++findings.astray;
    }
  }

  static constexpr std::size_t kHeadroom = 128;
  const int index_;
  SnapshotStore& store_;
  lb::Neighbors& neighbors_;
  lb::FragmentTable& fragments_;
  std::vector<const lb::FlowTable*> peers_;
  std::minstd_rand random_;
  const std::unique_ptr<lb::FlowTable> flows_ = lb::FlowTable::Create(
      {.v4_entries = 1024, .v6_entries = 1024}, lb::FlowTable::AllocateFromHeap);
  lb::FlowCounters flow_counters_;
  lb::IcmpLimiter icmp_{0};
  lb::NewFlowLimiter new_flows_{4};
  testing::HeapFrames extra_;
  base::Tick now_ = 0;
  uint64_t generation_ = 0;
  std::array<std::array<uint8_t, 256>, lb::kBurstSize> room_{};
  std::array<int, lb::kBurstSize> service_{};
};

// Tells how far the workers' sweeps are: ids of what was removed are given out again in this test.
class ChurnReader : public control::FakeReader {
 public:
  explicit ChurnReader(const std::vector<std::unique_ptr<ChurnWorker>>& workers)
      : workers_(workers) {}
  int worker_count() const override { return kWorkers; }
  lb::SweepCounts CompletedSweeps() const override {
    lb::SweepCounts counts;
    for (const auto& worker : workers_) counts.push_back(worker->sweeps());
    return counts;
  }

 private:
  const std::vector<std::unique_ptr<ChurnWorker>>& workers_;
};

// Draws changes: of a whole configuration, and drains.
class Changes {
 public:
  Changes() {
    for (int pool = 0; pool < kPools; ++pool) {
      config_.pools.push_back({.name = "pool" + std::to_string(pool), .table_size = 101});
      AddBackend(pool);
    }
    config_.hash.seed = "churn";
  }

  // Makes one change. Returns what came of it.
  absl::Status Make(control::Controller& controller) {
    const int pool = static_cast<int>(random_() % kPools);
    switch (random_() % 8) {
      case 0:
      case 1:
        AddBackend(pool);
        break;
      case 2:
      case 3:
        RemoveBackend(pool);
        break;
      case 4:
        Any(pool).weight = static_cast<uint32_t>(random_() % 4);
        break;
      case 5:
        return controller.DrainBackends(NameOf(pool), {Any(pool).address.ToString()}, true).status;
      case 6:
        return controller.UndrainBackends(NameOf(pool), {Any(pool).address.ToString()}).status;
      default:
        ToggleService(static_cast<int>(random_() % kServices));
    }
    return controller.Apply(config_).status;
  }

  [[nodiscard]] const config::ServicesConfig& config() const { return config_; }

  void ToggleService(int number) {
    const std::string name = "service" + std::to_string(number);
    if (std::erase_if(config_.services, [&](const auto& one) { return one.name == name; }) > 0) {
      return;
    }
    config::Service service;
    service.name = name;
    service.prefix = *net::IpPrefix::Parse(VipOf(number));
    service.ports = {{.first = 80, .last = 80}};
    service.pool = NameOf(number % kPools);
    config_.services.push_back(service);
  }

 private:
  static std::string NameOf(int pool) { return "pool" + std::to_string(pool); }
  std::vector<config::Backend>& BackendsOf(int pool) {
    return config_.pools[static_cast<std::size_t>(pool)].backends;
  }
  config::Backend& Any(int pool) {
    auto& backends = BackendsOf(pool);
    return backends[random_() % backends.size()];
  }
  void AddBackend(int pool) {
    auto& backends = BackendsOf(pool);
    const auto address = BackendAddress(pool, static_cast<int>(random_() % kMaxBackends));
    for (const config::Backend& one : backends) {
      if (one.address == address) return;
    }
    config::Backend backend;
    backend.address = address;
    backends.push_back(backend);
  }
  void RemoveBackend(int pool) {
    auto& backends = BackendsOf(pool);
    if (backends.size() == 1) return;
    backends.erase(backends.begin() + static_cast<std::ptrdiff_t>(random_() % backends.size()));
  }

  std::minstd_rand random_{10};
  config::ServicesConfig config_;
};

std::unique_ptr<lb::Neighbors> MakeNeighbors() {
  std::vector<lb::PortIdentity> ports(1);
  ports[0].mac = testing::PacketSpec().ethernet_destination;
  ports[0].addresses = {*net::IpPrefix::Parse("198.51.100.11/24")};
  ports[0].gateways = {testing::Ip("198.51.100.1")};
  ports[0].gateway_mac = net::MacAddress{{2, 0, 0, 0, 0, 0xFE}};
  return std::make_unique<lb::Neighbors>(std::move(ports));
}

TEST(Churn, F10_TenThousandChangesUnderLoadHarmNoWorker) {
  SnapshotStore store(kWorkers, std::make_shared<const lb::ServiceTable>(lb::ServiceTableSpec{}),
                      std::chrono::seconds(20));
  const auto neighbors = MakeNeighbors();
  const auto fragments = std::make_unique<lb::FragmentTable>(lb::HashKey::FromSeed("churn"));
  std::vector<std::unique_ptr<ChurnWorker>> workers;
  for (int i = 0; i < kWorkers; ++i) {
    workers.push_back(std::make_unique<ChurnWorker>(i, store, *neighbors, *fragments));
  }
  for (const auto& worker : workers) {
    for (const auto& other : workers) {
      if (other != worker) worker->AddPeer(*other);
    }
  }
  const ChurnReader reader(workers);
  control::Controller controller(store, reader, control::TestHost());
  std::atomic<bool> stop = false;
  std::atomic<int> started = 0;
  std::vector<std::thread> threads;
  for (const auto& worker : workers) {
    threads.emplace_back([&] { worker->Run(stop, started); });
  }
  while (started.load() < kWorkers) std::this_thread::yield();
  Changes changes;
  for (int service = 0; service < kServices; ++service) changes.ToggleService(service);
  EXPECT_TRUE(controller.Apply(changes.config()).status.ok());
  int failed = 0;
  for (int i = 0; i < kChanges; ++i) {
    const absl::Status status = changes.Make(controller);
    if (!status.ok() && failed++ == 0) ADD_FAILURE() << "change " << i << ": " << status;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(store.retired_count(), 0U);
  for (const auto& worker : workers) {
    EXPECT_GT(worker->findings.forwarded, 0U);
    EXPECT_GT(worker->findings.without_service, 0U);
    EXPECT_EQ(worker->findings.astray, 0U);
    EXPECT_EQ(worker->findings.to_nobody, 0U);
    EXPECT_EQ(worker->findings.went_back, 0U);
    EXPECT_GT(worker->sweeps(), 10U);  // so that ids have been given out again
  }
}

}  // namespace
}  // namespace penstock::dpdk

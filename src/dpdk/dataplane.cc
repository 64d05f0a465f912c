#include "dpdk/dataplane.h"

#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "dpdk/numa.h"
#include "dpdk/start_error.h"
#include "penstock/lb/flow_table.h"

namespace penstock::dpdk {
namespace {

// EAL's number of a worker's thread; 0 is the main thread.
unsigned LcoreOf(std::size_t worker) {
  return static_cast<unsigned>(worker) + 1;
}

int RunWorker(void* worker) {
  static_cast<Worker*>(worker)->Run();
  return 0;
}

void FreeHugeMemory(std::byte* memory) {
  rte_free(memory);
}

// From DPDK's memory, where pages are huge: the flow table is read at random.
lb::FlowTable::Allocate AllocatorOf(std::size_t worker) {
  const auto socket = static_cast<int>(rte_lcore_to_socket_id(LcoreOf(worker)));
  return [socket](std::size_t bytes) {
    void* memory = rte_zmalloc_socket("flows", bytes, base::kCacheLine, socket);
    if (memory == nullptr) memory = rte_zmalloc("flows", bytes, base::kCacheLine);
    return lb::FlowTable::Memory(static_cast<std::byte*>(memory), FreeHugeMemory);
  };
}

// Whole parts of `total` that sum up to it.
uint32_t ShareOf(uint32_t total, std::size_t worker, std::size_t workers) {
  return static_cast<uint32_t>(total / workers + (worker < total % workers ? 1 : 0));
}

// Secret and this process's own: nobody else has to agree on where a datagram is kept.
lb::HashKey RandomKey() {
  std::random_device random;
  std::string seed;
  for (int i = 0; i < 8; ++i) seed += std::to_string(random());
  return lb::HashKey::FromSeed(seed);
}

rte_mempool* RoomiestPool(const std::vector<Worker::PortHandle>& ports) {
  return std::max_element(ports.begin(), ports.end(),
                          [](const Worker::PortHandle& a, const Worker::PortHandle& b) {
                            return rte_pktmbuf_data_room_size(a.pool) <
                                   rte_pktmbuf_data_room_size(b.pool);
                          })
      ->pool;
}

absl::Status NoFlowMemoryError(const config::DataplaneConfig& config, std::size_t worker) {
  const std::size_t bytes =
      lb::FlowTableOf<lb::FlowKey4>::BytesFor(config.flow_table.v4_entries_per_worker) +
      lb::FlowTableOf<lb::FlowKey6>::BytesFor(config.flow_table.v6_entries_per_worker);
  rte_malloc_socket_stats stats{};
  rte_malloc_get_socket_stats(0, &stats);
  return StartError(
      fmt::format("the flow tables of worker {} need {} MB and {} MB of dataplane.memory are left",
                  worker, (bytes >> 20) + 1, stats.heap_freesz_bytes >> 20),
      fmt::format("raise dataplane.memory.megabytes (now {}) or lower dataplane.flow_table",
                  config.memory.megabytes));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Dataplane>> Dataplane::Start(const config::HostConfig& config) {
  absl::StatusOr<std::unique_ptr<Eal>> eal = Eal::Start(config);
  if (!eal.ok()) return eal.status();
  std::unique_ptr<Dataplane> dataplane(new Dataplane(*std::move(eal)));
  absl::Status status = dataplane->OpenPorts(config.dataplane);
  if (status.ok()) status = dataplane->MakeWorkers(config.dataplane);
  for (const std::unique_ptr<Port>& port : dataplane->ports_) {
    if (status.ok()) status = port->Start();
  }
  if (!status.ok()) return status;
  return dataplane;
}

Dataplane::~Dataplane() {
  Stop();
}

absl::Status Dataplane::OpenPorts(const config::DataplaneConfig& config) {
  std::vector<lb::PortIdentity> identities;
  for (const config::PortConfig& port : config.ports) {
    if (absl::Status status = eal_->Probe(port); !status.ok()) return status;
    absl::StatusOr<std::unique_ptr<Port>> opened =
        Port::Open({.config = port,
                    .workers = static_cast<int>(eal_->worker_cores().size()),
                    .ports = static_cast<int>(config.ports.size())});
    if (!opened.ok()) return opened.status();
    identities.push_back({.mac = (*opened)->mac(),
                          .addresses = port.addresses,
                          .gateways = port.gateways,
                          .gateway_mac = port.gateway_mac,
                          .vlan = port.vlan});
    ports_.push_back(*std::move(opened));
  }
  neighbors_ = std::make_unique<lb::Neighbors>(std::move(identities));
  return absl::OkStatus();
}

absl::Status Dataplane::MakeWorkers(const config::DataplaneConfig& config) {
  const std::vector<int>& cores = eal_->worker_cores();
  // Workers always have a configuration, if only one without services.
  snapshots_ = std::make_unique<SnapshotStore>(
      static_cast<int>(cores.size()),
      std::make_shared<const lb::ServiceTable>(lb::ServiceTableSpec{}));
  fragments_ = std::make_unique<lb::FragmentTable>(RandomKey());
  const Worker::Shared shared{*snapshots_, *neighbors_, *fragments_};
  std::vector<Worker::PortHandle> handles;
  for (const std::unique_ptr<Port>& port : ports_) handles.push_back({port->id(), port->pool()});
  for (std::size_t i = 0; i < cores.size(); ++i) {
    std::unique_ptr<lb::FlowTable> flows =
        lb::FlowTable::Create({.v4_entries = config.flow_table.v4_entries_per_worker,
                               .v6_entries = config.flow_table.v6_entries_per_worker},
                              AllocatorOf(i));
    if (flows == nullptr) return NoFlowMemoryError(config, i);
    const Worker::Options options{.index = static_cast<int>(i),
                                  .workers = static_cast<uint32_t>(cores.size()),
                                  .core = cores[i],
                                  .ports = handles,
                                  .idle_sleep = config.idle_sleep,
                                  .icmp_rate = ShareOf(config.icmp_rate, i, cores.size()),
                                  .fragment_pool = RoomiestPool(handles)};
    workers_.push_back(std::make_unique<Worker>(options, shared, std::move(flows)));
  }
  for (const std::unique_ptr<Worker>& worker : workers_) worker->SetPeers(PeersOf(*worker));
  WarnAboutNuma();
  return absl::OkStatus();
}

std::vector<const lb::FlowTable*> Dataplane::PeersOf(const Worker& worker) const {
  std::vector<const lb::FlowTable*> peers;
  for (const std::unique_ptr<Worker>& other : workers_) {
    if (other.get() != &worker) peers.push_back(&other->flows());
  }
  return peers;
}

void Dataplane::WarnAboutNuma() const {
  std::vector<NumaPlace> workers;
  std::vector<NumaPlace> ports;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers.push_back(
        {fmt::format("worker {}", i), static_cast<int>(rte_lcore_to_socket_id(LcoreOf(i)))});
  }
  for (const auto& port : ports_) ports.push_back({port->name(), port->numa_node()});
  for (const std::string& sentence : NumaMismatches(workers, ports)) spdlog::warn("{}", sentence);
}

absl::Status Dataplane::Launch() {
  launched_ = true;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (rte_eal_remote_launch(RunWorker, workers_[i].get(), LcoreOf(i)) != 0) {
      return StartError(fmt::format("worker {} does not start", i), "restart penstockd");
    }
  }
  return absl::OkStatus();
}

void Dataplane::Stop() {
  for (const std::unique_ptr<Worker>& worker : workers_) worker->RequestStop();
  for (std::size_t i = 0; launched_ && i < workers_.size(); ++i) rte_eal_wait_lcore(LcoreOf(i));
  launched_ = false;
  for (const std::unique_ptr<Port>& port : ports_) port->Stop();
}

lb::PublishResult Dataplane::Publish(std::shared_ptr<const lb::ServiceTable> next) {
  return snapshots_->Publish(std::move(next));
}

std::vector<lb::PortStatus> Dataplane::ReadPorts() const {
  std::vector<lb::PortStatus> all;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    lb::PortStatus status = ports_[i]->ReadStatus();
    const auto port = static_cast<uint8_t>(i);
    status.gateway_v4 = neighbors_->NextHop(port, net::Family::kIpv4);
    status.gateway_v6 = neighbors_->NextHop(port, net::Family::kIpv6);
    all.push_back(std::move(status));
  }
  return all;
}

std::vector<lb::WorkerStatus> Dataplane::ReadWorkers() const {
  std::vector<lb::WorkerStatus> all;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    all.push_back(worker->ReadStatus());
    for (std::size_t i = 0; i < ports_.size(); ++i) all.back().ports[i].name = ports_[i]->name();
  }
  return all;
}

lb::PortTotals Dataplane::ReadPortCounters(std::size_t port) const {
  lb::PortTotals totals;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    const lb::PortCounters& counters = worker->counters(port);
    totals.received_packets += counters.received_packets.Read();
    totals.received_bytes += counters.received_bytes.Read();
    totals.transmitted_packets += counters.transmitted_packets.Read();
    totals.transmitted_bytes += counters.transmitted_bytes.Read();
    totals.own_packets += counters.own_packets.Read();
    totals.own_tx_full += counters.own_tx_full.Read();
    for (std::size_t v = 0; v < lb::kVerdictCount; ++v) {
      totals.verdicts[v] += counters.verdicts[v].Read();
    }
  }
  const Port::Stats device = ports_[port]->ReadStats();
  totals.device_missed = device.missed;
  totals.device_errors = device.errors;
  return totals;
}

lb::CounterTotals Dataplane::ReadCounters() const {
  lb::CounterTotals totals;
  for (std::size_t port = 0; port < ports_.size(); ++port) {
    totals.ports.push_back(ReadPortCounters(port));
    totals.ports.back().name = ports_[port]->name();
  }
  for (const std::unique_ptr<Worker>& worker : workers_) {
    for (std::size_t e = 0; e < totals.flow_events.size(); ++e) {
      totals.flow_events[e] += worker->flow_counters().events[e].Read();
    }
  }
  return totals;
}

lb::SweepCounts Dataplane::CompletedSweeps() const {
  lb::SweepCounts sweeps;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    sweeps.push_back(worker->flows().CompletedSweeps());
  }
  return sweeps;
}

std::vector<lb::KeptFlow> Dataplane::CollectFlows() const {
  std::vector<lb::KeptFlow> kept;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    lb::CollectFlows(snapshots_->Latest(), worker->flows(), base::ToTick(base::SinceStart()), kept);
  }
  return kept;
}

std::size_t Dataplane::RestoreFlows(std::span<const lb::KeptFlow> flows) {
  std::vector<lb::RestoreTarget> targets;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    targets.push_back({&workers_[i]->mutable_flows(), static_cast<int>(i)});
  }
  return lb::RestoreFlows(snapshots_->Latest(), targets, flows, base::ToTick(base::SinceStart()));
}

uint32_t Dataplane::BuffersInUse() const {
  uint32_t sum = 0;
  for (const std::unique_ptr<Port>& port : ports_) sum += port->BuffersInUse();
  return sum;
}

}  // namespace penstock::dpdk

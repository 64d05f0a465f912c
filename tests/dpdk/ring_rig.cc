#include "tests/dpdk/ring_rig.h"

#include <rte_eth_ring.h>
#include <rte_launch.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "tests/dpdk/scene.h"

namespace penstock::dpdk {
namespace {

constexpr unsigned kWorkerLcore = 1;
constexpr uint32_t kFragmentBuffers = 1023;
constexpr uint32_t kIcmpRate = 1'000'000;

[[noreturn]] void Abort(const std::string& what) {
  std::fprintf(stderr, "the rig does not start: %s\n", what.c_str());
  std::abort();
}

// Of Status and StatusOr: DPDK's ends are not tested here.
template <typename T>
T Need(absl::StatusOr<T> result) {
  if (!result.ok()) Abort(result.status().ToString());
  return *std::move(result);
}

config::HostConfig RigHost() {
  config::HostConfig host = testing::HostWithPort("net_ring_uplink");
  config::PortConfig silent = host.dataplane.ports[0];
  silent.name = "silent";
  silent.device = "net_ring_silent";
  host.dataplane.ports.push_back(silent);
  host.dataplane.memory.megabytes = 128;
  return host;
}

rte_ring* MakeRing(const std::string& name, unsigned room) {
  rte_ring* ring = rte_ring_create(name.c_str(), room, SOCKET_ID_ANY,
                                   RING_F_EXACT_SZ | RING_F_SP_ENQ | RING_F_SC_DEQ);
  if (ring == nullptr) Abort("no ring " + name);
  return ring;
}

std::unique_ptr<lb::Neighbors> MakeNeighbors() {
  std::vector<lb::PortIdentity> ports(RingRig::kPorts);
  ports[0].mac = RingRig::kMac;
  ports[0].addresses = {*net::IpPrefix::Parse("10.2.1.2/24"),
                        *net::IpPrefix::Parse("2001:db8:1::2/64")};
  ports[0].gateways = {testing::Ip("10.2.1.1")};
  ports[0].gateway_mac = testing::kGatewayMac;
  ports[1].mac = {{2, 0, 0, 0, 0, 2}};
  ports[1].addresses = {*net::IpPrefix::Parse("2001:db8:2::2/64")};
  ports[1].gateways = {testing::Ip("2001:db8:2::1")};
  return std::make_unique<lb::Neighbors>(std::move(ports));
}

}  // namespace

RingRig::RingRig(unsigned sent_room)
    : eal_(Need(Eal::Start(RigHost()))),
      neighbors_(MakeNeighbors()),
      fragments_(std::make_unique<lb::FragmentTable>(lb::HashKey::FromSeed("rig"))),
      snapshots_(1, std::make_shared<const lb::ServiceTable>(lb::ServiceTableSpec{})) {
  const config::HostConfig host = RigHost();
  Worker::Options options{.core = eal_->worker_cores()[0], .icmp_rate = kIcmpRate};
  for (std::size_t i = 0; i < kPorts; ++i) {
    const config::PortConfig& port = host.dataplane.ports[i];
    received_[i] = MakeRing("received-" + port.name, kReceiveRing);
    sent_[i] = MakeRing("sent-" + port.name, i == 0 ? sent_room : 1);
    // DPDK calls the device net_ring_NAME.
    if (rte_eth_from_rings(port.name.c_str(), &received_[i], 1, &sent_[i], 1, 0) < 0) {
      Abort("no device of rings");
    }
    ports_.push_back(Need(Port::Open({.config = port, .workers = 1, .ports = kPorts})));
    if (!ports_[i]->Start().ok()) Abort("the port does not start");
    options.ports.push_back({ports_[i]->id(), ports_[i]->pool()});
  }
  fragment_pool_ = rte_pktmbuf_pool_create("fragments", kFragmentBuffers, 0, 0,
                                           RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
  if (fragment_pool_ == nullptr) Abort("no pool of fragments");
  options.fragment_pool = fragment_pool_;
  worker_ =
      std::make_unique<Worker>(options, Worker::Shared{snapshots_, *neighbors_, *fragments_},
                               lb::FlowTable::Create({.v4_entries = 65536, .v6_entries = 1024},
                                                     lb::FlowTable::AllocateFromHeap));
  const auto run = [](void* worker) {
    static_cast<Worker*>(worker)->Run();
    return 0;
  };
  if (rte_eal_remote_launch(run, worker_.get(), kWorkerLcore) != 0) Abort("no worker");
}

RingRig::~RingRig() {
  worker_->RequestStop();
  rte_eal_wait_lcore(kWorkerLcore);
  worker_.reset();
  for (const std::unique_ptr<Port>& port : ports_) port->Stop();
  ports_.clear();
  rte_mempool_free(fragment_pool_);
  for (std::size_t i = 0; i < kPorts; ++i) {
    rte_ring_free(received_[i]);
    rte_ring_free(sent_[i]);
  }
}

rte_mbuf* RingRig::Buffer(const testing::Bytes& frame, uint16_t headroom) {
  rte_mbuf* buffer = rte_pktmbuf_alloc(ports_[0]->pool());
  if (buffer == nullptr) Abort("no buffers left");
  buffer->data_off = headroom;
  std::memcpy(rte_pktmbuf_append(buffer, static_cast<uint16_t>(frame.size())), frame.data(),
              frame.size());
  return buffer;
}

void RingRig::Feed(std::span<rte_mbuf* const> buffers) {
  const auto count = static_cast<unsigned>(buffers.size());
  std::vector<void*> objects(buffers.begin(), buffers.end());
  if (rte_ring_enqueue_bulk(received_[0], objects.data(), count, nullptr) != count) {
    Abort("more was fed than the receive ring holds");
  }
  fed_ += count;
}

void RingRig::Feed(const std::vector<testing::Bytes>& frames) {
  std::vector<rte_mbuf*> buffers;
  for (const testing::Bytes& frame : frames) buffers.push_back(Buffer(frame));
  Feed(buffers);
}

uint64_t RingRig::done() const {
  const lb::WorkerPort sum = lb::SumOf(counters(0));
  return sum.forwarded + sum.answered + sum.dropped;
}

bool RingRig::WaitDone(uint64_t but) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (done() + but < fed_) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

unsigned RingRig::SentCount(std::size_t port) const {
  return rte_ring_count(sent_[port]);
}

unsigned RingRig::TakeSent(std::size_t port, unsigned limit) {
  unsigned taken = 0;
  void* object = nullptr;
  for (; taken < limit && rte_ring_dequeue(sent_[port], &object) == 0; ++taken) {
    rte_pktmbuf_free(static_cast<rte_mbuf*>(object));
  }
  return taken;
}

std::vector<testing::Bytes> RingRig::ReadSent(std::size_t port) {
  std::vector<testing::Bytes> frames;
  void* object = nullptr;
  while (rte_ring_dequeue(sent_[port], &object) == 0) {
    auto* buffer = static_cast<rte_mbuf*>(object);
    const auto* data = rte_pktmbuf_mtod(buffer, const uint8_t*);
    frames.emplace_back(data, data + buffer->data_len);
    rte_pktmbuf_free(buffer);
  }
  return frames;
}

uint32_t RingRig::BuffersInUse() const {
  uint32_t sum = rte_mempool_in_use_count(fragment_pool_);
  for (const std::unique_ptr<Port>& port : ports_) sum += port->BuffersInUse();
  return sum;
}

}  // namespace penstock::dpdk

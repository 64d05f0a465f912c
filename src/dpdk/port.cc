#include "dpdk/port.h"

#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "dpdk/device.h"
#include "dpdk/fragments.h"
#include "dpdk/numa.h"
#include "dpdk/start_error.h"
#include "penstock/lb/burst.h"
#include "penstock/lb/held_packets.h"
#include "penstock/lb/pipeline.h"

namespace penstock::dpdk {
namespace {

constexpr uint32_t kPoolCache = 256;
// In front of each packet for outer headers, and behind it for a full frame of an untuned driver.
constexpr uint32_t kMinFrameRoom = 2048;
constexpr uint32_t kHeadroom = 256;
static_assert(RTE_PKTMBUF_HEADROOM >= lb::kMaxFront);
constexpr uint32_t kLinkOverhead = 26;  // Ethernet header, two VLAN tags, frame check sequence

// The device argument that gives a virtual device more queues.
std::string MoreQueues(std::string_view device, int workers) {
  const std::string_view driver = DriverOf(device);
  if (IsPciAddress(device)) return {};
  if (driver == "net_af_packet") return fmt::format(", or qpairs={} in its device", workers);
  if (driver == "net_af_xdp") return fmt::format(", or queue_count={} in its device", workers);
  return {};
}

// Bytes of the largest frame that a buffer takes. net_af_packet wants room for its ring's frames.
uint32_t FrameRoom(const config::PortConfig& port) {
  uint32_t ring_frame = 0;
  const std::optional<std::string> text = DeviceArgument(port.device, "framesz");
  if (text.has_value()) std::from_chars(text->data(), text->data() + text->size(), ring_frame);
  constexpr uint32_t kMaxFrameRoom = UINT16_MAX - kHeadroom;
  return std::min(kMaxFrameRoom, std::max({kMinFrameRoom, port.mtu + kLinkOverhead, ring_frame}));
}

// Devices that open as many queues as their text says, whoever reads them.
constexpr std::array<std::string_view, 3> kFixedQueues = {"net_af_packet", "net_af_xdp",
                                                          "net_pcap"};

// Packets that come to a queue without a worker would be lost, and counted nowhere.
absl::Status CheckNoneUnread(const config::PortConfig& port, const rte_eth_dev_info& info,
                             int workers) {
  const bool fixed = !IsPciAddress(port.device) &&
                     std::ranges::find(kFixedQueues, DriverOf(port.device)) != kFixedQueues.end();
  if (!fixed || info.max_rx_queues <= workers) return absl::OkStatus();
  return StartError(
      fmt::format("port {} ({}) receives on {} queues and dataplane.workers reads {}: packets of "
                  "the others would be lost",
                  port.name, info.driver_name, info.max_rx_queues, workers),
      fmt::format("{} cores in dataplane.workers, or fewer queues in the device",
                  info.max_rx_queues));
}

absl::Status CheckQueues(const config::PortConfig& port, const rte_eth_dev_info& info,
                         int workers) {
  const int queues = std::min(info.max_rx_queues, info.max_tx_queues);
  if (workers <= queues) return CheckNoneUnread(port, info, workers);
  return StartError(
      fmt::format(
          "{0} workers need {0} queues and port {1} ({2}) has {3} for receiving and {4} for "
          "sending",
          workers, port.name, info.driver_name, info.max_rx_queues, info.max_tx_queues),
      fmt::format("at most {} core{} in dataplane.workers{}", queues, queues == 1 ? "" : "s",
                  MoreQueues(port.device, workers)));
}

// What a NIC may hash to choose a packet's queue.
constexpr uint64_t kSpread = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP;
struct HashType {
  uint64_t bit;
  std::string_view name;
};
constexpr std::array<HashType, 4> kHashTypes = {{
    {RTE_ETH_RSS_NONFRAG_IPV4_TCP, "TCP over IPv4"},
    {RTE_ETH_RSS_NONFRAG_IPV6_TCP, "TCP over IPv6"},
    {RTE_ETH_RSS_NONFRAG_IPV4_UDP, "UDP over IPv4"},
    {RTE_ETH_RSS_NONFRAG_IPV6_UDP, "UDP over IPv6"},
}};

// A NIC may offer queues and have nothing that fills them (the 82574L): all is well but for the
// workers that idle, and nobody would know. Virtual devices spread in ways of their own.
void WarnAboutSpread(const config::PortConfig& port, const rte_eth_dev_info& info, int workers) {
  if (!IsPciAddress(port.device)) return;
  if ((info.flow_type_rss_offloads & kSpread) == 0) {
    spdlog::warn(
        "port {}: {} has no receive side scaling: all packets may come to one of the {} "
        "workers",
        port.name, info.driver_name, workers);
    return;
  }
  std::vector<std::string_view> lost;
  for (const HashType& type : kHashTypes) {
    if ((info.flow_type_rss_offloads & type.bit) == 0) lost.push_back(type.name);
  }
  if (lost.empty()) return;
  spdlog::warn("port {}: {} does not spread {} over the workers by port numbers", port.name,
               info.driver_name, fmt::join(lost, ", "));
}

absl::Status DeviceError(const config::PortConfig& port, std::string_view what, int error) {
  return StartError(fmt::format("port {}: {} fails: {}", port.name, what, rte_strerror(-error)),
                    "`log: {level: debug}` in penstockd.yaml shows what the driver says");
}

absl::Status NoBuffersError(const config::PortConfig& port, uint32_t buffers, uint32_t bytes) {
  rte_malloc_socket_stats stats{};
  rte_malloc_get_socket_stats(0, &stats);
  return StartError(
      fmt::format("port {}: {} packet buffers need {} MB and {} MB of dataplane.memory are left",
                  port.name, buffers, (uint64_t{buffers} * bytes >> 20) + 1,
                  stats.heap_freesz_bytes >> 20),
      "raise dataplane.memory.megabytes");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Port>> Port::Open(const Options& options) {
  uint16_t id = 0;
  const std::string name = DeviceName(options.config.device);
  if (const int error = rte_eth_dev_get_port_by_name(name.c_str(), &id); error != 0) {
    return StartError(
        fmt::format("port {}: DPDK has no driver for device {}", options.config.name, name),
        "take a device that the drivers in `dpdk-devbind.py --status-dev net` support");
  }
  std::unique_ptr<Port> port(new Port(options, id));
  const absl::Status status = port->Configure();
  if (!status.ok()) return status;
  return port;
}

Port::~Port() {
  Stop();
  rte_mempool_free(pool_);
}

absl::Status Port::Configure() {
  rte_eth_dev_info info{};
  if (const int error = rte_eth_dev_info_get(id_, &info); error != 0) {
    return DeviceError(options_.config, "reading its capabilities", error);
  }
  driver_ = info.driver_name;
  absl::Status status = CheckQueues(options_.config, info, options_.workers);
  if (status.ok()) status = ConfigureDevice(info);
  if (status.ok()) status = CreatePool();
  if (status.ok()) status = SetUpQueues(info);
  if (status.ok()) status = SetMtu();
  if (!status.ok()) return status;
  rte_ether_addr address{};
  rte_eth_macaddr_get(id_, &address);
  std::copy_n(address.addr_bytes, mac_.bytes.size(), mac_.bytes.begin());
  return absl::OkStatus();
}

absl::Status Port::ConfigureDevice(const rte_eth_dev_info& info) {
  const auto queues = static_cast<uint16_t>(options_.workers);
  rte_eth_conf conf{};
  conf.rxmode.offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM;
  const uint64_t rss = kSpread & info.flow_type_rss_offloads;
  if (queues > 1 && rss != 0) {
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_hf = rss;
  }
  if (queues > 1) WarnAboutSpread(options_.config, info, queues);
  int error = rte_eth_dev_configure(id_, queues, queues, &conf);
  if (error != 0) return DeviceError(options_.config, "configuring it", error);
  error = rte_eth_dev_adjust_nb_rx_tx_desc(id_, &rx_descriptors_, &tx_descriptors_);
  if (error != 0) return DeviceError(options_.config, "sizing its rings", error);
  return absl::OkStatus();
}

absl::Status Port::CreatePool() {
  const auto workers = static_cast<uint32_t>(options_.workers);
  const auto ports = static_cast<uint32_t>(options_.ports);
  // Every ring full, every cache full (they hold up to 1.5 times their size), a burst in hand and
  // its fragments, and all that may wait for a first fragment.
  const uint32_t buffers = workers * (rx_descriptors_ + ports * tx_descriptors_ + kPoolCache * 2 +
                                      static_cast<uint32_t>(lb::kBurstSize) +
                                      static_cast<uint32_t>(Fragments::kMaxFrames) +
                                      static_cast<uint32_t>(lb::HeldPackets<rte_mbuf*>::kCapacity));
  const uint32_t frame = FrameRoom(options_.config);
  const uint32_t room = frame + kHeadroom;
  const int node = rte_eth_dev_socket_id(id_);
  const PacketPool created = CreatePacketPool(fmt::format("packets-{}", id_), buffers, kPoolCache,
                                              static_cast<uint16_t>(room), node);
  pool_ = created.pool;
  if (pool_ == nullptr) {
    return NoBuffersError(options_.config, buffers, room + uint32_t{sizeof(rte_mbuf)});
  }
  if (!created.is_near) {
    spdlog::warn(
        "port {}: its NUMA node {} has no room for its packet buffers, which are on another now "
        "and slower; give that node hugepages",
        options_.config.name, node);
  }
  return absl::OkStatus();
}

absl::Status Port::SetUpQueues(const rte_eth_dev_info& info) {
  const auto socket = static_cast<unsigned>(rte_eth_dev_socket_id(id_));
  rte_eth_rxconf rx = info.default_rxconf;
  rx.offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM;
  rte_eth_txconf tx = info.default_txconf;
  tx.offloads = 0;  // no fast free: a worker sends buffers of every port's pool
  for (uint16_t queue = 0; queue < options_.workers; ++queue) {
    int error = rte_eth_rx_queue_setup(id_, queue, rx_descriptors_, socket, &rx, pool_);
    if (error != 0) return DeviceError(options_.config, "setting up a receive queue", error);
    error = rte_eth_tx_queue_setup(id_, queue, tx_descriptors_, socket, &tx);
    if (error != 0) return DeviceError(options_.config, "setting up a transmit queue", error);
  }
  return absl::OkStatus();
}

// Virtual drivers may refuse and send large frames all the same (net_af_packet): the packet path
// checks the size, and the link below decides. A NIC that refuses would lose large frames where no
// counter shows it.
absl::Status Port::SetMtu() {
  const int error = rte_eth_dev_set_mtu(id_, options_.config.mtu);
  if (error == 0) return absl::OkStatus();
  if (IsPciAddress(options_.config.device)) {
    return DeviceError(options_.config, fmt::format("setting an MTU of {}", options_.config.mtu),
                       error);
  }
  spdlog::info("port {}: {} does not set an MTU of {} ({}); set it on the link below",
               options_.config.name, driver_, options_.config.mtu, rte_strerror(-error));
  return absl::OkStatus();
}

// Neighbor solicitations go to a multicast address (RFC 4861 section 7.2.2).
void Port::ReceiveMulticast() {
  if (rte_eth_allmulticast_enable(id_) == 0 || rte_eth_promiscuous_enable(id_) == 0) return;
  spdlog::debug("port {}: {} has neither multicast nor promiscuous mode", options_.config.name,
                driver_);
}

int Port::numa_node() const {
  return rte_eth_dev_socket_id(id_);
}

absl::Status Port::Start() {
  if (const int error = rte_eth_dev_start(id_); error != 0) {
    return DeviceError(options_.config, "starting it", error);
  }
  ReceiveMulticast();
  return absl::OkStatus();
}

void Port::Stop() {
  if (!open_) return;
  open_ = false;
  rte_eth_dev_stop(id_);
  rte_eth_dev_close(id_);
}

lb::PortStatus Port::ReadStatus() const {
  lb::PortStatus status;
  status.name = options_.config.name;
  status.device = options_.config.device;
  status.driver = driver_;
  status.mac = mac_;
  status.mtu = options_.config.mtu;
  status.rx_queues = static_cast<uint16_t>(options_.workers);
  status.tx_queues = status.rx_queues;
  rte_eth_link link{};
  if (open_ && rte_eth_link_get_nowait(id_, &link) == 0) {
    status.link_up = link.link_status == RTE_ETH_LINK_UP;
    const bool known = link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN;
    status.speed_mbps = known ? link.link_speed : 0;
  }
  return status;
}

Port::Stats Port::ReadStats() const {
  rte_eth_stats stats{};
  if (!open_ || rte_eth_stats_get(id_, &stats) != 0) return {};
  return {stats.imissed, stats.ierrors};
}

uint32_t Port::BuffersInUse() const {
  return rte_mempool_in_use_count(pool_);
}

}  // namespace penstock::dpdk

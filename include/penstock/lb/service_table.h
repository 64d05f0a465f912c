// One generation of the configuration as workers read it: immutable, reached through one pointer.

#ifndef PENSTOCK_LB_SERVICE_TABLE_H_
#define PENSTOCK_LB_SERVICE_TABLE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/lb/address_set.h"
#include "penstock/lb/backend_path.h"
#include "penstock/lb/counters.h"
#include "penstock/lb/flow_key.h"
#include "penstock/lb/new_flow_limiter.h"
#include "penstock/lb/pool_table.h"
#include "penstock/lb/vip_index.h"
#include "penstock/net/address.h"
#include "penstock/net/wire.h"

namespace penstock::lb {

// What the port that sends needs to be known for. Order as in penstockd.yaml.
struct EgressPort {
  std::vector<net::IpPrefix> addresses;  // ours: outer sources, and never a legal inner source
  bool reaches_v4 = false;               // has an address and a gateway of that family
  bool reaches_v6 = false;
  uint16_t mtu = 1500;  // bytes of IP packet
};

// A backend as the Encap stage needs it. One cache line; reached by BackendId.
struct alignas(base::kCacheLine) Backend {
  // Outer header without length, traffic class, flow label, protocol and checksum. IPv4 uses the
  // first 20.
  std::array<uint8_t, net::kIpv6Size> outer{};
  BackendCounters* counters = nullptr;  // [worker]; null: this id is not in use
  BackendPath* path = nullptr;          // null together with counters
  uint16_t mtu = 0;                     // largest packet that egress_port sends, bytes
  uint16_t l2_mtu = 0;                  // ... l2_port
  net::Family family = net::Family::kIpv4;
  uint8_t egress_port = 0;           // to its gateway
  uint8_t l2_port = 0;               // on whose segment it is, for services with encapsulation l2
  bool takes_new_flows : 1 = false;  // active, healthy, weight > 0; or chosen by on_no_backend
  bool draining : 1 = false;
  bool healthy : 1 = false;
  bool serves_tcp_flows : 1 = false;  // may go on with TCP flows it has
  bool serves_udp_flows : 1 = false;
  bool routed : 1 = false;      // egress_port has a gateway of the family
  bool on_segment : 1 = false;  // of l2_port, and asked for: some l2 service sends to it

  [[nodiscard]] net::IpAddress address() const;
};
static_assert(sizeof(Backend) == base::kCacheLine);

// How packets reach the backend.
enum class Encapsulation : uint8_t { kIpip, kGre, kGue, kL2 };

// Bytes that it puts in front of the inner packet. `outer`: the backend's family.
[[nodiscard]] constexpr std::size_t Overhead(Encapsulation encapsulation, net::Family outer) {
  const std::size_t ip = outer == net::Family::kIpv4 ? net::kIpv4Size : net::kIpv6Size;
  switch (encapsulation) {
    case Encapsulation::kIpip:
      return ip;
    case Encapsulation::kGre:
      return ip + sizeof(net::GreHeader);
    case Encapsulation::kGue:
      return ip + sizeof(net::UdpHeader) + sizeof(net::GueHeader);
    case Encapsulation::kL2:
      return 0;
  }
  return 0;
}

// Where outer headers come from instead of the port's address: each flow has its own source, for
// fabrics that spread by outer addresses only.
struct OuterSource {
  net::IpPrefix prefix;
  // The source for a flow (docs/PACKETS.md section 5).
  [[nodiscard]] net::IpAddress For(FlowHash hash) const;
};

// Which flows have an entry.
enum class Tracking : uint8_t {
  kFull,            // all
  kTransitionOnly,  // those whose slot had a previous owner when they began, or that have one
                    // anyway
  kNone,            // none: the current owner of the slot gets everything
};

// A service as the packet path needs it.
struct Service {
  ServiceId id = kNoId;
  uint32_t pool = 0;  // index into ServiceTable::pools()
  SlotHash hash = SlotHash::kFiveTuple;
  Encapsulation encapsulation = Encapsulation::kIpip;
  bool gue_checksum = true;         // GUE over IPv6: UDP checksum computed, else zero
  bool steer_fragments = true;      // else they are dropped
  uint16_t tcp_idle_timeout = 900;  // ticks, <= kMaxIdleTimeout
  uint16_t udp_idle_timeout = 30;
  Tracking tracking = Tracking::kFull;
  NewFlowRate new_flow_rate{};
  NewFlowWindow* new_flows = nullptr;  // [worker]; set if new_flow_rate is
  // Whether packets of the service can get to a backend: a flow may know one of a former pool.
  [[nodiscard]] bool Reaches(const Backend& backend) const {
    return encapsulation == Encapsulation::kL2 ? backend.on_segment : backend.routed;
  }

  const AddressSet* denied = nullptr;         // sources; null: none. Owned by the table
  const OuterSource* outer_source = nullptr;  // null: the port's address. Owned by the table
};

// Idle timeouts above this could be mistaken for fresh ones once 16-bit ticks wrap: 8 h.
inline constexpr base::Tick kMaxIdleTimeout = 8 * 3600;

struct Pool {
  std::shared_ptr<const PoolTable> table;
  std::vector<BackendId> ids;  // by member index
};

// What a ServiceTable is made from.
struct ServiceTableSpec {
  struct ServiceSpec {
    VipEntry vip;
    Service service;
    std::vector<net::IpPrefix> deny;
    std::optional<net::IpPrefix> outer_source;
  };
  struct PoolSpec {
    std::shared_ptr<const PoolTable> table;
    std::vector<BackendId> ids;              // by member index of `table`
    std::vector<BackendCounters*> counters;  // likewise; arrays of one element a worker
    std::vector<BackendPath*> paths;         // likewise
  };
  HashKey key;
  uint64_t generation = 0;
  std::vector<EgressPort> ports;
  std::vector<PoolSpec> pools;
  std::vector<ServiceSpec> services;
  std::vector<std::shared_ptr<void>> keep_alive;  // owners of counters and paths
};

// Thread safety: immutable after construction; any thread.
class ServiceTable {
 public:
  // REQUIRES: ids in [1, kMaxId], one for each (pool, address); pool indices valid; every backend's
  // family reached by some port; services do not intersect. (control validates all of it first.)
  explicit ServiceTable(ServiceTableSpec spec);
  ServiceTable(const ServiceTable&) = delete;
  ServiceTable& operator=(const ServiceTable&) = delete;

  // What is there for a packet.
  struct Match {
    const Service* service = nullptr;
    bool is_vip = false;         // without a service: some service has the address
    bool by_exact_port = false;  // the service lists the very port
  };
  // By destination, port and protocol of the key.
  [[nodiscard]] Match Find(const FlowKey4& key) const { return ToMatch(vips4_.Find(key)); }
  [[nodiscard]] Match Find(const FlowKey6& key) const { return ToMatch(vips6_.Find(key)); }
  // What the VIP does with a ping; null if the key's destination is no VIP.
  [[nodiscard]] const Vip* FindVip(const FlowKey4& key) const { return vips4_.FindVip(key); }
  [[nodiscard]] const Vip* FindVip(const FlowKey6& key) const { return vips6_.FindVip(key); }
  [[nodiscard]] const Service& EchoService(const Vip& vip) const {
    return services_[vip.echo_service];
  }
  // True if `address` is one of our ports' or inside an outer_source_prefix.
  [[nodiscard]] bool IsOwnAddress(const net::IpAddress& address) const {
    return own_addresses_.Contains(address);
  }
  // Calls `visit(backend)` for those with this address, in whatever pool. Not for every packet.
  template <typename Visit>
  void ForEachBackendAt(const net::IpAddress& address, Visit&& visit) const {
    const auto range =
        std::equal_range(by_address_.begin(), by_address_.end(), AtAddress{address, kNoId},
                         [](const AtAddress& a, const AtAddress& b) { return a.first < b.first; });
    for (auto it = range.first; it != range.second; ++it) visit(backends_[it->second]);
  }
  // True for the network and broadcast addresses of our ports' own networks: nobody sends from
  // them.
  [[nodiscard]] bool IsBroadcast(const net::IpAddress& address) const {
    return broadcasts_.Contains(address);
  }
  // Largest IP packet that the port sends, bytes.
  [[nodiscard]] uint16_t port_mtu(uint8_t port) const { return port_mtus_[port]; }
  // The backends that l2 services send to, in order of address.
  [[nodiscard]] std::span<const WatchedNeighbor> watched_neighbors() const { return watched_; }

  // Null if no service of this generation has the id.
  [[nodiscard]] const Service* service(ServiceId id) const {
    return id < services_by_id_.size() ? services_by_id_[id] : nullptr;
  }
  [[nodiscard]] const Pool& pool(uint32_t index) const { return pools_[index]; }
  // A backend that serves nothing for an id that is not in use.
  [[nodiscard]] const Backend& backend(BackendId id) const {
    return backends_[id < backends_.size() ? id : kNoId];
  }
  [[nodiscard]] const HashKey& key() const { return key_; }
  [[nodiscard]] uint64_t generation() const { return generation_; }

 private:
  using AtAddress = std::pair<net::IpAddress, BackendId>;

  ServiceTable(ServiceTableSpec spec, const std::vector<VipEntry>& vips);
  void AddBackends(const ServiceTableSpec::PoolSpec& pool, std::span<const EgressPort> ports);
  void AddServices(const ServiceTableSpec& spec);
  void WatchL2Backends(std::span<const EgressPort> ports);
  template <typename Found>
  [[nodiscard]] Match ToMatch(const Found& found) const {
    if (found.service == kNoService) return {.is_vip = found.vip != nullptr};
    return {&services_[found.service], true, found.by_exact_port};
  }

  HashKey key_;
  uint64_t generation_;
  AddressSet own_addresses_;
  AddressSet broadcasts_;
  std::vector<uint16_t> port_mtus_;
  std::vector<Pool> pools_;
  std::vector<Backend> backends_;  // by BackendId; [0] serves nothing
  std::vector<AtAddress> by_address_;
  std::vector<WatchedNeighbor> watched_;
  std::vector<Service> services_;
  std::vector<const Service*> services_by_id_;
  std::vector<std::unique_ptr<const AddressSet>> denied_;
  std::vector<std::unique_ptr<const OuterSource>> outer_sources_;
  VipIndex<FlowKey4> vips4_;
  VipIndex<FlowKey6> vips6_;
  std::vector<std::shared_ptr<void>> keep_alive_;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_SERVICE_TABLE_H_

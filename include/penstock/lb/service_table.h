// One generation of the configuration as workers read it: immutable, reached through one pointer.

#ifndef PENSTOCK_LB_SERVICE_TABLE_H_
#define PENSTOCK_LB_SERVICE_TABLE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/lb/counters.h"
#include "penstock/lb/exact_index.h"
#include "penstock/lb/flow_key.h"
#include "penstock/lb/pool_table.h"
#include "penstock/net/address.h"
#include "penstock/net/wire.h"

namespace penstock::lb {

// What the port that sends needs to be known for. Order as in penstockd.yaml.
struct EgressPort {
  std::vector<net::IpAddress> addresses;  // ours: outer sources, and never a legal inner source
  bool reaches_v4 = false;                // has an address and a gateway of that family
  bool reaches_v6 = false;
  uint16_t mtu = 1500;  // bytes of IP packet
};

// A backend as the Encap stage needs it. One cache line; reached by BackendId.
struct alignas(base::kCacheLine) Backend {
  // Outer header without length, traffic class, flow label and checksum. IPv4 uses the first 20.
  std::array<uint8_t, net::kIpv6Size> outer{};
  BackendCounters* counters = nullptr;  // [worker]; null: this id is not in use
  uint16_t mtu = 0;                     // largest outer packet, bytes
  net::Family family = net::Family::kIpv4;
  uint8_t egress_port = 0;
  bool takes_new_flows = false;  // active, healthy, weight > 0; or chosen by on_no_backend
  bool draining = false;
  bool healthy = false;
  bool serves_tcp_flows = false;  // may go on with TCP flows it has
  bool serves_udp_flows = false;
};
static_assert(sizeof(Backend) == base::kCacheLine);

// A service as the packet path needs it.
struct Service {
  ServiceId id = kNoId;
  uint32_t pool = 0;  // index into ServiceTable::pools()
  SlotHash hash = SlotHash::kFiveTuple;
  uint16_t tcp_idle_timeout = 900;  // ticks, <= kMaxIdleTimeout
  uint16_t udp_idle_timeout = 30;
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
    net::IpAddress address;
    uint8_t protocol = net::kProtocolTcp;
    std::vector<uint16_t> ports;  // each its own exact match
    Service service;
  };
  struct PoolSpec {
    std::shared_ptr<const PoolTable> table;
    std::vector<BackendId> ids;              // by member index of `table`
    std::vector<BackendCounters*> counters;  // likewise; arrays of one element a worker
  };
  HashKey key;
  uint64_t generation = 0;
  std::vector<EgressPort> ports;
  std::vector<PoolSpec> pools;
  std::vector<ServiceSpec> services;
  std::vector<std::shared_ptr<void>> keep_alive;  // owners of the counters
};

// Thread safety: immutable after construction; any thread.
class ServiceTable {
 public:
  // REQUIRES: ids in [1, kMaxId], one for each (pool, address); pool indices valid; every backend's
  // family reached by some port; services do not intersect. (control validates all of it first.)
  explicit ServiceTable(ServiceTableSpec spec);
  ServiceTable(const ServiceTable&) = delete;
  ServiceTable& operator=(const ServiceTable&) = delete;

  // The service of an exact address, protocol and port; null if there is none.
  [[nodiscard]] const Service* Find(const FlowKey4& key) const;
  [[nodiscard]] const Service* Find(const FlowKey6& key) const;
  // True if some service has this address, whatever protocol and port.
  [[nodiscard]] bool IsVip(const FlowKey4& key) const;
  [[nodiscard]] bool IsVip(const FlowKey6& key) const;
  // True if `source` is an address of one of our ports.
  [[nodiscard]] bool IsOwnAddress(const net::IpAddress& source) const;

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
  void AddBackends(const ServiceTableSpec::PoolSpec& pool, std::span<const EgressPort> ports);
  void AddService(const ServiceTableSpec::ServiceSpec& spec, uint32_t index);

  HashKey key_;
  uint64_t generation_;
  std::vector<net::IpAddress> own_addresses_;
  std::vector<Pool> pools_;
  std::vector<Backend> backends_;  // by BackendId; [0] serves nothing
  std::vector<Service> services_;
  std::vector<const Service*> services_by_id_;
  ExactIndex<FlowKey4> index4_;  // keys with source, source port and service id zero
  ExactIndex<FlowKey6> index6_;
  std::vector<std::shared_ptr<void>> keep_alive_;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_SERVICE_TABLE_H_

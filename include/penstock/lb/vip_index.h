// Which service a packet is for: the longest prefix, then the exact port, then a range of ports,
// then every port.

#ifndef PENSTOCK_LB_VIP_INDEX_H_
#define PENSTOCK_LB_VIP_INDEX_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/lb/exact_index.h"
#include "penstock/lb/flow_key.h"
#include "penstock/net/address.h"
#include "penstock/net/wire.h"

namespace penstock::lb {

// Ports first to last, both included.
struct PortRange {
  uint16_t first = 0;
  uint16_t last = 0;
};

// Who answers a ping of the VIP.
enum class IcmpEcho : uint8_t { kReply, kForward, kDrop };

// A service as the index needs it.
struct VipEntry {
  net::IpPrefix prefix;
  uint8_t protocol = net::kProtocolTcp;  // or UDP
  std::vector<PortRange> ports;          // none: every port
  IcmpEcho echo = IcmpEcho::kReply;      // equal for all entries of a prefix
};

inline constexpr uint32_t kNoService = UINT32_MAX;

// A prefix that some service has.
struct Vip {
  IcmpEcho echo = IcmpEcho::kReply;
  uint32_t echo_service = kNoService;  // to whose backends pings go under kForward
};

// Thread safety: immutable after construction; any thread.
template <typename Key>
class VipIndex {
 public:
  // Indexes those of `entries` that are of the key's family; services are positions in `entries`.
  // Entries do not intersect: same prefix and protocol and a common port, or ranges that overlap;
  // a single port inside a range is no intersection.
  VipIndex(std::span<const VipEntry> entries, const HashKey& secret);

  struct Match {
    uint32_t service = kNoService;
    const Vip* vip = nullptr;    // null without a service: no prefix has the address
    bool by_exact_port = false;  // the service lists the very port
  };
  // By destination, destination port and protocol of the key. One probe for a service of one
  // address and one port; else as many as there are prefix lengths, and a binary search.
  [[nodiscard]] Match Find(const Key& key) const;
  // By destination alone; null if no prefix has it.
  [[nodiscard]] const Vip* FindVip(const Key& key) const;

 private:
  struct Range {
    uint16_t first;
    uint16_t last;
    uint32_t service;
  };
  // What is left of one prefix and protocol beside exact ports.
  struct Rest {
    std::vector<Range> ranges;  // in order, disjoint
    uint32_t any = kNoService;
  };
  struct Node {
    Vip vip;
    std::array<Rest, 2> rest;  // TCP, UDP
  };
  struct Length {
    uint8_t bits;  // 0: the full length
    std::array<uint64_t, 2> mask;
  };

  void Add(const VipEntry& entry, uint32_t service);
  void ChooseEchoServices(std::span<const VipEntry> entries);
  [[nodiscard]] static Length MakeLength(uint8_t bits);
  [[nodiscard]] static Key IndexKey(const Key& packet, const Length& length);
  [[nodiscard]] static Key KeyOf(const VipEntry& entry, uint16_t port, uint8_t protocol);
  [[nodiscard]] Match FindIn(uint32_t node, const Key& exact) const;

  ExactIndex<Key> exact_;     // address, port, protocol and prefix length to a service
  ExactIndex<Key> prefixes_;  // address and prefix length to a node
  std::vector<Node> nodes_;
  std::vector<Length> lengths_;  // that occur, longest first
};

extern template class VipIndex<FlowKey4>;
extern template class VipIndex<FlowKey6>;

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_VIP_INDEX_H_

// ARP (RFC 826) and neighbor discovery (RFC 4861) for the ports: answers for their addresses, and
// finds the MAC addresses of their gateways.

#ifndef PENSTOCK_LB_NEIGHBORS_H_
#define PENSTOCK_LB_NEIGHBORS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/lb/neighbor.h"
#include "penstock/lb/verdict.h"
#include "penstock/net/address.h"
#include "penstock/net/wire.h"

namespace penstock::lb {

// One port as its neighbors see it. Ports with the same MAC and IP addresses are queues of one
// interface: what is learned at one of them holds for all.
struct PortIdentity {
  net::MacAddress mac;
  std::vector<net::IpPrefix> addresses;
  std::vector<net::IpAddress> gateways;        // at most one of a family is used: the first
  std::optional<net::MacAddress> gateway_mac;  // given by the operator: nothing is resolved
  uint16_t vlan = 0;                           // tag of what is sent; 0: none
};

// A request to send, of our own making.
struct Solicitation {
  uint8_t port = 0;
  uint8_t size = 0;  // bytes
  std::array<uint8_t, net::kEthernetSize + net::kVlanTagSize + 72> frame{};
};

// The l2 backends of the running generation, in order of address.
using WatchedNeighbors = std::span<const WatchedNeighbor>;

// Thread safety: everything from any worker, but DueSolicitations from one thread.
class Neighbors {
 public:
  static constexpr std::size_t kWatchedAtOnce = 32;

  explicit Neighbors(std::vector<PortIdentity> ports);
  ~Neighbors();
  Neighbors(const Neighbors&) = delete;
  Neighbors& operator=(const Neighbors&) = delete;

  [[nodiscard]] const net::MacAddress& mac(uint8_t port) const { return ports_[port].mac; }
  [[nodiscard]] uint16_t vlan(uint8_t port) const { return ports_[port].vlan; }

  // MAC address of the port's gateway of a family; nullopt while it is not known.
  [[nodiscard]] std::optional<net::MacAddress> NextHop(uint8_t port, net::Family family) const;

  // What becomes of an ARP or neighbor discovery message.
  struct Handled {
    Verdict verdict = Verdict::kLearnNeighbor;
    // For an answer: whom to send it to, and its size without the link header.
    net::MacAddress to;
    uint16_t size = 0;
  };
  // Reads an ARP message that came in through `port`; `arp` begins behind the link header. A
  // request for one of the port's addresses is turned into the reply in place: kAnswerArp.
  Handled HandleArp(uint8_t port, std::span<uint8_t> arp, base::Tick now, WatchedNeighbors watched);

  // Reads a neighbor discovery message; `packet` is the IPv6 packet, `l4_offset` that of ICMPv6 in
  // it, `from` the frame's source. A solicitation for one of the port's addresses becomes the
  // advertisement in place: kAnswerNdp. `room`: bytes usable from the packet's start.
  // REQUIRES: IsNeighborDiscovery.
  Handled HandleNeighborMessage(uint8_t port, std::span<uint8_t> packet, std::size_t l4_offset,
                                std::size_t room, const net::MacAddress& from, base::Tick now,
                                WatchedNeighbors watched);
  // True if the ICMPv6 message is a neighbor solicitation or advertisement.
  [[nodiscard]] static bool IsNeighborDiscovery(std::span<const uint8_t> packet,
                                                std::size_t l4_offset);

  // Hands out requests that are due at `now`: broadcast or multicast each second while a neighbor
  // is unknown, unicast now and then while it is known. To be called about each millisecond: looks
  // at the gateways and at the next kWatchedAtOnce of `watched`, so that many silent backends do
  // not keep a worker from its packets. No allocation.
  void DueSolicitations(base::Tick now, WatchedNeighbors watched,
                        const std::function<void(const Solicitation&)>& send);

 private:
  struct Gateway {
    net::IpAddress address;
    net::IpAddress ask_from;
    Neighbor state;
  };
  struct Port {
    net::MacAddress mac;
    uint16_t vlan = 0;
    std::vector<net::IpPrefix> addresses;
    std::array<std::unique_ptr<Gateway>, 2> gateways;  // by Family; null: none
    // The first port of the same interface, which is the one that asks and learns.
    uint8_t first = 0;
  };
  static Port MakePort(const PortIdentity& identity);
  [[nodiscard]] static bool IsOurs(const Port& port, const net::IpAddress& address);
  // What is asked for under this address, or null.
  [[nodiscard]] Neighbor* Find(uint8_t port, const net::IpAddress& address,
                               WatchedNeighbors watched);
  void Learn(uint8_t port, const net::IpAddress& address, const net::MacAddress& mac,
             base::Tick now, WatchedNeighbors watched);
  [[nodiscard]] Solicitation Ask(uint8_t port, const net::IpAddress& ask_from,
                                 const net::IpAddress& address, const Neighbor& state) const;

  std::vector<Port> ports_;
  std::size_t next_watched_ = 0;  // the asker's own
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_NEIGHBORS_H_

// ARP (RFC 826) and neighbor discovery (RFC 4861) for the ports: answers for their addresses, and
// finds the MAC addresses of their gateways.

#ifndef PENSTOCK_LB_NEIGHBORS_H_
#define PENSTOCK_LB_NEIGHBORS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/lb/verdict.h"
#include "penstock/net/address.h"

namespace penstock::lb {

// One port as its neighbors see it.
struct PortIdentity {
  net::MacAddress mac;
  std::vector<net::IpPrefix> addresses;
  std::vector<net::IpAddress> gateways;        // at most one of a family is used: the first
  std::optional<net::MacAddress> gateway_mac;  // given by the operator: nothing is resolved
};

// A request to send, of our own making.
struct Solicitation {
  uint8_t port = 0;
  uint8_t size = 0;  // bytes
  std::array<uint8_t, 90> frame{};
};

// Thread safety: HandleArp, HandleIcmpv6 and NextHop from any worker; DueSolicitations from one
// thread. The MAC addresses found are single words that any worker stores and any worker reads.
class Neighbors {
 public:
  explicit Neighbors(std::vector<PortIdentity> ports);
  ~Neighbors();
  Neighbors(const Neighbors&) = delete;
  Neighbors& operator=(const Neighbors&) = delete;

  [[nodiscard]] const net::MacAddress& mac(uint8_t port) const { return ports_[port].mac; }

  // MAC address of the port's gateway of a family; nullopt while it is not known.
  [[nodiscard]] std::optional<net::MacAddress> NextHop(uint8_t port, net::Family family) const;

  // Reads an ARP frame that came in through `port`. A request for one of the port's addresses is
  // turned into the reply in place (same length): kAnswerArp.
  Verdict HandleArp(uint8_t port, std::span<uint8_t> frame, base::Tick now);

  // Reads an ICMPv6 frame (view.l4_offset is that of ICMPv6). A solicitation for one of the port's
  // addresses becomes the advertisement in place; `length` is set to the bytes to send. `room`:
  // bytes usable from the frame's start. Anything but neighbor discovery: kDropIcmp.
  Verdict HandleIcmpv6(uint8_t port, std::span<uint8_t> frame, uint16_t l4_offset, std::size_t room,
                       uint16_t& length, base::Tick now);

  // Hands out the requests that are due at `now`: broadcast or multicast each second while a
  // gateway is unknown, unicast now and then while it is known; three unanswered forget it. No
  // allocation.
  void DueSolicitations(base::Tick now, const std::function<void(const Solicitation&)>& send);

 private:
  struct Gateway;
  struct Port {
    net::MacAddress mac;
    std::vector<net::IpPrefix> addresses;
    std::array<std::unique_ptr<Gateway>, 2> gateways;  // by Family; null: none
  };
  // Whether to ask for it now; keeps the asker's books and forgets who is silent for too long.
  static bool IsDue(Gateway& gateway, base::Tick now);
  [[nodiscard]] bool IsOurs(const Port& port, const net::IpAddress& address) const;
  void Learn(Port& port, const net::IpAddress& address, const net::MacAddress& mac, base::Tick now);

  std::vector<Port> ports_;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_NEIGHBORS_H_

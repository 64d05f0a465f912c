// The link header of what is sent: Ethernet, and the egress port's VLAN tag if it has one.

#ifndef PENSTOCK_LB_LINK_H_
#define PENSTOCK_LB_LINK_H_

#include <cstddef>
#include <cstdint>

#include "penstock/lb/burst.h"
#include "penstock/lb/neighbors.h"
#include "penstock/net/wire.h"

namespace penstock::lb {

[[nodiscard]] inline std::size_t LinkSize(uint16_t vlan) {
  return vlan == 0 ? net::kEthernetSize : net::kEthernetSize + net::kVlanTagSize;
}

// REQUIRES: LinkSize(vlan) writable bytes at `at`.
inline void WriteLink(uint8_t* at, const net::MacAddress& to, const net::MacAddress& from,
                      uint16_t vlan, uint16_t type) {
  if (vlan == 0) {
    net::Store(at, net::EthernetHeader{to, from, base::be16_t(type)});
    return;
  }
  net::Store(at, net::EthernetHeader{to, from, base::be16_t(net::kEtherTypeVlan)});
  net::Store(at + net::kEthernetSize, net::VlanTag{base::be16_t(vlan), base::be16_t(type)});
}

// Writable bytes of packet i's buffer in front of `at`. REQUIRES: `at` inside the buffer.
[[nodiscard]] inline std::size_t RoomBefore(const PacketBurst& burst, std::size_t i,
                                            const uint8_t* at) {
  return static_cast<std::size_t>(burst.headroom[i] + (at - burst.data[i]));
}

// Makes `size` bytes at `l3` what is sent as packet i: puts the link header of `port` in front.
// REQUIRES: room for it there.
inline void SendFrom(PacketBurst& burst, std::size_t i, uint8_t* l3, std::size_t size,
                     const Neighbors& neighbors, uint8_t port, const net::MacAddress& to,
                     uint16_t type) {
  const uint16_t vlan = neighbors.vlan(port);
  const std::size_t link = LinkSize(vlan);
  WriteLink(l3 - link, to, neighbors.mac(port), vlan, type);
  burst.data[i] = l3 - link;
  burst.length[i] = static_cast<uint16_t>(link + size);
  burst.egress_port[i] = port;
}

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_LINK_H_

// ARP and neighbor discovery messages as bytes.

#ifndef PENSTOCK_LB_NEIGHBOR_MESSAGES_H_
#define PENSTOCK_LB_NEIGHBOR_MESSAGES_H_

#include <cstdint>
#include <optional>
#include <span>

#include "penstock/net/address.h"
#include "penstock/net/wire.h"

namespace penstock::lb {

// The ARP message behind a link header; nullopt if it is cut, not about IPv4 over Ethernet, neither
// request nor reply, or from a MAC address that is no station's.
[[nodiscard]] std::optional<net::ArpPacket> ReadArp(std::span<const uint8_t> bytes);

// Writes the reply over `request`. REQUIRES: `arp` as read by ReadArp.
void WriteArpReply(const net::ArpPacket& request, const net::MacAddress& own,
                   std::span<uint8_t> arp);

// What neighbor solicitations and advertisements say.
struct NeighborView {
  bool solicitation = false;
  bool override_known = false;  // advertisements: replaces a known link-layer address
  std::array<uint8_t, 16> target{};
  net::IpAddress source;
  // From the link-layer address option, or where there is none, the frame's source.
  net::MacAddress link_address;
};

// Reads and checks it (RFC 4861 sections 7.1.1 and 7.1.2); nullopt: to be discarded silently.
// `packet` is the IPv6 packet, no more; `from` the source of its frame. REQUIRES: a neighbor
// solicitation or advertisement at l4_offset.
[[nodiscard]] std::optional<NeighborView> ReadNeighborMessage(std::span<const uint8_t> packet,
                                                              std::size_t l4_offset,
                                                              const net::MacAddress& from);

// IPv6, advertisement with one link-layer address option.
inline constexpr std::size_t kAdvertisementSize = 40 + 24 + 8;

// Writes the answer to a solicitation for one of our addresses (RFC 4861 section 7.2.4). Returns
// the MAC address that it is for.
[[nodiscard]] net::MacAddress WriteAdvertisement(const NeighborView& solicitation,
                                                 const net::MacAddress& own,
                                                 std::span<uint8_t, kAdvertisementSize> packet);

struct WrittenSolicitation {
  net::MacAddress to;
  std::size_t size = 0;  // bytes
};
// Writes an ARP request or an IPv6 neighbor solicitation for `target`, without a link header: to
// `known` if given, else to everybody who might have it. REQUIRES: room for kAdvertisementSize.
[[nodiscard]] WrittenSolicitation WriteSolicitation(const net::MacAddress& own,
                                                    const net::IpAddress& own_ip,
                                                    const net::IpAddress& target,
                                                    const std::optional<net::MacAddress>& known,
                                                    std::span<uint8_t> packet);

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_NEIGHBOR_MESSAGES_H_

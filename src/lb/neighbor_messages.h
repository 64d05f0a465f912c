// ARP and neighbor discovery messages as bytes.

#ifndef PENSTOCK_LB_NEIGHBOR_MESSAGES_H_
#define PENSTOCK_LB_NEIGHBOR_MESSAGES_H_

#include <cstdint>
#include <optional>
#include <span>

#include "penstock/net/address.h"
#include "penstock/net/wire.h"

namespace penstock::lb {

// The ARP message of an Ethernet frame; nullopt if it is cut, not about IPv4 over Ethernet, neither
// request nor reply, or from a MAC address that is no station's.
[[nodiscard]] std::optional<net::ArpPacket> ReadArp(std::span<const uint8_t> frame);

// Turns the frame that holds `request` into the reply. REQUIRES: frame as read by ReadArp.
void WriteArpReply(const net::ArpPacket& request, const net::MacAddress& own,
                   std::span<uint8_t> frame);

// What neighbor solicitations and advertisements say.
struct NeighborView {
  bool solicitation = false;
  bool override_known = false;  // advertisements: replaces a known link-layer address
  std::array<uint8_t, 16> target{};
  net::IpAddress source;
  // From the link-layer address option, or where there is none, the frame's source.
  net::MacAddress link_address;
};

// True if the ICMPv6 message at l4_offset is a neighbor solicitation or advertisement.
[[nodiscard]] bool IsNeighborDiscovery(std::span<const uint8_t> frame, std::size_t l4_offset);

// Reads and checks it (RFC 4861 sections 7.1.1 and 7.1.2); nullopt: to be discarded silently.
// `frame` ends where the IPv6 packet does. REQUIRES: IsNeighborDiscovery.
[[nodiscard]] std::optional<NeighborView> ReadNeighborMessage(std::span<const uint8_t> frame,
                                                              std::size_t l4_offset);

// Ethernet, IPv6, advertisement with one link-layer address option.
inline constexpr std::size_t kAdvertisementSize = 14 + 40 + 24 + 8;

// Writes the answer to a solicitation for one of our addresses (RFC 4861 section 7.2.4).
void WriteAdvertisement(const NeighborView& solicitation, const net::MacAddress& own,
                        std::span<uint8_t, kAdvertisementSize> frame);

// Writes an ARP request or neighbor solicitation for `target` into `frame`: to `known` if given,
// else to everybody who might have it. Returns its size in bytes.
[[nodiscard]] uint8_t WriteSolicitation(const net::MacAddress& own, const net::IpAddress& own_ip,
                                        const net::IpAddress& target,
                                        const std::optional<net::MacAddress>& known,
                                        std::span<uint8_t> frame);

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_NEIGHBOR_MESSAGES_H_

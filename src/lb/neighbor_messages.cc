#include "lb/neighbor_messages.h"

#include <algorithm>
#include <array>

#include "penstock/net/checksum.h"
#include "penstock/net/cursor.h"

namespace penstock::lb {
namespace {

using net::MacAddress;

constexpr MacAddress kBroadcast = {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};
constexpr std::array<uint8_t, 16> kAllNodes = {0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr uint8_t kHopLimit = 255;  // RFC 4861 section 7.1: proves that no router has forwarded it
constexpr uint32_t kSolicitedFlag = 0x40000000;
constexpr uint32_t kOverrideFlag = 0x20000000;

// RFC 4861 section 4.6.1, for Ethernet.
struct LinkAddressOption {
  uint8_t type = 0;
  uint8_t length = 1;  // units of 8 bytes
  MacAddress address;
};
static_assert(sizeof(LinkAddressOption) == 8);
constexpr uint8_t kSourceLinkAddress = 1;
constexpr uint8_t kTargetLinkAddress = 2;

// RFC 4291 section 2.7.1.
std::array<uint8_t, 16> SolicitedNode(const std::array<uint8_t, 16>& target) {
  return {0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF, target[13], target[14], target[15]};
}

// RFC 2464 section 7.
MacAddress MulticastMac(const std::array<uint8_t, 16>& group) {
  return {{0x33, 0x33, group[12], group[13], group[14], group[15]}};
}

// IPv6 and checksum around a neighbor message with one option: kAdvertisementSize bytes.
void WriteNeighborPacket(const std::array<uint8_t, 16>& source,
                         const std::array<uint8_t, 16>& destination, net::NeighborMessage message,
                         const LinkAddressOption& option, std::span<uint8_t> packet) {
  net::Ipv6Header ip;
  ip.payload_length = base::be16_t(sizeof(message) + sizeof(option));
  ip.next_header = net::kProtocolIcmpv6;
  ip.hop_limit = kHopLimit;
  ip.source = source;
  ip.destination = destination;
  net::Store(packet.data(), ip);
  uint8_t* body = packet.data() + net::kIpv6Size;
  message.checksum = base::be16_t(0);
  net::Store(body, message);
  net::Store(body + sizeof(message), option);
  message.checksum =
      net::Ipv6UpperChecksum(ip, net::kProtocolIcmpv6, {body, sizeof(message) + sizeof(option)});
  net::Store(body, message);
}

// Finds the link-layer address option of `type`. False: an option of length zero or cut short, for
// which the whole message is discarded (RFC 4861 section 7.1).
bool ReadOptions(net::Cursor& cursor, uint8_t type, NeighborView& view, bool& found) {
  while (cursor.remaining() > 0) {
    LinkAddressOption option;
    if (!cursor.Peek(option) || option.length == 0) return false;
    if (!cursor.Skip(option.length * std::size_t{8})) return false;
    if (option.type != type) continue;
    view.link_address = option.address;
    found = true;
  }
  return true;
}

bool ChecksumHolds(const net::Ipv6Header& ip, std::span<const uint8_t> message) {
  // Over a message with its checksum in place, the sum is zero.
  return net::Ipv6UpperChecksum(ip, net::kProtocolIcmpv6, message).raw() == 0;
}

}  // namespace

std::optional<net::ArpPacket> ReadArp(std::span<const uint8_t> bytes) {
  net::Cursor cursor(bytes);
  net::ArpPacket arp;
  if (!cursor.Read(arp)) return std::nullopt;
  const bool ipv4_over_ethernet = arp.hardware_type.value() == 1 &&
                                  arp.protocol_type.value() == net::kEtherTypeIpv4 &&
                                  arp.hardware_size == 6 && arp.protocol_size == 4;
  const uint16_t operation = arp.operation.value();
  if (!ipv4_over_ethernet || (operation != net::kArpRequest && operation != net::kArpReply)) {
    return std::nullopt;
  }
  if (arp.sender_mac.IsMulticast() || arp.sender_mac.IsZero()) return std::nullopt;
  return arp;
}

void WriteArpReply(const net::ArpPacket& request, const MacAddress& own, std::span<uint8_t> arp) {
  net::ArpPacket reply;
  reply.operation = base::be16_t(net::kArpReply);
  reply.sender_mac = own;
  reply.sender_ip = request.target_ip;
  reply.target_mac = request.sender_mac;
  reply.target_ip = request.sender_ip;
  net::Store(arp.data(), reply);
}

std::optional<NeighborView> ReadNeighborMessage(std::span<const uint8_t> packet,
                                                std::size_t l4_offset, const MacAddress& from) {
  net::Cursor cursor(packet);
  net::Ipv6Header ip;
  net::NeighborMessage message;
  if (!cursor.Read(ip)) return std::nullopt;
  if (!cursor.Skip(l4_offset - cursor.offset()) || !cursor.Read(message)) return std::nullopt;
  if (ip.hop_limit != kHopLimit || message.code != 0) return std::nullopt;
  if (!ChecksumHolds(ip, packet.subspan(l4_offset))) return std::nullopt;
  NeighborView view;
  view.solicitation = message.type == net::kNeighborSolicitation;
  view.override_known = (message.flags.value() & kOverrideFlag) != 0;
  view.target = message.target;
  view.source = net::IpAddress::V6(ip.source);
  view.link_address = from;
  if (net::IpAddress::V6(message.target).IsMulticast() || view.source.IsMulticast()) {
    return std::nullopt;
  }
  bool has_link_address = false;
  const uint8_t wanted = view.solicitation ? kSourceLinkAddress : kTargetLinkAddress;
  if (!ReadOptions(cursor, wanted, view, has_link_address)) return std::nullopt;
  if (view.link_address.IsMulticast() || view.link_address.IsZero()) return std::nullopt;
  // Duplicate address detection asks a solicited-node group and gives no link-layer address.
  const bool probes = view.solicitation && view.source.IsUnspecified();
  if (probes && (has_link_address || ip.destination != SolicitedNode(message.target))) {
    return std::nullopt;
  }
  return view;
}

MacAddress WriteAdvertisement(const NeighborView& solicitation, const MacAddress& own,
                              std::span<uint8_t, kAdvertisementSize> packet) {
  net::NeighborMessage message;
  message.type = net::kNeighborAdvertisement;
  message.target = solicitation.target;
  const LinkAddressOption option{.type = kTargetLinkAddress, .address = own};
  if (solicitation.source.IsUnspecified()) {
    // Somebody else wants to use our address: everybody is told that it is taken.
    message.flags = base::be32_t(kOverrideFlag);
    WriteNeighborPacket(solicitation.target, kAllNodes, message, option, packet);
    return MulticastMac(kAllNodes);
  }
  message.flags = base::be32_t(kSolicitedFlag | kOverrideFlag);
  WriteNeighborPacket(solicitation.target, solicitation.source.bytes, message, option, packet);
  return solicitation.link_address;
}

WrittenSolicitation WriteSolicitation(const MacAddress& own, const net::IpAddress& own_ip,
                                      const net::IpAddress& target,
                                      const std::optional<MacAddress>& known,
                                      std::span<uint8_t> packet) {
  if (target.IsV4()) {
    net::ArpPacket arp;
    arp.operation = base::be16_t(net::kArpRequest);
    arp.sender_mac = own;
    arp.sender_ip = own_ip.v4();
    arp.target_ip = target.v4();
    net::Store(packet.data(), arp);
    return {known.value_or(kBroadcast), sizeof(arp)};
  }
  net::NeighborMessage message;
  message.type = net::kNeighborSolicitation;
  message.target = target.bytes;
  const LinkAddressOption option{.type = kSourceLinkAddress, .address = own};
  const auto destination = known ? target.bytes : SolicitedNode(target.bytes);
  WriteNeighborPacket(own_ip.bytes, destination, message, option, packet);
  return {known.value_or(MulticastMac(destination)), kAdvertisementSize};
}

}  // namespace penstock::lb

// Headers as they lie on the wire. All are aligned to one byte: a frame may start anywhere.

#ifndef PENSTOCK_NET_WIRE_H_
#define PENSTOCK_NET_WIRE_H_

#include <array>
#include <cstdint>
#include <cstring>

#include "penstock/base/byte_order.h"
#include "penstock/net/address.h"

namespace penstock::net {

inline constexpr uint16_t kEtherTypeIpv4 = 0x0800;
inline constexpr uint16_t kEtherTypeArp = 0x0806;
inline constexpr uint16_t kEtherTypeVlan = 0x8100;  // IEEE 802.1Q customer tag
inline constexpr uint16_t kEtherTypeIpv6 = 0x86DD;
inline constexpr uint16_t kEtherTypeQinQ = 0x88A8;  // IEEE 802.1ad service tag

// Protocol numbers (IANA), also used as IPv6 next headers.
inline constexpr uint8_t kProtocolHopByHop = 0;
inline constexpr uint8_t kProtocolIcmp = 1;
inline constexpr uint8_t kProtocolIpv4 = 4;
inline constexpr uint8_t kProtocolTcp = 6;
inline constexpr uint8_t kProtocolUdp = 17;
inline constexpr uint8_t kProtocolIpv6 = 41;
inline constexpr uint8_t kProtocolRouting = 43;
inline constexpr uint8_t kProtocolFragment = 44;
inline constexpr uint8_t kProtocolGre = 47;
inline constexpr uint8_t kProtocolAh = 51;
inline constexpr uint8_t kProtocolIcmpv6 = 58;
inline constexpr uint8_t kProtocolNoNextHeader = 59;
inline constexpr uint8_t kProtocolDestinationOptions = 60;

// What tunnel packets carry, GUE aside, which is UDP.
[[nodiscard]] constexpr bool IsTunnelProtocol(uint8_t protocol) {
  return protocol == kProtocolIpv4 || protocol == kProtocolIpv6 || protocol == kProtocolGre;
}

inline constexpr uint8_t kTcpFin = 0x01;
inline constexpr uint8_t kTcpSyn = 0x02;
inline constexpr uint8_t kTcpRst = 0x04;
inline constexpr uint8_t kTcpAck = 0x10;

inline constexpr int kEthernetSize = 14;
inline constexpr int kIpv4Size = 20;  // without options
inline constexpr int kIpv6Size = 40;

struct EthernetHeader {
  MacAddress destination;
  MacAddress source;
  base::be16_t type;
};
static_assert(sizeof(EthernetHeader) == kEthernetSize);

// IEEE 802.1Q. On the wire it stands between the MAC addresses and the EtherType that it hides:
// read behind the outer EtherType, it is the tag's control field and the next EtherType.
struct VlanTag {
  base::be16_t control;  // PCP 3 bits, DEI 1, VID 12
  base::be16_t type;
};
inline constexpr int kVlanTagSize = 4;
static_assert(sizeof(VlanTag) == kVlanTagSize);

// RFC 791 section 3.1.
struct Ipv4Header {
  uint8_t version_ihl = 0x45;
  uint8_t tos = 0;
  base::be16_t total_length;
  base::be16_t id;
  base::be16_t fragment;  // flags and offset in units of 8 bytes
  uint8_t ttl = 0;
  uint8_t protocol = 0;
  base::be16_t checksum;
  base::be32_t source;
  base::be32_t destination;
};
static_assert(sizeof(Ipv4Header) == kIpv4Size);

inline constexpr uint16_t kIpv4DontFragment = 0x4000;
inline constexpr uint16_t kIpv4MoreFragments = 0x2000;
inline constexpr uint16_t kIpv4OffsetMask = 0x1FFF;

// RFC 8200 section 3.
struct Ipv6Header {
  base::be32_t version_class_label{0x60000000};
  base::be16_t payload_length;
  uint8_t next_header = 0;
  uint8_t hop_limit = 0;
  std::array<uint8_t, 16> source{};
  std::array<uint8_t, 16> destination{};
};
static_assert(sizeof(Ipv6Header) == kIpv6Size);

// RFC 9293 section 3.1.
struct TcpHeader {
  base::be16_t source_port;
  base::be16_t destination_port;
  base::be32_t sequence;
  base::be32_t acknowledgment;
  uint8_t data_offset = 0x50;  // high four bits: header length in units of 4 bytes
  uint8_t flags = 0;
  base::be16_t window;
  base::be16_t checksum;
  base::be16_t urgent;
};
static_assert(sizeof(TcpHeader) == 20);

// RFC 768.
struct UdpHeader {
  base::be16_t source_port;
  base::be16_t destination_port;
  base::be16_t length;
  base::be16_t checksum;
};
static_assert(sizeof(UdpHeader) == 8);

// RFC 2784 section 2.1 without checksum; RFC 7676 for IPv6.
struct GreHeader {
  base::be16_t flags_version;
  base::be16_t protocol_type;
};
static_assert(sizeof(GreHeader) == 4);

// draft-ietf-intarea-gue-09 section 3.1, variant 0 without extensions.
struct GueHeader {
  uint8_t variant_control_length = 0;
  uint8_t protocol = 0;
  base::be16_t flags;
};
static_assert(sizeof(GueHeader) == 4);
inline constexpr uint16_t kGuePort = 6080;

// RFC 792 and RFC 4443 section 2.1; `rest` is the MTU, or identifier and sequence, by type.
struct IcmpHeader {
  uint8_t type = 0;
  uint8_t code = 0;
  base::be16_t checksum;
  base::be32_t rest;
};
static_assert(sizeof(IcmpHeader) == 8);

inline constexpr uint8_t kIcmpEchoReply = 0;
inline constexpr uint8_t kIcmpUnreachable = 3;
inline constexpr uint8_t kIcmpFragmentationNeeded = 4;  // code of kIcmpUnreachable
inline constexpr uint8_t kIcmpEchoRequest = 8;
inline constexpr uint8_t kIcmpTimeExceeded = 11;
inline constexpr uint8_t kIcmpParameterProblem = 12;
inline constexpr uint8_t kIcmpv6Unreachable = 1;
inline constexpr uint8_t kIcmpv6PacketTooBig = 2;
inline constexpr uint8_t kIcmpv6ParameterProblem = 4;
inline constexpr uint8_t kIcmpv6EchoRequest = 128;
inline constexpr uint8_t kIcmpv6EchoReply = 129;

// RFC 826 for Ethernet and IPv4.
struct ArpPacket {
  base::be16_t hardware_type{1};
  base::be16_t protocol_type{kEtherTypeIpv4};
  uint8_t hardware_size = 6;
  uint8_t protocol_size = 4;
  base::be16_t operation;
  MacAddress sender_mac;
  base::be32_t sender_ip;
  MacAddress target_mac;
  base::be32_t target_ip;
};
static_assert(sizeof(ArpPacket) == 28);

inline constexpr uint16_t kArpRequest = 1;
inline constexpr uint16_t kArpReply = 2;

// RFC 4861 sections 4.3 and 4.4: neighbor solicitation and advertisement, without options.
struct NeighborMessage {
  uint8_t type = 0;
  uint8_t code = 0;
  base::be16_t checksum;
  base::be32_t flags;
  std::array<uint8_t, 16> target{};
};
static_assert(sizeof(NeighborMessage) == 24);

inline constexpr uint8_t kNeighborSolicitation = 135;
inline constexpr uint8_t kNeighborAdvertisement = 136;

// Copies a header out of bytes of any alignment. REQUIRES: sizeof(T) bytes at `from`.
template <typename T>
[[nodiscard]] T Load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// Copies a header to bytes of any alignment. REQUIRES: sizeof(T) writable bytes at `to`.
template <typename T>
void Store(uint8_t* to, const T& value) {
  std::memcpy(to, &value, sizeof(T));
}

}  // namespace penstock::net

#endif  // PENSTOCK_NET_WIRE_H_

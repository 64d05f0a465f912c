// Builds frames for tests, byte by byte and with checksums that hold unless told otherwise.

#ifndef PENSTOCK_TESTS_SUPPORT_FRAME_H_
#define PENSTOCK_TESTS_SUPPORT_FRAME_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/net/address.h"
#include "penstock/net/checksum.h"
#include "penstock/net/wire.h"

namespace penstock::testing {

using Bytes = std::vector<uint8_t>;

inline net::IpAddress Ip(std::string_view text) {
  return net::IpAddress::Parse(text).value();
}

// Not inlined: gcc 12 takes the vector's growth, once inlined, for a write out of bounds.
[[gnu::noinline]] inline void AppendBytes(Bytes& bytes, const uint8_t* from, std::size_t size) {
  bytes.insert(bytes.end(), from, from + size);
}

template <typename T>
void Append(Bytes& bytes, const T& header) {
  AppendBytes(bytes, reinterpret_cast<const uint8_t*>(&header), sizeof(T));
}

// What a test may want to say about a packet; the rest is ordinary.
struct PacketSpec {
  std::string source = "192.0.2.1";
  std::string destination = "203.0.113.10";
  uint16_t source_port = 40000;
  uint16_t destination_port = 80;
  uint8_t protocol = net::kProtocolTcp;
  uint8_t tcp_flags = net::kTcpSyn;
  uint8_t tos = 0;
  uint8_t ttl = 64;
  std::size_t payload = 0;  // bytes behind the transport header
  Bytes options;            // IPv4 options, a multiple of 4 bytes
  uint16_t fragment = 0;    // IPv4 flags and offset
  std::size_t padding = 0;  // bytes 0xAA behind the packet
  net::MacAddress ethernet_source{{2, 0, 0, 0, 0, 0x99}};
  net::MacAddress ethernet_destination{{2, 0, 0, 0, 0, 1}};
};

inline Bytes Transport(const PacketSpec& spec) {
  Bytes bytes;
  if (spec.protocol == net::kProtocolTcp) {
    net::TcpHeader tcp;
    tcp.source_port = base::be16_t(spec.source_port);
    tcp.destination_port = base::be16_t(spec.destination_port);
    tcp.flags = spec.tcp_flags;
    Append(bytes, tcp);
  } else if (spec.protocol == net::kProtocolUdp) {
    net::UdpHeader udp;
    udp.source_port = base::be16_t(spec.source_port);
    udp.destination_port = base::be16_t(spec.destination_port);
    udp.length = base::be16_t(static_cast<uint16_t>(8 + spec.payload));
    Append(bytes, udp);
  }
  for (std::size_t i = 0; i < spec.payload; ++i) bytes.push_back(static_cast<uint8_t>(i * 7 + 1));
  return bytes;
}

inline Bytes Ipv4Packet(const PacketSpec& spec) {
  const Bytes transport = Transport(spec);
  net::Ipv4Header ip;
  const std::size_t header = net::kIpv4Size + spec.options.size();
  ip.version_ihl = static_cast<uint8_t>(0x40 | header / 4);
  ip.tos = spec.tos;
  ip.total_length = base::be16_t(static_cast<uint16_t>(header + transport.size()));
  ip.id = base::be16_t(0x1234);
  ip.fragment = base::be16_t(spec.fragment);
  ip.ttl = spec.ttl;
  ip.protocol = spec.protocol;
  ip.source = Ip(spec.source).v4();
  ip.destination = Ip(spec.destination).v4();
  Bytes bytes;
  Append(bytes, ip);
  bytes.insert(bytes.end(), spec.options.begin(), spec.options.end());
  const auto sum = net::FoldChecksum(net::SumBytes(bytes));
  net::Store(bytes.data() + 10, sum);
  bytes.insert(bytes.end(), transport.begin(), transport.end());
  return bytes;
}

inline Bytes Ipv6Packet(const PacketSpec& spec) {
  const Bytes transport = Transport(spec);
  net::Ipv6Header ip;
  ip.version_class_label =
      base::be32_t(0x60000000U | static_cast<uint32_t>(spec.tos) << 20 | 0x12345U);
  ip.payload_length = base::be16_t(static_cast<uint16_t>(transport.size()));
  ip.next_header = spec.protocol;
  ip.hop_limit = spec.ttl;
  ip.source = Ip(spec.source).bytes;
  ip.destination = Ip(spec.destination).bytes;
  Bytes bytes;
  Append(bytes, ip);
  bytes.insert(bytes.end(), transport.begin(), transport.end());
  return bytes;
}

inline Bytes Ethernet(uint16_t type, const Bytes& payload,
                      const net::MacAddress& source = {{2, 0, 0, 0, 0, 0x99}},
                      const net::MacAddress& destination = {{2, 0, 0, 0, 0, 1}}) {
  Bytes frame;
  Append(frame, net::EthernetHeader{destination, source, base::be16_t(type)});
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

// The family is that of the destination.
inline Bytes Frame(const PacketSpec& spec) {
  const bool v4 = Ip(spec.destination).IsV4();
  Bytes frame = Ethernet(v4 ? net::kEtherTypeIpv4 : net::kEtherTypeIpv6,
                         v4 ? Ipv4Packet(spec) : Ipv6Packet(spec), spec.ethernet_source,
                         spec.ethernet_destination);
  frame.insert(frame.end(), spec.padding, 0xAA);
  return frame;
}

}  // namespace penstock::testing

#endif  // PENSTOCK_TESTS_SUPPORT_FRAME_H_

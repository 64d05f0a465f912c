// Builds ICMP messages for tests, checksums right.

#ifndef PENSTOCK_TESTS_SUPPORT_ICMP_H_
#define PENSTOCK_TESTS_SUPPORT_ICMP_H_

#include <string>

#include "tests/support/frame.h"

namespace penstock::testing {

struct IcmpSpec {
  std::string source = "192.0.2.99";  // a router
  std::string destination = "203.0.113.10";
  uint8_t type = net::kIcmpUnreachable;
  uint8_t code = net::kIcmpFragmentationNeeded;
  uint32_t rest = 1400;  // the MTU, or identifier and sequence
  Bytes body;            // behind the first 8 bytes
};

inline Bytes IcmpMessage(const IcmpSpec& spec) {
  net::IcmpHeader icmp;
  icmp.type = spec.type;
  icmp.code = spec.code;
  icmp.rest = base::be32_t(spec.rest);
  Bytes message;
  Append(message, icmp);
  message.insert(message.end(), spec.body.begin(), spec.body.end());
  return message;
}

// The IP packet. The family is that of the destination.
inline Bytes IcmpPacket(const IcmpSpec& spec) {
  Bytes message = IcmpMessage(spec);
  Bytes packet;
  if (Ip(spec.destination).IsV4()) {
    net::Store(message.data() + 2, net::FoldChecksum(net::SumBytes(message)));
    net::Ipv4Header ip;
    ip.total_length = base::be16_t(static_cast<uint16_t>(net::kIpv4Size + message.size()));
    ip.ttl = 60;
    ip.protocol = net::kProtocolIcmp;
    ip.source = Ip(spec.source).v4();
    ip.destination = Ip(spec.destination).v4();
    ip.checksum = net::Ipv4Checksum(ip);
    Append(packet, ip);
  } else {
    net::Ipv6Header ip;
    ip.payload_length = base::be16_t(static_cast<uint16_t>(message.size()));
    ip.next_header = net::kProtocolIcmpv6;
    ip.hop_limit = 60;
    ip.source = Ip(spec.source).bytes;
    ip.destination = Ip(spec.destination).bytes;
    net::Store(message.data() + 2, net::Ipv6UpperChecksum(ip, net::kProtocolIcmpv6, message));
    Append(packet, ip);
  }
  packet.insert(packet.end(), message.begin(), message.end());
  return packet;
}

inline Bytes IcmpFrame(const IcmpSpec& spec) {
  const bool v4 = Ip(spec.destination).IsV4();
  return Ethernet(v4 ? net::kEtherTypeIpv4 : net::kEtherTypeIpv6, IcmpPacket(spec));
}

// What the VIP has sent to the client of `flow`: the packet an error on its way would quote.
inline Bytes AnswerOf(const PacketSpec& flow) {
  PacketSpec answer = flow;
  std::swap(answer.source, answer.destination);
  std::swap(answer.source_port, answer.destination_port);
  answer.tcp_flags = net::kTcpAck;
  return Ip(flow.destination).IsV4() ? Ipv4Packet(answer) : Ipv6Packet(answer);
}

// The first `size` bytes.
inline Bytes Cut(Bytes bytes, std::size_t size) {
  bytes.resize(size);
  return bytes;
}

}  // namespace penstock::testing

#endif  // PENSTOCK_TESTS_SUPPORT_ICMP_H_

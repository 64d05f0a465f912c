#include "lb/outer_headers.h"

#include "penstock/net/checksum.h"

namespace penstock::lb {
namespace {

// RFC 6335 section 6: the dynamic ports, 14 bits of entropy.
constexpr uint16_t kFirstDynamicPort = 49152;
constexpr uint16_t kDynamicPortMask = 0x3FFF;

uint8_t ProtocolOf(net::Family family) {
  return family == net::Family::kIpv4 ? net::kProtocolIpv4 : net::kProtocolIpv6;
}

uint8_t OuterProtocol(Encapsulation encapsulation, net::Family inner) {
  if (encapsulation == Encapsulation::kGre) return net::kProtocolGre;
  if (encapsulation == Encapsulation::kGue) return net::kProtocolUdp;
  return ProtocolOf(inner);
}

// Where the outer source is not the port's address.
const OuterSource* OuterSourceOf(const Service& service, net::Family outer) {
  const OuterSource* source = service.outer_source;
  return source != nullptr && source->prefix.address.family == outer ? source : nullptr;
}

// RFC 2003 section 3.1, RFC 4213 section 3.5, with RFC 6040 normal mode: DSCP and ECN as inside.
net::Ipv4Header MakeIp4(const Service& service, const Backend& backend, const Inner& inner,
                        std::size_t size) {
  auto ip = net::Load<net::Ipv4Header>(backend.outer.data());
  ip.tos = inner.traffic_class;
  ip.total_length = base::be16_t(static_cast<uint16_t>(size));
  ip.protocol = OuterProtocol(service.encapsulation, inner.family);
  if (const OuterSource* source = OuterSourceOf(service, net::Family::kIpv4)) {
    ip.source = source->For(inner.hash).v4();
  }
  ip.checksum = net::Ipv4Checksum(ip);
  return ip;
}

// RFC 2473 with RFC 6040 normal mode, and a flow label by RFC 6438, so that the fabric can spread
// flows; zero would mean unlabelled.
net::Ipv6Header MakeIp6(const Service& service, const Backend& backend, const Inner& inner,
                        std::size_t size) {
  auto ip = net::Load<net::Ipv6Header>(backend.outer.data());
  const uint32_t label = static_cast<uint32_t>(inner.hash.bits >> 44);
  ip.version_class_label = base::be32_t(
      6U << 28 | static_cast<uint32_t>(inner.traffic_class) << 20 | (label == 0 ? 1 : label));
  ip.payload_length = base::be16_t(static_cast<uint16_t>(size - net::kIpv6Size));
  ip.next_header = OuterProtocol(service.encapsulation, inner.family);
  if (const OuterSource* source = OuterSourceOf(service, net::Family::kIpv6)) {
    ip.source = source->For(inner.hash).bytes;
  }
  return ip;
}

// RFC 2784 section 2.1: no checksum, no key (RFC 2890), no sequence number.
void WriteGre(net::Family inner, uint8_t* at) {
  const bool v4 = inner == net::Family::kIpv4;
  net::Store(at, net::GreHeader{base::be16_t(0),
                                base::be16_t(v4 ? net::kEtherTypeIpv4 : net::kEtherTypeIpv6)});
}

// UDP, its checksum zero for now, and GUE. `at`: Overhead minus the IP header in front of the
// packet.
void WriteGue(const Inner& inner, uint8_t* at) {
  const std::size_t size = sizeof(net::UdpHeader) + sizeof(net::GueHeader) + inner.packet.size();
  net::UdpHeader udp;
  udp.source_port =
      base::be16_t(static_cast<uint16_t>(kFirstDynamicPort + (inner.hash.bits & kDynamicPortMask)));
  udp.destination_port = base::be16_t(net::kGuePort);
  udp.length = base::be16_t(static_cast<uint16_t>(size));
  net::Store(at, udp);
  net::Store(at + sizeof(udp), net::GueHeader{.protocol = ProtocolOf(inner.family)});
}

// RFC 8200 section 8.1: over IPv6 the checksum is not optional; RFC 6935 lets tunnels do without.
void WriteGueChecksum(const net::Ipv6Header& ip, uint8_t* at) {
  auto udp = net::Load<net::UdpHeader>(at);
  const auto sum = net::Ipv6UpperChecksum(ip, net::kProtocolUdp, {at, udp.length.value()});
  udp.checksum = sum.raw() == 0 ? base::be16_t(0xFFFF) : sum;  // RFC 768: zero means none
  net::Store(at, udp);
}

}  // namespace

void WriteOuter(const Service& service, const Backend& backend, const Inner& inner) {
  const std::size_t overhead = Overhead(service.encapsulation, backend.family);
  const std::size_t size = overhead + inner.packet.size();
  const bool v4 = backend.family == net::Family::kIpv4;
  uint8_t* outer = inner.packet.data() - overhead;
  uint8_t* shim = outer + (v4 ? net::kIpv4Size : net::kIpv6Size);
  if (service.encapsulation == Encapsulation::kGre) WriteGre(inner.family, shim);
  if (service.encapsulation == Encapsulation::kGue) WriteGue(inner, shim);
  if (v4) {
    net::Store(outer, MakeIp4(service, backend, inner, size));
    return;
  }
  const net::Ipv6Header ip = MakeIp6(service, backend, inner, size);
  net::Store(outer, ip);
  if (service.encapsulation == Encapsulation::kGue && service.gue_checksum) {
    WriteGueChecksum(ip, shim);
  }
}

}  // namespace penstock::lb

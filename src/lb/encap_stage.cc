#include "lb/stages.h"
#include "penstock/lb/pipeline.h"
#include "penstock/net/checksum.h"
#include "penstock/net/wire.h"

namespace penstock::lb {
namespace {

std::size_t OuterSize(const Backend& backend) {
  return backend.family == net::Family::kIpv4 ? net::kIpv4Size : net::kIpv6Size;
}

uint8_t InnerProtocol(const net::PacketView& view) {
  return view.family == net::Family::kIpv4 ? net::kProtocolIpv4 : net::kProtocolIpv6;
}

// RFC 2003 section 3.1 with RFC 6040 normal mode: DSCP and ECN as inside.
void WriteOuter4(const Backend& backend, const net::PacketView& view, uint8_t* at) {
  auto ip = net::Load<net::Ipv4Header>(backend.outer.data());
  ip.tos = view.traffic_class;
  ip.total_length = base::be16_t(static_cast<uint16_t>(net::kIpv4Size + view.ip_length));
  ip.protocol = InnerProtocol(view);
  ip.checksum = net::Ipv4Checksum(ip);
  net::Store(at, ip);
}

// RFC 2473 with RFC 6040 normal mode, and a flow label by RFC 6438, so that the fabric can spread
// flows; zero would mean unlabelled.
void WriteOuter6(const Backend& backend, const net::PacketView& view, FlowHash hash, uint8_t* at) {
  auto ip = net::Load<net::Ipv6Header>(backend.outer.data());
  const uint32_t label = static_cast<uint32_t>(hash.bits >> 44);
  ip.version_class_label = base::be32_t(6U << 28 | static_cast<uint32_t>(view.traffic_class) << 20 |
                                        (label == 0 ? 1 : label));
  ip.payload_length = base::be16_t(view.ip_length);
  ip.next_header = InnerProtocol(view);
  net::Store(at, ip);
}

void Encap(const ForwardContext& context, PacketBurst& burst, std::size_t i) {
  const Backend& backend = context.services.backend(burst.backend[i]);
  const net::PacketView& view = burst.view[i];
  const std::size_t outer_size = OuterSize(backend);
  if (outer_size + view.ip_length > backend.mtu) {
    burst.verdict[i] = Verdict::kDropTooBig;
    return;
  }
  // The outer header goes over the Ethernet header, which is written anew in front of it.
  const std::size_t front = outer_size + net::kEthernetSize;
  if (front > static_cast<std::size_t>(burst.headroom[i]) + view.l3_offset) {
    burst.verdict[i] = Verdict::kDropNoHeadroom;
    return;
  }
  const auto next_hop = context.neighbors.NextHop(backend.egress_port, backend.family);
  if (!next_hop) {
    burst.verdict[i] = Verdict::kDropNoNeighbor;
    return;
  }
  uint8_t* outer = burst.data[i] + view.l3_offset - outer_size;
  const bool v4 = backend.family == net::Family::kIpv4;
  if (v4) {
    WriteOuter4(backend, view, outer);
  } else {
    WriteOuter6(backend, view, burst.hash[i], outer);
  }
  burst.data[i] = outer - net::kEthernetSize;
  net::Store(burst.data[i],
             net::EthernetHeader{*next_hop, context.neighbors.mac(backend.egress_port),
                                 base::be16_t(v4 ? net::kEtherTypeIpv4 : net::kEtherTypeIpv6)});
  burst.length[i] = static_cast<uint16_t>(front + view.ip_length);
  burst.egress_port[i] = backend.egress_port;
  BackendCounters& counters = backend.counters[context.worker];
  counters.packets.Increment();
  counters.bytes.Add(view.ip_length);
}

}  // namespace

void EncapStage(const ForwardContext& context, PacketBurst& burst) {
  ForEachPending(burst, [&](std::size_t i) { Encap(context, burst, i); });
}

}  // namespace penstock::lb

// The flow key that stands in a packet's headers, and the addresses in both.

#ifndef PENSTOCK_LB_PACKET_KEY_H_
#define PENSTOCK_LB_PACKET_KEY_H_

#include <cstdint>

#include "penstock/lb/burst.h"
#include "penstock/net/parser.h"

namespace penstock::lb {

// The key of the packet whose IP header is at `l3`, without its service, which ClassifyStage finds.
inline void FillKey(const uint8_t* l3, const net::PacketView& view, FlowKey& key) {
  if (view.family == net::Family::kIpv4) {
    const auto ip = net::Load<net::Ipv4Header>(l3);
    key.v4 = {.source = ip.source.raw(),
              .destination = ip.destination.raw(),
              .source_port = view.source_port,
              .destination_port = view.destination_port,
              .service = ServiceAndProtocol::Of(kNoId, view.protocol)};
    return;
  }
  const auto ip = net::Load<net::Ipv6Header>(l3);
  key.v6 = {.source = ip.source,
            .destination = ip.destination,
            .source_port = view.source_port,
            .destination_port = view.destination_port,
            .service = ServiceAndProtocol::Of(kNoId, view.protocol)};
}

// A key's addresses.
[[nodiscard]] inline net::IpAddress SourceOf(const FlowKey4& key) {
  return net::IpAddress::V4(base::be32_t::FromRaw(key.source));
}
[[nodiscard]] inline net::IpAddress SourceOf(const FlowKey6& key) {
  return net::IpAddress::V6(key.source);
}
[[nodiscard]] inline net::IpAddress DestinationOf(const FlowKey4& key) {
  return net::IpAddress::V4(base::be32_t::FromRaw(key.destination));
}
[[nodiscard]] inline net::IpAddress DestinationOf(const FlowKey6& key) {
  return net::IpAddress::V6(key.destination);
}

// The packet's own source: of ICMP about a flow, that is not the key's.
[[nodiscard]] inline net::IpAddress PacketSource(const PacketBurst& burst, std::size_t i) {
  const uint8_t* ip = burst.data[i] + burst.view[i].l3_offset;
  if (burst.view[i].family == net::Family::kIpv4) {
    return net::IpAddress::V4(net::Load<net::Ipv4Header>(ip).source);
  }
  return net::IpAddress::V6(net::Load<net::Ipv6Header>(ip).source);
}

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_PACKET_KEY_H_

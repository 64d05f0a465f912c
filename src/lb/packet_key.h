// The flow key that stands in a packet's headers.

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

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_PACKET_KEY_H_

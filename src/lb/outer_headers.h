// The headers that wrap a packet (docs/PACKETS.md section 5).

#ifndef PENSTOCK_LB_OUTER_HEADERS_H_
#define PENSTOCK_LB_OUTER_HEADERS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/lb/flow_key.h"
#include "penstock/lb/service_table.h"
#include "penstock/net/wire.h"

namespace penstock::lb {

// What an outer header takes over from the inside.
struct Inner {
  std::span<uint8_t> packet;
  net::Family family = net::Family::kIpv4;
  uint8_t traffic_class = 0;
  FlowHash hash;  // of the flow
};

// Writes the outer headers in front of the inner packet. REQUIRES: not kL2; Overhead() writable
// bytes in front; inner and outer together at most 65535 bytes.
void WriteOuter(const Service& service, const Backend& backend, const Inner& inner);

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_OUTER_HEADERS_H_

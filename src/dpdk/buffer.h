// Between a DPDK buffer and a place in the burst.

#ifndef PENSTOCK_DPDK_BUFFER_H_
#define PENSTOCK_DPDK_BUFFER_H_

#include <cstddef>

#include "penstock/lb/burst.h"

struct rte_mbuf;

namespace penstock::dpdk {

// Describes a received buffer as packet i.
void FillFromBuffer(const rte_mbuf& buffer, lb::PacketBurst& burst, std::size_t i);

// Makes the buffer what packet i has become, to be sent. What the receive side noted about the
// packet does not hold for the one that leaves, and some of it would be read as a request to the
// transmitting device: all of that is taken out. REQUIRES: IsSent(verdict).
void WriteToBuffer(const lb::PacketBurst& burst, std::size_t i, rte_mbuf& buffer);

}  // namespace penstock::dpdk

#endif  // PENSTOCK_DPDK_BUFFER_H_

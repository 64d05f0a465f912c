// The Internet checksum (RFC 1071).

#ifndef PENSTOCK_NET_CHECKSUM_H_
#define PENSTOCK_NET_CHECKSUM_H_

#include <cstdint>
#include <span>

#include "penstock/base/byte_order.h"
#include "penstock/net/wire.h"

namespace penstock::net {

// One's complement sum of the bytes as 16-bit words in memory order, an odd last byte padded with
// zero, added to `sum`. Not folded, not inverted: sums of several pieces of even length can be
// chained.
[[nodiscard]] uint64_t SumBytes(std::span<const uint8_t> bytes, uint64_t sum = 0);

// Folds a sum of SumBytes into the 16 bits that stand on the wire, inverted.
[[nodiscard]] base::be16_t FoldChecksum(uint64_t sum);

// The header checksum of an IPv4 header without options, taken over as if its field were zero.
[[nodiscard]] base::be16_t Ipv4Checksum(const Ipv4Header& header);

// True if the checksum over a whole IPv4 header (options included) is right (RFC 1122 3.2.1.2).
[[nodiscard]] bool Ipv4ChecksumHolds(std::span<const uint8_t> header);

// The checksum of an upper-layer message with its pseudo-header (RFC 8200 section 8.1). The
// message's own checksum field must be zero.
[[nodiscard]] base::be16_t Ipv6UpperChecksum(const Ipv6Header& ip, uint8_t next_header,
                                             std::span<const uint8_t> message);

}  // namespace penstock::net

#endif  // PENSTOCK_NET_CHECKSUM_H_

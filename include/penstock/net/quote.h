// The packet that an ICMP error quotes: the start of one that somebody could not deliver.

#ifndef PENSTOCK_NET_QUOTE_H_
#define PENSTOCK_NET_QUOTE_H_

#include <cstdint>
#include <span>

#include "penstock/net/address.h"

namespace penstock::net {

enum class QuoteStatus : uint8_t {
  kOk,         // TCP or UDP with its ports
  kMalformed,  // cut before the ports, or a header that cannot be
  kNoFlow,     // whole as far as it goes, but neither TCP nor UDP, or a later fragment: no ports
};

// Of kNoFlow, addresses and protocol are set; of kOk, all.
struct Quote {
  IpAddress source;
  IpAddress destination;
  uint8_t protocol = 0;
  base::be16_t source_port;
  base::be16_t destination_port;
};

// Reads what lies behind an ICMP error's first 8 bytes. RFC 792 promises the IP header and 8 bytes
// more, which is what is asked for. Lengths and checksum inside the quote are not believed: routers
// change TTL and cut. `family` is that of the ICMP message. Never reads outside `bytes`.
// Thread safety: pure function.
[[nodiscard]] QuoteStatus ParseQuote(Family family, std::span<const uint8_t> bytes, Quote& quote);

}  // namespace penstock::net

#endif  // PENSTOCK_NET_QUOTE_H_

#include "penstock/net/quote.h"

#include "net/ipv6_extensions.h"
#include "penstock/net/wire.h"

namespace penstock::net {
namespace {

QuoteStatus ReadPorts(Cursor& cursor, Quote& quote) {
  if (quote.protocol != kProtocolTcp && quote.protocol != kProtocolUdp) return QuoteStatus::kNoFlow;
  // Both transports begin with their ports. The 8 bytes of this header are what RFC 792 promises:
  // "Internet Header + 64 bits of Original Data Datagram".
  UdpHeader ports;
  if (!cursor.Peek(ports)) return QuoteStatus::kMalformed;
  quote.source_port = ports.source_port;
  quote.destination_port = ports.destination_port;
  return QuoteStatus::kOk;
}

QuoteStatus ParseIpv4(Cursor& cursor, Quote& quote) {
  Ipv4Header ip;
  if (!cursor.Peek(ip)) return QuoteStatus::kMalformed;
  const std::size_t header_size = (ip.version_ihl & 0x0FU) * 4U;
  // RFC 791 section 3.1, as for a packet of its own.
  if (ip.version_ihl >> 4 != 4 || header_size < kIpv4Size || !cursor.Skip(header_size)) {
    return QuoteStatus::kMalformed;
  }
  quote.source = IpAddress::V4(ip.source);
  quote.destination = IpAddress::V4(ip.destination);
  quote.protocol = ip.protocol;
  if ((ip.fragment.value() & kIpv4OffsetMask) != 0) return QuoteStatus::kNoFlow;
  return ReadPorts(cursor, quote);
}

QuoteStatus ParseIpv6(Cursor& cursor, Quote& quote) {
  Ipv6Header ip;
  if (!cursor.Read(ip) || ip.version_class_label.value() >> 28 != 6) return QuoteStatus::kMalformed;
  quote.source = IpAddress::V6(ip.source);
  quote.destination = IpAddress::V6(ip.destination);
  ExtensionWalk walk{.protocol = ip.next_header};
  const ExtensionStatus status = WalkExtensions(cursor, walk);
  quote.protocol = walk.protocol;
  if (status == ExtensionStatus::kFragment && walk.fragment_offset != 0) {
    return QuoteStatus::kNoFlow;
  }
  const bool chain_ends = status == ExtensionStatus::kOk || status == ExtensionStatus::kFragment;
  if (!chain_ends) return QuoteStatus::kMalformed;
  return ReadPorts(cursor, quote);
}

}  // namespace

QuoteStatus ParseQuote(Family family, std::span<const uint8_t> bytes, Quote& quote) {
  Cursor cursor(bytes);
  return family == Family::kIpv4 ? ParseIpv4(cursor, quote) : ParseIpv6(cursor, quote);
}

}  // namespace penstock::net

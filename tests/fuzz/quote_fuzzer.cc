// Any bytes as the packet that an ICMP error quotes. The first byte chooses the family.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "penstock/net/quote.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  using namespace penstock::net;
  const Family family = (data[0] & 1) == 0 ? Family::kIpv4 : Family::kIpv6;
  // A copy of exactly these bytes: a read beyond them is noticed.
  const std::vector<uint8_t> bytes(data + 1, data + size);
  Quote quote;
  const QuoteStatus status = ParseQuote(family, bytes, quote);
  const std::size_t least = family == Family::kIpv4 ? 20 + 8 : 40 + 8;
  if (status == QuoteStatus::kOk) {
    if (bytes.size() < least || quote.source.family != family) std::abort();
    if (quote.protocol != 6 && quote.protocol != 17) std::abort();
  }
  return 0;
}

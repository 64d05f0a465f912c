// Arithmetic on prefixes.

#ifndef PENSTOCK_SRC_CONFIG_PREFIX_H_
#define PENSTOCK_SRC_CONFIG_PREFIX_H_

#include <string>

#include "penstock/net/address.h"

namespace penstock::config {

// 32 or 128: the length of a prefix that is one address.
[[nodiscard]] inline int Bits(const net::IpAddress& address) {
  return address.size() * 8;
}

// Whether the length fits the family. REQUIRED by all below.
[[nodiscard]] inline bool HasLength(const net::IpPrefix& prefix) {
  return prefix.length <= Bits(prefix.address);
}

// With all host bits 0, and with all of them 1.
[[nodiscard]] net::IpAddress FirstAddress(const net::IpPrefix& prefix);
[[nodiscard]] net::IpAddress LastAddress(const net::IpPrefix& prefix);

// Whether they have an address in common; of two prefixes, one then holds the other.
[[nodiscard]] bool Intersect(const net::IpPrefix& a, const net::IpPrefix& b);

// "203.0.113.0/28", and the address alone when that is all there is: "203.0.113.10".
[[nodiscard]] std::string PrefixText(const net::IpPrefix& prefix);

}  // namespace penstock::config

#endif  // PENSTOCK_SRC_CONFIG_PREFIX_H_

#include "config/prefix.h"

#include <cstddef>
#include <cstdint>

namespace penstock::config {
namespace {

net::IpAddress WithHostBits(const net::IpPrefix& prefix, uint8_t bits) {
  net::IpAddress address = prefix.address;
  auto mask = static_cast<uint8_t>(0xFF >> (prefix.length % 8));
  for (std::size_t i = prefix.length / 8; i < static_cast<std::size_t>(address.size()); ++i) {
    address.bytes[i] = static_cast<uint8_t>((address.bytes[i] & ~mask) | (bits & mask));
    mask = 0xFF;
  }
  return address;
}

}  // namespace

net::IpAddress FirstAddress(const net::IpPrefix& prefix) {
  return WithHostBits(prefix, 0);
}

net::IpAddress LastAddress(const net::IpPrefix& prefix) {
  return WithHostBits(prefix, 0xFF);
}

bool Intersect(const net::IpPrefix& a, const net::IpPrefix& b) {
  return a.length <= b.length ? a.Contains(b.address) : b.Contains(a.address);
}

std::string PrefixText(const net::IpPrefix& prefix) {
  return prefix.length == Bits(prefix.address) ? prefix.address.ToString() : prefix.ToString();
}

}  // namespace penstock::config

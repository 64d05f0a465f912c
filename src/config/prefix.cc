#include "config/prefix.h"

namespace penstock::config {
net::IpAddress FirstAddress(const net::IpPrefix& prefix) {
  return prefix.First();
}

net::IpAddress LastAddress(const net::IpPrefix& prefix) {
  return prefix.Last();
}

bool Intersect(const net::IpPrefix& a, const net::IpPrefix& b) {
  return a.length <= b.length ? a.Contains(b.address) : b.Contains(a.address);
}

std::string PrefixText(const net::IpPrefix& prefix) {
  return prefix.length == Bits(prefix.address) ? prefix.address.ToString() : prefix.ToString();
}

}  // namespace penstock::config

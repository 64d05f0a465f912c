#include "penstock/lb/address_set.h"

#include <algorithm>

namespace penstock::lb {
namespace {

// The prefix's first or last address: its host bits all zero or all one.
net::IpAddress WithHostBits(const net::IpPrefix& prefix, bool ones) {
  net::IpAddress address = prefix.address;
  for (int i = 0; i < address.size(); ++i) {
    const int network_bits = std::clamp(prefix.length - 8 * i, 0, 8);
    const auto host_mask = static_cast<uint8_t>(0xFF >> network_bits);
    uint8_t& byte = address.bytes[static_cast<std::size_t>(i)];
    byte = ones ? static_cast<uint8_t>(byte | host_mask) : static_cast<uint8_t>(byte & ~host_mask);
  }
  return address;
}

}  // namespace

AddressSet::AddressSet(std::span<const net::IpPrefix> prefixes) {
  std::vector<Range> all;
  all.reserve(prefixes.size());
  for (const net::IpPrefix& prefix : prefixes) {
    all.push_back({WithHostBits(prefix, false), WithHostBits(prefix, true)});
  }
  std::sort(all.begin(), all.end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
  for (const Range& range : all) {
    // Two prefixes are disjoint, or one holds the other.
    if (ranges_.empty() || ranges_.back().last < range.first) ranges_.push_back(range);
  }
}

bool AddressSet::Contains(const net::IpAddress& address) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](const net::IpAddress& a, const Range& range) { return a < range.first; });
  return after != ranges_.begin() && address <= std::prev(after)->last;
}

}  // namespace penstock::lb

#include "penstock/lb/address_set.h"

#include <algorithm>

namespace penstock::lb {
AddressSet::AddressSet(std::span<const net::IpPrefix> prefixes) {
  std::vector<Range> all;
  all.reserve(prefixes.size());
  for (const net::IpPrefix& prefix : prefixes) {
    all.push_back({prefix.First(), prefix.Last()});
  }
  // Of those that begin together the widest comes first: it holds the others.
  std::sort(all.begin(), all.end(), [](const Range& a, const Range& b) {
    return a.first != b.first ? a.first < b.first : b.last < a.last;
  });
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

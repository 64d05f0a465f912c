// Is an address in any of many prefixes? Sorted ranges, one binary search.

#ifndef PENSTOCK_LB_ADDRESS_SET_H_
#define PENSTOCK_LB_ADDRESS_SET_H_

#include <span>
#include <vector>

#include "penstock/net/address.h"

namespace penstock::lb {

// Thread safety: immutable after construction; any thread.
class AddressSet {
 public:
  AddressSet() = default;
  // Prefixes of both families, in any order, overlapping or not. Host bits are ignored.
  explicit AddressSet(std::span<const net::IpPrefix> prefixes);

  [[nodiscard]] bool Contains(const net::IpAddress& address) const;
  [[nodiscard]] bool empty() const { return ranges_.empty(); }

 private:
  struct Range {
    net::IpAddress first;
    net::IpAddress last;
  };
  std::vector<Range> ranges_;  // disjoint, in order of address
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_ADDRESS_SET_H_

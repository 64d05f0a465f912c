// An address as hashes take it.

#ifndef PENSTOCK_LB_ADDRESS_BYTES_H_
#define PENSTOCK_LB_ADDRESS_BYTES_H_

#include <cstddef>
#include <string_view>

#include "penstock/net/address.h"

namespace penstock::lb {

// The 4 or 16 bytes as on the wire. Valid as long as `address`.
[[nodiscard]] inline std::string_view BytesOf(const net::IpAddress& address) {
  return {reinterpret_cast<const char*>(address.bytes.data()),
          static_cast<std::size_t>(address.size())};
}

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_ADDRESS_BYTES_H_

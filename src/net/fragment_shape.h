// Whether a fragment can be part of a datagram at all.

#ifndef PENSTOCK_NET_FRAGMENT_SHAPE_H_
#define PENSTOCK_NET_FRAGMENT_SHAPE_H_

#include <cstddef>
#include <cstdint>

namespace penstock::net {

struct FragmentShape {
  std::size_t before;  // bytes of the datagram in front of its fragmentable part that count
  uint16_t offset;     // in units of 8 bytes
  bool more;
  std::size_t size;  // bytes of this fragment's part

  // RFC 791 section 3.2, RFC 8200 section 4.5: all but the last carry whole units of 8 bytes, and
  // the datagram ends within 65,535 bytes. (IPv4 counts its header, IPv6 what follows it.)
  [[nodiscard]] constexpr bool FitsDatagram() const {
    if (more && (size == 0 || size % 8 != 0)) return false;
    return before + std::size_t{offset} * 8 + size <= UINT16_MAX;
  }
};

}  // namespace penstock::net

#endif  // PENSTOCK_NET_FRAGMENT_SHAPE_H_

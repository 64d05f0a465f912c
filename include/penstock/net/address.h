// MAC and IP addresses and prefixes: values, their text form, and nothing else.

#ifndef PENSTOCK_NET_ADDRESS_H_
#define PENSTOCK_NET_ADDRESS_H_

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/base/byte_order.h"

namespace penstock::net {

enum class Family : uint8_t { kIpv4, kIpv6 };

// 48-bit Ethernet address, in wire order.
struct MacAddress {
  std::array<uint8_t, 6> bytes{};

  [[nodiscard]] bool IsZero() const { return *this == MacAddress{}; }
  [[nodiscard]] bool IsMulticast() const { return (bytes[0] & 1U) != 0; }
  // "02:00:00:00:00:01"
  [[nodiscard]] std::string ToString() const;
  // Accepts six pairs of hexadecimal digits with colons; nullopt otherwise.
  [[nodiscard]] static std::optional<MacAddress> Parse(std::string_view text);

  friend auto operator<=>(const MacAddress&, const MacAddress&) = default;
};

// An IPv4 or IPv6 address. IPv4 occupies bytes[0..4), the rest is zero. The order (IPv4 first, then
// by bytes) is the canonical order of backends, equal on every host.
struct IpAddress {
  Family family = Family::kIpv4;
  std::array<uint8_t, 16> bytes{};

  [[nodiscard]] static IpAddress V4(base::be32_t address);
  [[nodiscard]] static IpAddress V6(const std::array<uint8_t, 16>& bytes);
  // Dotted quad, or RFC 4291 section 2.2 text without a zone; nullopt otherwise.
  [[nodiscard]] static std::optional<IpAddress> Parse(std::string_view text);

  [[nodiscard]] bool IsV4() const { return family == Family::kIpv4; }
  // REQUIRES: IsV4().
  [[nodiscard]] base::be32_t v4() const;
  [[nodiscard]] bool IsUnspecified() const;
  [[nodiscard]] bool IsMulticast() const;
  // 127/8 and ::1.
  [[nodiscard]] bool IsLoopback() const;
  // 4 or 16.
  [[nodiscard]] int size() const { return IsV4() ? 4 : 16; }
  // Canonical text (RFC 5952 for IPv6).
  [[nodiscard]] std::string ToString() const;

  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
};

// An address with a prefix length in bits. Host bits may be set ("198.51.100.11/24" names both an
// interface address and its network).
struct IpPrefix {
  IpAddress address;
  uint8_t length = 0;

  // "ADDRESS/LENGTH", or "ADDRESS" alone for the full length; nullopt otherwise.
  [[nodiscard]] static std::optional<IpPrefix> Parse(std::string_view text);
  [[nodiscard]] bool Contains(const IpAddress& other) const;
  // With all host bits 0, and with all of them 1. REQUIRES: length fits the family.
  [[nodiscard]] IpAddress First() const;
  [[nodiscard]] IpAddress Last() const;
  [[nodiscard]] std::string ToString() const;

  friend auto operator<=>(const IpPrefix&, const IpPrefix&) = default;
};

}  // namespace penstock::net

#endif  // PENSTOCK_NET_ADDRESS_H_

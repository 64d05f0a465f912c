#include "penstock/net/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace penstock::net {
namespace {

// The whole text as an unsigned number that fits T; nullopt for a sign, a blank or anything behind.
template <typename T>
std::optional<T> ParseNumber(std::string_view text, int base) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

IpAddress WithHostBits(const IpPrefix& prefix, uint8_t bits) {
  IpAddress address = prefix.address;
  auto mask = static_cast<uint8_t>(0xFF >> (prefix.length % 8));
  for (std::size_t i = prefix.length / 8; i < static_cast<std::size_t>(address.size()); ++i) {
    address.bytes[i] = static_cast<uint8_t>((address.bytes[i] & ~mask) | (bits & mask));
    mask = 0xFF;
  }
  return address;
}

}  // namespace

std::string MacAddress::ToString() const {
  std::array<char, 18> text{};
  std::snprintf(text.data(), text.size(), "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1],
                bytes[2], bytes[3], bytes[4], bytes[5]);
  return text.data();
}

std::optional<MacAddress> MacAddress::Parse(std::string_view text) {
  MacAddress mac;
  if (text.size() != 17) return std::nullopt;
  for (std::size_t i = 0; i < mac.bytes.size(); ++i) {
    if (i > 0 && text[i * 3 - 1] != ':') return std::nullopt;
    const auto byte = ParseNumber<uint8_t>(text.substr(i * 3, 2), 16);
    if (!byte) return std::nullopt;
    mac.bytes[i] = *byte;
  }
  return mac;
}

IpAddress IpAddress::V4(base::be32_t address) {
  IpAddress ip;
  const uint32_t raw = address.raw();
  std::memcpy(ip.bytes.data(), &raw, sizeof(raw));
  return ip;
}

IpAddress IpAddress::V6(const std::array<uint8_t, 16>& bytes) {
  return IpAddress{.family = Family::kIpv6, .bytes = bytes};
}

std::optional<IpAddress> IpAddress::Parse(std::string_view text) {
  IpAddress ip;
  // inet_pton wants a terminated string; the longest valid text has 45 characters.
  if (text.empty() || text.size() >= INET6_ADDRSTRLEN) return std::nullopt;
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  const std::string terminated(text);
  if (inet_pton(AF_INET, terminated.c_str(), ip.bytes.data()) == 1) return ip;
  ip.family = Family::kIpv6;
  if (inet_pton(AF_INET6, terminated.c_str(), ip.bytes.data()) == 1) return ip;
  return std::nullopt;
}

base::be32_t IpAddress::v4() const {
  uint32_t raw = 0;
  std::memcpy(&raw, bytes.data(), sizeof(raw));
  return base::be32_t::FromRaw(raw);
}

bool IpAddress::IsUnspecified() const {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; });
}

bool IpAddress::IsMulticast() const {
  return IsV4() ? (bytes[0] & 0xF0) == 0xE0 : bytes[0] == 0xFF;
}

bool IpAddress::IsLoopback() const {
  if (IsV4()) return bytes[0] == 127;
  return std::all_of(bytes.begin(), bytes.end() - 1, [](uint8_t b) { return b == 0; }) &&
         bytes[15] == 1;
}

std::string IpAddress::ToString() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(IsV4() ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

std::optional<IpPrefix> IpPrefix::Parse(std::string_view text) {
  IpPrefix prefix;
  const std::size_t slash = text.find('/');
  const auto address = IpAddress::Parse(text.substr(0, slash));
  if (!address) return std::nullopt;
  prefix.address = *address;
  prefix.length = static_cast<uint8_t>(address->size() * 8);
  if (slash == std::string_view::npos) return prefix;
  const auto length = ParseNumber<uint8_t>(text.substr(slash + 1), 10);
  if (!length || *length > prefix.length) return std::nullopt;
  prefix.length = *length;
  return prefix;
}

bool IpPrefix::Contains(const IpAddress& other) const {
  if (other.family != address.family) return false;
  const std::size_t whole = length / 8;
  const int rest = length % 8;
  if (!std::equal(address.bytes.begin(), address.bytes.begin() + static_cast<std::ptrdiff_t>(whole),
                  other.bytes.begin())) {
    return false;
  }
  if (rest == 0) return true;
  const auto mask = static_cast<uint8_t>(0xFF << (8 - rest));
  return ((address.bytes[whole] ^ other.bytes[whole]) & mask) == 0;
}

IpAddress IpPrefix::First() const {
  return WithHostBits(*this, 0);
}

IpAddress IpPrefix::Last() const {
  return WithHostBits(*this, 0xFF);
}

std::string IpPrefix::ToString() const {
  return address.ToString() + "/" + std::to_string(length);
}

}  // namespace penstock::net

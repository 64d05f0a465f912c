#include "config/names.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "config/text.h"

namespace penstock::config {
namespace {

constexpr std::size_t kMaxName = 63;

bool IsNameCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
}

// ::ffff:0:0/96, RFC 4291 section 2.5.5.2.
bool IsMapped(const net::IpAddress& address) {
  const net::IpPrefix mapped = *net::IpPrefix::Parse("::ffff:0.0.0.0/96");
  return mapped.Contains(address);
}

// fe80::/10, RFC 4291 section 2.5.6.
bool IsLinkLocal(const net::IpAddress& address) {
  return !address.IsV4() && address.bytes[0] == 0xFE && (address.bytes[1] & 0xC0) == 0x80;
}

bool IsBroadcast(const net::IpAddress& address) {
  return address.IsV4() && std::all_of(address.bytes.begin(), address.bytes.begin() + 4,
                                       [](uint8_t byte) { return byte == 0xFF; });
}

}  // namespace

std::optional<std::string> NameProblem(std::string_view name) {
  if (name.empty()) return "is required";
  if (name.size() > kMaxName) {
    return Concat("is longer than ", kMaxName, " characters: ", QuoteShort(name));
  }
  if (std::all_of(name.begin(), name.end(), IsNameCharacter)) return std::nullopt;
  return Concat("has characters other than A-Z a-z 0-9 . _ -: ", QuoteShort(name));
}

std::optional<std::string> AddressProblem(const net::IpAddress& address) {
  const std::string text = address.ToString();
  if (address.IsUnspecified()) return text + " is the unspecified address";
  if (address.IsLoopback()) return text + " is a loopback address";
  if (address.IsMulticast()) return text + " is a multicast address";
  if (IsBroadcast(address)) return text + " is the broadcast address";
  if (IsLinkLocal(address)) return text + " is a link-local address";
  if (IsMapped(address)) return text + " is an IPv4 address; write it as one";
  return std::nullopt;
}

}  // namespace penstock::config

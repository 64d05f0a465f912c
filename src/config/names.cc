#include "config/names.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "config/prefix.h"
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

struct NoSource {
  net::IpPrefix prefix;
  std::string what;
};

// RFC 1812 section 5.3.7, RFC 3927 section 2.7, RFC 4291 section 2.
const std::vector<NoSource>& NoSources() {
  const auto parse = [](const char* text) { return *net::IpPrefix::Parse(text); };
  static const std::vector<NoSource> kAll{{parse("0.0.0.0/8"), "unspecified"},
                                          {parse("127.0.0.0/8"), "loopback"},
                                          {parse("169.254.0.0/16"), "link-local"},
                                          {parse("224.0.0.0/4"), "multicast"},
                                          {parse("255.255.255.255"), "broadcast"},
                                          {parse("::"), "unspecified"},
                                          {parse("::1"), "loopback"},
                                          {parse("::ffff:0.0.0.0/96"), "IPv4-mapped"},
                                          {parse("fe80::/10"), "link-local"},
                                          {parse("ff00::/8"), "multicast"}};
  return kAll;
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

std::optional<std::string> NetworkProblem(const net::IpPrefix& prefix) {
  if (!HasLength(prefix)) return Concat("/", prefix.length, " is longer than the address");
  const net::IpPrefix network{.address = FirstAddress(prefix), .length = prefix.length};
  if (network == prefix) return std::nullopt;
  return Concat(prefix.ToString(), " has host bits set; the network is ", network.ToString());
}

std::optional<std::string> VipProblem(const net::IpPrefix& prefix) {
  if (auto problem = NetworkProblem(prefix)) return problem;
  if (prefix.length == 0) return PrefixText(prefix) + " is every address";
  if (auto problem = AddressProblem(prefix.address)) return problem;
  // Answers come from the VIP: it must not hold what is no host's.
  for (const NoSource& range : NoSources()) {
    if (!Intersect(prefix, range.prefix)) continue;
    if (prefix.length == Bits(prefix.address)) {
      return Concat(prefix.address.ToString(), " is a ", range.what, " address");
    }
    return Concat(PrefixText(prefix), " holds ", range.what, " addresses");
  }
  return std::nullopt;
}

std::optional<std::string> SourceProblem(const net::IpPrefix& prefix) {
  if (auto problem = NetworkProblem(prefix)) return problem;
  for (const NoSource& range : NoSources()) {
    if (!Intersect(prefix, range.prefix)) continue;
    return Concat(PrefixText(prefix), " holds ", range.what,
                  " addresses, which routers and backends drop as sources");
  }
  return std::nullopt;
}

}  // namespace penstock::config

// Rules that several kinds of things in a configuration share.

#ifndef PENSTOCK_SRC_CONFIG_NAMES_H_
#define PENSTOCK_SRC_CONFIG_NAMES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "penstock/config/violation.h"
#include "penstock/net/address.h"

namespace penstock::config {

// What is wrong with `name`: it has to be 1 to 63 characters of [A-Za-z0-9._-].
[[nodiscard]] std::optional<std::string> NameProblem(std::string_view name);

// Why `address` cannot be that of one machine or service reached through a router: unspecified,
// loopback, multicast, broadcast, link-local IPv6, or IPv4 written as IPv6.
[[nodiscard]] std::optional<std::string> AddressProblem(const net::IpAddress& address);

// Why `prefix` is no network: host bits are set. Below, that comes first.
[[nodiscard]] std::optional<std::string> NetworkProblem(const net::IpPrefix& prefix);

// Why `prefix` cannot be virtual addresses that routers send here: all addresses at once, or its
// first address is none of one machine. It may be so short that it also holds some of these.
[[nodiscard]] std::optional<std::string> VipProblem(const net::IpPrefix& prefix);

// Why packets from some address of `prefix` would be dropped on their way.
[[nodiscard]] std::optional<std::string> SourceProblem(const net::IpPrefix& prefix);

// Finds values that occur twice. Key is compared; a violation names the place of the first.
template <typename Key>
class UniqueValues {
 public:
  // Reports when `key` was added before; returns whether it was not.
  bool Add(const Key& key, std::string_view path, Violations& violations) {
    const auto [first, added] = first_.try_emplace(key, path);
    if (!added) violations.push_back({std::string(path), "is the same as " + first->second});
    return added;
  }

  [[nodiscard]] bool Contains(const Key& key) const { return first_.contains(key); }

 private:
  absl::flat_hash_map<Key, std::string> first_;
};

}  // namespace penstock::config

#endif  // PENSTOCK_SRC_CONFIG_NAMES_H_

// Addresses and prefixes in order, for rules that compare all of one kind with all of another.

#ifndef PENSTOCK_SRC_CONFIG_ADDRESS_INDEX_H_
#define PENSTOCK_SRC_CONFIG_ADDRESS_INDEX_H_

#include <array>
#include <bitset>
#include <compare>
#include <cstddef>
#include <span>
#include <vector>

#include "penstock/config/host_config.h"
#include "penstock/config/services_config.h"
#include "penstock/net/address.h"

namespace penstock::config {

// Which addresses lie inside a prefix. A question takes O(log n).
class AddressIndex {
 public:
  // `group` and `item` say where the address is written; what they count is the maker's.
  struct Entry {
    net::IpAddress address{};
    std::size_t group = 0;
    std::size_t item = 0;

    friend auto operator<=>(const Entry&, const Entry&) = default;
  };

  explicit AddressIndex(std::vector<Entry> entries);

  // In order. REQUIRES: the length of `prefix` fits its family.
  [[nodiscard]] std::span<const Entry> Within(const net::IpPrefix& prefix) const;
  [[nodiscard]] std::span<const Entry> Equal(const net::IpAddress& address) const;

 private:
  std::vector<Entry> entries_;
};

// Every backend: the pool's position and the backend's in it.
[[nodiscard]] AddressIndex IndexBackends(const std::vector<Pool>& pools);
[[nodiscard]] AddressIndex IndexBackends(const Pool& pool);

// Own addresses (item 0) and gateways (item 1) of a host; the group is the port's position.
inline constexpr std::size_t kOwnAddress = 0;
inline constexpr std::size_t kGateway = 1;
[[nodiscard]] AddressIndex IndexHost(const HostConfig& host);

// Which prefixes have addresses in common with another. A question takes O(log n) for each length
// that is there.
class PrefixIndex {
 public:
  // `item` says where the prefix is written.
  struct Entry {
    net::IpPrefix prefix{};
    std::size_t item = 0;

    friend auto operator<=>(const Entry&, const Entry&) = default;
  };

  // REQUIRES: lengths fit the families. Host bits are ignored.
  explicit PrefixIndex(std::vector<Entry> entries);

  // One of those that intersect `prefix`; nullptr if none. REQUIRES: its length fits its family.
  [[nodiscard]] const Entry* FindIntersecting(const net::IpPrefix& prefix) const;
  [[nodiscard]] bool Holds(const net::IpAddress& address) const;

 private:
  [[nodiscard]] const Entry* FindHolder(const net::IpPrefix& prefix) const;

  std::vector<Entry> entries_;
  std::array<std::bitset<129>, 2> lengths_;  // that occur, by family
};

}  // namespace penstock::config

#endif  // PENSTOCK_SRC_CONFIG_ADDRESS_INDEX_H_

#include "config/address_index.h"

#include <algorithm>
#include <utility>

#include "config/prefix.h"

namespace penstock::config {

AddressIndex::AddressIndex(std::vector<Entry> entries) : entries_(std::move(entries)) {
  std::ranges::sort(entries_);
}

std::span<const AddressIndex::Entry> AddressIndex::Within(const net::IpPrefix& prefix) const {
  const auto first = std::ranges::lower_bound(entries_, FirstAddress(prefix), {}, &Entry::address);
  const auto last =
      std::ranges::upper_bound(first, entries_.end(), LastAddress(prefix), {}, &Entry::address);
  return {first, last};
}

std::span<const AddressIndex::Entry> AddressIndex::Equal(const net::IpAddress& address) const {
  return Within({.address = address, .length = static_cast<uint8_t>(Bits(address))});
}

AddressIndex IndexBackends(const std::vector<Pool>& pools) {
  std::vector<AddressIndex::Entry> entries;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    for (std::size_t j = 0; j < pools[i].backends.size(); ++j) {
      entries.push_back({.address = pools[i].backends[j].address, .group = i, .item = j});
    }
  }
  return AddressIndex(std::move(entries));
}

AddressIndex IndexBackends(const Pool& pool) {
  std::vector<AddressIndex::Entry> entries;
  for (std::size_t j = 0; j < pool.backends.size(); ++j) {
    entries.push_back({.address = pool.backends[j].address, .group = 0, .item = j});
  }
  return AddressIndex(std::move(entries));
}

AddressIndex IndexHost(const HostConfig& host) {
  std::vector<AddressIndex::Entry> entries;
  const std::vector<PortConfig>& ports = host.dataplane.ports;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    for (const net::IpPrefix& own : ports[i].addresses) {
      entries.push_back({.address = own.address, .group = i, .item = kOwnAddress});
    }
    for (const net::IpAddress& gateway : ports[i].gateways) {
      entries.push_back({.address = gateway, .group = i, .item = kGateway});
    }
  }
  return AddressIndex(std::move(entries));
}

PrefixIndex::PrefixIndex(std::vector<Entry> entries) : entries_(std::move(entries)) {
  for (Entry& entry : entries_) {
    entry.prefix.address = FirstAddress(entry.prefix);
    lengths_[static_cast<std::size_t>(entry.prefix.address.family)].set(entry.prefix.length);
  }
  std::ranges::sort(entries_);
}

const PrefixIndex::Entry* PrefixIndex::FindIntersecting(const net::IpPrefix& prefix) const {
  // Either it holds the first address of an entry, or an entry holds all of it.
  const net::IpPrefix first{.address = FirstAddress(prefix), .length = 0};
  const auto inside = std::ranges::lower_bound(entries_, first, {}, &Entry::prefix);
  if (inside != entries_.end() && prefix.Contains(inside->prefix.address)) return &*inside;
  return FindHolder(prefix);
}

bool PrefixIndex::Holds(const net::IpAddress& address) const {
  return FindHolder({.address = address, .length = static_cast<uint8_t>(Bits(address))}) != nullptr;
}

const PrefixIndex::Entry* PrefixIndex::FindHolder(const net::IpPrefix& prefix) const {
  const auto& lengths = lengths_[static_cast<std::size_t>(prefix.address.family)];
  for (int length = prefix.length; length >= 0; --length) {
    if (!lengths.test(static_cast<std::size_t>(length))) continue;
    net::IpPrefix holder{.address = prefix.address, .length = static_cast<uint8_t>(length)};
    holder.address = FirstAddress(holder);
    const auto found = std::ranges::lower_bound(entries_, holder, {}, &Entry::prefix);
    if (found != entries_.end() && found->prefix == holder) return &*found;
  }
  return nullptr;
}

}  // namespace penstock::config

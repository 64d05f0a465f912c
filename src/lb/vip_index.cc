#include "penstock/lb/vip_index.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace penstock::lb {
namespace {

template <typename Key>
constexpr bool kIsV4 = std::is_same_v<Key, FlowKey4>;

template <typename Key>
constexpr uint8_t kFullLength = kIsV4<Key> ? 32 : 128;

template <typename Key>
bool IsOfFamily(const net::IpAddress& address) {
  return address.IsV4() == kIsV4<Key>;
}

template <typename Key>
void SetDestination(const net::IpAddress& address, Key& key) {
  if constexpr (kIsV4<Key>) {
    key.destination = address.v4().raw();
  } else {
    key.destination = address.bytes;
  }
}

std::size_t RestIndex(uint8_t protocol) {
  return protocol == net::kProtocolTcp ? 0 : 1;
}

// The first range of an entry; every port counts as 0 to 65535. No two entries of a prefix and
// protocol have the same.
std::pair<uint16_t, uint16_t> FirstRange(const VipEntry& entry) {
  std::pair<uint16_t, uint16_t> first = {entry.ports.empty() ? 0 : UINT16_MAX, UINT16_MAX};
  for (const PortRange& range : entry.ports) first = std::min(first, {range.first, range.last});
  return first;
}

template <typename Key>
std::size_t CountExactPorts(std::span<const VipEntry> entries) {
  std::size_t ports = 0;
  for (const VipEntry& entry : entries) {
    if (IsOfFamily<Key>(entry.prefix.address)) ports += entry.ports.size();
  }
  return ports;
}

}  // namespace

template <typename Key>
VipIndex<Key>::VipIndex(std::span<const VipEntry> entries, const HashKey& secret)
    : exact_(CountExactPorts<Key>(entries), secret), prefixes_(entries.size(), secret) {
  for (uint32_t i = 0; i < entries.size(); ++i) {
    if (IsOfFamily<Key>(entries[i].prefix.address)) Add(entries[i], i);
  }
  for (Node& node : nodes_) {
    for (Rest& rest : node.rest) {
      std::sort(rest.ranges.begin(), rest.ranges.end(),
                [](const Range& a, const Range& b) { return a.first < b.first; });
    }
  }
  std::sort(lengths_.begin(), lengths_.end(), [](const Length& a, const Length& b) {
    const auto bits = [](const Length& l) { return l.bits == 0 ? kFullLength<Key> : l.bits; };
    return bits(a) > bits(b);
  });
  ChooseEchoServices(entries);
}

// The length stands where index keys have no source port: keys of different lengths never meet. The
// full length is 0, so that a packet's key needs no more than its source taken out.
template <typename Key>
Key VipIndex<Key>::KeyOf(const VipEntry& entry, uint16_t port, uint8_t protocol) {
  Key key;
  SetDestination(entry.prefix.address, key);
  const uint8_t bits = entry.prefix.length == kFullLength<Key> ? 0 : entry.prefix.length;
  key = IndexKey(key, MakeLength(bits));
  key.destination_port = base::be16_t(port);
  key.service = ServiceAndProtocol::Of(kNoId, protocol);
  return key;
}

template <typename Key>
typename VipIndex<Key>::Length VipIndex<Key>::MakeLength(uint8_t bits) {
  const int set = bits == 0 ? 128 : bits;
  std::array<uint8_t, 16> mask{};
  for (int i = 0; i < 16; ++i) {
    mask[static_cast<std::size_t>(i)] =
        static_cast<uint8_t>(0xFF00 >> std::clamp(set - 8 * i, 0, 8));
  }
  Length length{.bits = bits, .mask = {}};
  std::memcpy(length.mask.data(), mask.data(), mask.size());
  return length;
}

template <typename Key>
Key VipIndex<Key>::IndexKey(const Key& packet, const Length& length) {
  Key key;
  if constexpr (kIsV4<Key>) {
    key.destination = packet.destination & static_cast<uint32_t>(length.mask[0]);
  } else {
    std::array<uint64_t, 2> words;
    std::memcpy(words.data(), packet.destination.data(), sizeof(words));
    words[0] &= length.mask[0];
    words[1] &= length.mask[1];
    std::memcpy(key.destination.data(), words.data(), sizeof(words));
  }
  key.source_port = base::be16_t(length.bits);
  key.destination_port = packet.destination_port;
  key.service = ServiceAndProtocol::Of(kNoId, packet.service.protocol());
  return key;
}

template <typename Key>
void VipIndex<Key>::Add(const VipEntry& entry, uint32_t service) {
  const Key prefix = KeyOf(entry, 0, 0);
  uint32_t at = prefixes_.Find(prefix);
  if (at == ExactIndex<Key>::kAbsent) {
    at = static_cast<uint32_t>(nodes_.size());
    prefixes_.Insert(prefix, at);
    nodes_.push_back({.vip = {.echo = entry.echo}, .rest = {}});
    const auto bits = static_cast<uint8_t>(prefix.source_port.value());
    const bool known = std::any_of(lengths_.begin(), lengths_.end(),
                                   [bits](const Length& l) { return l.bits == bits; });
    if (!known) lengths_.push_back(MakeLength(bits));
  }
  Rest& rest = nodes_[at].rest[RestIndex(entry.protocol)];
  if (entry.ports.empty()) rest.any = service;
  for (const PortRange& range : entry.ports) {
    if (range.first == range.last) {
      exact_.Insert(KeyOf(entry, range.first, entry.protocol), service);
    } else {
      rest.ranges.push_back({range.first, range.last, service});
    }
  }
}

// The service with the smallest protocol and port, so that all hosts choose the same one whatever
// the order of the file.
template <typename Key>
void VipIndex<Key>::ChooseEchoServices(std::span<const VipEntry> entries) {
  for (uint32_t i = 0; i < entries.size(); ++i) {
    const VipEntry& entry = entries[i];
    if (!IsOfFamily<Key>(entry.prefix.address)) continue;
    Vip& vip = nodes_[prefixes_.Find(KeyOf(entry, 0, 0))].vip;
    const auto before = [&](const VipEntry& other) {
      return entry.protocol != other.protocol ? entry.protocol < other.protocol
                                              : FirstRange(entry) < FirstRange(other);
    };
    if (vip.echo_service == kNoService || before(entries[vip.echo_service])) vip.echo_service = i;
  }
}

template <typename Key>
typename VipIndex<Key>::Match VipIndex<Key>::FindIn(uint32_t node_index, const Key& exact) const {
  const Node& node = nodes_[node_index];
  Match match{.service = kNoService, .vip = &node.vip, .by_exact_port = false};
  const uint8_t protocol = exact.service.protocol();
  if (protocol != net::kProtocolTcp && protocol != net::kProtocolUdp) return match;
  const uint32_t service = exact_.Find(exact);
  if (service != ExactIndex<Key>::kAbsent) {
    match.service = service;
    match.by_exact_port = true;
    return match;
  }
  const Rest& rest = node.rest[RestIndex(protocol)];
  const uint16_t port = exact.destination_port.value();
  const auto after = std::upper_bound(rest.ranges.begin(), rest.ranges.end(), port,
                                      [](uint16_t p, const Range& r) { return p < r.first; });
  const bool in_range = after != rest.ranges.begin() && port <= std::prev(after)->last;
  match.service = in_range ? std::prev(after)->service : rest.any;
  return match;
}

template <typename Key>
typename VipIndex<Key>::Match VipIndex<Key>::Find(const Key& key) const {
  // The common case, one address and one port, needs no look at the prefixes: no prefix is longer,
  // and no match in it goes before.
  Key full = key;
  full.source = {};
  full.source_port = base::be16_t(0);
  full.service = ServiceAndProtocol::Of(kNoId, key.service.protocol());
  const uint32_t service = exact_.Find(full);
  if (service != ExactIndex<Key>::kAbsent) return {service, nullptr, true};
  for (const Length& length : lengths_) {
    Key prefix = IndexKey(key, length);
    const Key exact = prefix;
    prefix.destination_port = base::be16_t(0);
    prefix.service = {};
    const uint32_t node = prefixes_.Find(prefix);
    if (node != ExactIndex<Key>::kAbsent) return FindIn(node, exact);
  }
  return {};
}

template <typename Key>
const Vip* VipIndex<Key>::FindVip(const Key& key) const {
  for (const Length& length : lengths_) {
    Key prefix = IndexKey(key, length);
    prefix.destination_port = base::be16_t(0);
    prefix.service = {};
    const uint32_t node = prefixes_.Find(prefix);
    if (node != ExactIndex<Key>::kAbsent) return &nodes_[node].vip;
  }
  return nullptr;
}

template class VipIndex<FlowKey4>;
template class VipIndex<FlowKey6>;

}  // namespace penstock::lb

#include "penstock/lb/neighbors.h"

#include <algorithm>
#include <cstring>

#include "lb/neighbor_messages.h"
#include "penstock/net/wire.h"

namespace penstock::lb {
namespace {

// A known gateway is asked again after this long without an answer, by unicast (RFC 1122 2.3.2.1).
constexpr base::Tick kProbeAfter = 15;
constexpr int kMaxUnanswered = 3;

constexpr uint64_t kKnown = uint64_t{1} << 63;

uint64_t Pack(const net::MacAddress& mac) {
  uint64_t word = 0;
  std::memcpy(&word, mac.bytes.data(), mac.bytes.size());
  return word | kKnown;
}

net::MacAddress Unpack(uint64_t word) {
  net::MacAddress mac;
  std::memcpy(mac.bytes.data(), &word, mac.bytes.size());
  return mac;
}

// Our address to ask from: the one whose network holds the gateway, else any of the family.
net::IpAddress AskFrom(const std::vector<net::IpPrefix>& addresses, const net::IpAddress& gateway) {
  net::IpAddress any{.family = gateway.family};
  for (const net::IpPrefix& own : addresses) {
    if (own.Contains(gateway)) return own.address;
    if (own.address.family == gateway.family) any = own.address;
  }
  return any;
}

}  // namespace

struct Neighbors::Gateway {
  net::IpAddress address;
  net::IpAddress ask_from;
  bool fixed = false;             // the operator gave the MAC address
  std::atomic<uint64_t> mac = 0;  // Pack()ed, 0: unknown. Written by workers, read by workers.
  std::atomic<base::Tick> confirmed = 0;  // last answer. Written by workers, read by the asker.
  // The asker's own.
  base::Tick next_probe = 0;
  int unanswered = 0;
};

Neighbors::Neighbors(std::vector<PortIdentity> ports) {
  for (PortIdentity& identity : ports) {
    Port port{.mac = identity.mac, .addresses = identity.addresses, .gateways = {}};
    const auto add = [&](const net::IpAddress& address) {
      auto& gateway = port.gateways[static_cast<std::size_t>(address.family)];
      if (gateway != nullptr) return;
      gateway = std::make_unique<Gateway>();
      gateway->address = address;
      gateway->ask_from = AskFrom(identity.addresses, address);
      gateway->fixed = identity.gateway_mac.has_value();
      if (gateway->fixed) gateway->mac = Pack(*identity.gateway_mac);
    };
    for (const net::IpAddress& address : identity.gateways) add(address);
    // With its MAC address given, a gateway needs no IP address.
    if (identity.gateway_mac) {
      for (const net::IpPrefix& own : identity.addresses) {
        add(net::IpAddress{.family = own.address.family});
      }
    }
    ports_.push_back(std::move(port));
  }
}

Neighbors::~Neighbors() = default;

std::optional<net::MacAddress> Neighbors::NextHop(uint8_t port, net::Family family) const {
  const auto& gateway = ports_[port].gateways[static_cast<std::size_t>(family)];
  if (gateway == nullptr) return std::nullopt;
  const uint64_t word = gateway->mac.load(std::memory_order_relaxed);
  if (word == 0) return std::nullopt;
  return Unpack(word);
}

bool Neighbors::IsOurs(const Port& port, const net::IpAddress& address) const {
  return std::any_of(port.addresses.begin(), port.addresses.end(),
                     [&](const net::IpPrefix& own) { return own.address == address; });
}

void Neighbors::Learn(Port& port, const net::IpAddress& address, const net::MacAddress& mac,
                      base::Tick now) {
  auto& gateway = port.gateways[static_cast<std::size_t>(address.family)];
  if (gateway == nullptr || gateway->fixed || gateway->address != address) return;
  // Nobody's address, or a loop to ourselves.
  if (mac.IsMulticast() || mac.IsZero() || mac == port.mac) return;
  gateway->mac.store(Pack(mac), std::memory_order_relaxed);
  gateway->confirmed.store(now, std::memory_order_relaxed);
}

Verdict Neighbors::HandleArp(uint8_t port_index, std::span<uint8_t> frame, base::Tick now) {
  Port& port = ports_[port_index];
  const auto arp = ReadArp(frame);
  if (!arp) return Verdict::kDropMalformedNeighbor;
  // RFC 826: the sender's pair is taken before anything else is looked at. Our own address in it is
  // a conflict or an echo, and nothing to learn from.
  const auto sender = net::IpAddress::V4(arp->sender_ip);
  if (!IsOurs(port, sender)) Learn(port, sender, arp->sender_mac, now);
  const bool asks_us = arp->operation.value() == net::kArpRequest &&
                       IsOurs(port, net::IpAddress::V4(arp->target_ip));
  if (!asks_us) return Verdict::kLearnNeighbor;
  WriteArpReply(*arp, port.mac, frame);
  return Verdict::kAnswerArp;
}

Verdict Neighbors::HandleIcmpv6(uint8_t port_index, std::span<uint8_t> frame, uint16_t l4_offset,
                                std::size_t room, uint16_t& length, base::Tick now) {
  Port& port = ports_[port_index];
  if (!IsNeighborDiscovery(frame, l4_offset)) return Verdict::kDropIcmp;
  const auto message = ReadNeighborMessage(frame, l4_offset);
  if (!message) return Verdict::kDropMalformedNeighbor;
  const auto target = net::IpAddress::V6(message->target);
  if (!message->solicitation) {
    // RFC 4861 section 7.2.5: without the override flag, what is known stays.
    const auto known = NextHop(port_index, net::Family::kIpv6);
    const bool replaces = known && *known != message->link_address;
    if (!IsOurs(port, target) && (message->override_known || !replaces)) {
      Learn(port, target, message->link_address, now);
    }
    return Verdict::kLearnNeighbor;
  }
  if (!message->source.IsUnspecified()) Learn(port, message->source, message->link_address, now);
  if (!IsOurs(port, target)) return Verdict::kLearnNeighbor;
  if (room < kAdvertisementSize) return Verdict::kDropNoHeadroom;
  WriteAdvertisement(*message, port.mac,
                     std::span<uint8_t, kAdvertisementSize>(frame.data(), kAdvertisementSize));
  length = kAdvertisementSize;
  return Verdict::kAnswerNdp;
}

bool Neighbors::IsDue(Gateway& gateway, base::Tick now) {
  if (gateway.fixed || now < gateway.next_probe) return false;
  uint64_t word = gateway.mac.load(std::memory_order_relaxed);
  const base::Tick silent = now - gateway.confirmed.load(std::memory_order_relaxed);
  const bool known = word != 0;
  if (known && silent < kProbeAfter) {
    gateway.unanswered = 0;
    return false;
  }
  if (known && gateway.unanswered++ >= kMaxUnanswered) {
    // A worker may just have learned it anew; then it stays.
    gateway.mac.compare_exchange_strong(word, 0, std::memory_order_relaxed);
  }
  gateway.next_probe = now + 1;
  return true;
}

void Neighbors::DueSolicitations(base::Tick now,
                                 const std::function<void(const Solicitation&)>& send) {
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    for (auto& gateway : ports_[i].gateways) {
      if (gateway == nullptr || !IsDue(*gateway, now)) continue;
      const auto port = static_cast<uint8_t>(i);
      const auto known = NextHop(port, gateway->address.family);
      Solicitation solicitation{.port = port};
      solicitation.size = WriteSolicitation(ports_[i].mac, gateway->ask_from, gateway->address,
                                            known, solicitation.frame);
      send(solicitation);
    }
  }
}

}  // namespace penstock::lb

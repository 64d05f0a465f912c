#include "penstock/lb/neighbors.h"

#include <algorithm>

#include "lb/link.h"
#include "lb/neighbor_messages.h"

namespace penstock::lb {
namespace {

// Our address to ask from: the one whose network holds the gateway, else any of the family.
net::IpAddress AskFrom(const std::vector<net::IpPrefix>& addresses, const net::IpAddress& gateway) {
  net::IpAddress any{.family = gateway.family};
  for (const net::IpPrefix& own : addresses) {
    if (own.Contains(gateway)) return own.address;
    if (own.address.family == gateway.family) any = own.address;
  }
  return any;
}

// The first of those with an address, or the one where it would be.
WatchedNeighbors::iterator FirstAt(WatchedNeighbors watched, const net::IpAddress& address) {
  return std::lower_bound(
      watched.begin(), watched.end(), address,
      [](const WatchedNeighbor& one, const net::IpAddress& a) { return one.address < a; });
}

}  // namespace

Neighbors::Port Neighbors::MakePort(const PortIdentity& identity) {
  Port port{
      .mac = identity.mac, .vlan = identity.vlan, .addresses = identity.addresses, .gateways = {}};
  const auto add = [&](const net::IpAddress& address) {
    auto& gateway = port.gateways[static_cast<std::size_t>(address.family)];
    if (gateway != nullptr) return;
    const net::IpAddress ask_from = AskFrom(identity.addresses, address);
    if (identity.gateway_mac) {
      gateway.reset(new Gateway{address, ask_from, Neighbor(*identity.gateway_mac)});
    } else {
      gateway.reset(new Gateway{address, ask_from, Neighbor()});
    }
  };
  for (const net::IpAddress& address : identity.gateways) add(address);
  // With its MAC address given, a gateway needs no IP address.
  if (identity.gateway_mac) {
    for (const net::IpPrefix& own : identity.addresses) {
      add(net::IpAddress{.family = own.address.family});
    }
  }
  return port;
}

Neighbors::Neighbors(std::vector<PortIdentity> ports) {
  for (const PortIdentity& identity : ports) {
    Port port = MakePort(identity);
    const auto same = [&](const Port& other) {
      return other.mac == port.mac && other.addresses == port.addresses;
    };
    const auto first = std::find_if(ports_.begin(), ports_.end(), same);
    port.first = static_cast<uint8_t>(first - ports_.begin());
    ports_.push_back(std::move(port));
  }
}

Neighbors::~Neighbors() = default;

std::optional<net::MacAddress> Neighbors::NextHop(uint8_t port, net::Family family) const {
  const Port& asking = ports_[ports_[port].first];
  const auto& gateway = asking.gateways[static_cast<std::size_t>(family)];
  return gateway == nullptr ? std::nullopt : gateway->state.mac();
}

bool Neighbors::IsOurs(const Port& port, const net::IpAddress& address) {
  return std::any_of(port.addresses.begin(), port.addresses.end(),
                     [&](const net::IpPrefix& own) { return own.address == address; });
}

Neighbor* Neighbors::Find(uint8_t port, const net::IpAddress& address, WatchedNeighbors watched) {
  const auto& gateway = ports_[port].gateways[static_cast<std::size_t>(address.family)];
  if (gateway != nullptr && gateway->address == address) return &gateway->state;
  const auto found = FirstAt(watched, address);
  const bool here = found != watched.end() && found->address == address && found->port == port;
  return here ? found->state : nullptr;
}

void Neighbors::Learn(uint8_t port, const net::IpAddress& address, const net::MacAddress& mac,
                      base::Tick now, WatchedNeighbors watched) {
  // Our own address is a conflict or an echo; then nobody's address, and a loop to ourselves.
  if (IsOurs(ports_[port], address)) return;
  if (mac.IsMulticast() || mac.IsZero() || mac == ports_[port].mac) return;
  // An address may be a gateway's and a backend's.
  const auto& gateway = ports_[port].gateways[static_cast<std::size_t>(address.family)];
  if (gateway != nullptr && gateway->address == address) gateway->state.Learn(mac, now);
  for (auto it = FirstAt(watched, address); it != watched.end() && it->address == address; ++it) {
    if (it->port == port) it->state->Learn(mac, now);
  }
}

Neighbors::Handled Neighbors::HandleArp(uint8_t port, std::span<uint8_t> arp, base::Tick now,
                                        WatchedNeighbors watched) {
  port = ports_[port].first;
  const auto message = ReadArp(arp);
  if (!message) return {.verdict = Verdict::kDropMalformedNeighbor};
  // RFC 826: the sender's pair is taken before anything else is looked at.
  Learn(port, net::IpAddress::V4(message->sender_ip), message->sender_mac, now, watched);
  const bool asks_us = message->operation.value() == net::kArpRequest &&
                       IsOurs(ports_[port], net::IpAddress::V4(message->target_ip));
  if (!asks_us) return {};
  WriteArpReply(*message, ports_[port].mac, arp);
  return {Verdict::kAnswerArp, message->sender_mac, sizeof(net::ArpPacket)};
}

bool Neighbors::IsNeighborDiscovery(std::span<const uint8_t> packet, std::size_t l4_offset) {
  if (l4_offset >= packet.size()) return false;
  const uint8_t type = packet[l4_offset];
  return type == net::kNeighborSolicitation || type == net::kNeighborAdvertisement;
}

Neighbors::Handled Neighbors::HandleNeighborMessage(uint8_t port, std::span<uint8_t> packet,
                                                    std::size_t l4_offset, std::size_t room,
                                                    const net::MacAddress& from, base::Tick now,
                                                    WatchedNeighbors watched) {
  port = ports_[port].first;
  const auto message = ReadNeighborMessage(packet, l4_offset, from);
  if (!message) return {.verdict = Verdict::kDropMalformedNeighbor};
  const auto target = net::IpAddress::V6(message->target);
  if (!message->solicitation) {
    // RFC 4861 section 7.2.5: without the override flag, what is known stays.
    const Neighbor* known = Find(port, target, watched);
    const bool replaces =
        known != nullptr && known->mac() && *known->mac() != message->link_address;
    if (message->override_known || !replaces) {
      Learn(port, target, message->link_address, now, watched);
    }
    return {};
  }
  if (!message->source.IsUnspecified()) {
    Learn(port, message->source, message->link_address, now, watched);
  }
  if (!IsOurs(ports_[port], target)) return {};
  if (room < kAdvertisementSize) return {.verdict = Verdict::kDropNoHeadroom};
  const net::MacAddress to =
      WriteAdvertisement(*message, ports_[port].mac,
                         std::span<uint8_t, kAdvertisementSize>(packet.data(), kAdvertisementSize));
  return {Verdict::kAnswerNdp, to, kAdvertisementSize};
}

Solicitation Neighbors::Ask(uint8_t port, const net::IpAddress& ask_from,
                            const net::IpAddress& address, const Neighbor& state) const {
  const Port& out = ports_[port];
  Solicitation solicitation{.port = port};
  const std::size_t link = LinkSize(out.vlan);
  const auto written = WriteSolicitation(out.mac, ask_from, address, state.mac(),
                                         std::span<uint8_t>(solicitation.frame).subspan(link));
  WriteLink(solicitation.frame.data(), written.to, out.mac, out.vlan,
            address.IsV4() ? net::kEtherTypeArp : net::kEtherTypeIpv6);
  solicitation.size = static_cast<uint8_t>(link + written.size);
  return solicitation;
}

void Neighbors::DueSolicitations(base::Tick now, WatchedNeighbors watched,
                                 const std::function<void(const Solicitation&)>& send) {
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if (ports_[i].first != i) continue;
    for (auto& gateway : ports_[i].gateways) {
      if (gateway == nullptr || !gateway->state.IsDue(now)) continue;
      send(Ask(static_cast<uint8_t>(i), gateway->ask_from, gateway->address, gateway->state));
    }
  }
  for (std::size_t n = std::min(kWatchedAtOnce, watched.size()); n > 0; --n) {
    if (next_watched_ >= watched.size()) next_watched_ = 0;  // also after a smaller generation
    const WatchedNeighbor& one = watched[next_watched_++];
    if (one.state->IsDue(now)) send(Ask(one.port, one.ask_from, one.address, *one.state));
  }
}

}  // namespace penstock::lb

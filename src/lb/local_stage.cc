#include "lb/link.h"
#include "penstock/lb/pipeline.h"
#include "penstock/net/wire.h"

namespace penstock::lb {
namespace {

// The IP packet, or ARP message, without link header and padding.
std::span<uint8_t> PacketOf(const PacketBurst& burst, std::size_t i, std::size_t size) {
  return {burst.data[i] + burst.view[i].l3_offset, size};
}

bool IsNeighborDiscovery(const PacketBurst& burst, std::size_t i) {
  const net::PacketView& view = burst.view[i];
  if (burst.verdict[i] != Verdict::kAnswerEcho || view.family != net::Family::kIpv6) return false;
  return Neighbors::IsNeighborDiscovery(PacketOf(burst, i, view.ip_length),
                                        static_cast<std::size_t>(view.l4_offset - view.l3_offset));
}

// A switch floods what it does not know, and a port may have to listen to everything: only frames
// for this port's MAC address are ours, and only ARP and neighbor discovery use groups. IP in a
// link-layer broadcast must not be forwarded (RFC 1122 section 3.3.6).
bool IsForUs(const net::MacAddress& own, const uint8_t* frame, bool groups_too) {
  const auto destination = net::Load<net::EthernetHeader>(frame).destination;
  return destination == own || (groups_too && destination.IsMulticast());
}

void Finish(const ForwardContext& context, PacketBurst& burst, std::size_t i,
            const Neighbors::Handled& handled, uint16_t type) {
  burst.verdict[i] = handled.verdict;
  if (!IsSent(handled.verdict)) return;
  uint8_t* l3 = burst.data[i] + burst.view[i].l3_offset;
  if (RoomBefore(burst, i, l3) < LinkSize(context.neighbors.vlan(burst.port))) {
    burst.verdict[i] = Verdict::kDropNoHeadroom;
    return;
  }
  SendFrom(burst, i, l3, handled.size, context.neighbors, burst.port, handled.to, type);
}

void HandleArp(const ForwardContext& context, PacketBurst& burst, std::size_t i) {
  const std::size_t size = static_cast<std::size_t>(burst.length[i] - burst.view[i].l3_offset);
  Finish(context, burst, i,
         context.neighbors.HandleArp(burst.port, PacketOf(burst, i, size), context.now,
                                     context.services.watched_neighbors()),
         net::kEtherTypeArp);
}

void HandleNeighborMessage(const ForwardContext& context, PacketBurst& burst, std::size_t i) {
  const net::PacketView& view = burst.view[i];
  const auto from = net::Load<net::EthernetHeader>(burst.data[i]).source;
  const auto room = static_cast<std::size_t>(burst.length[i] + burst.tailroom[i] - view.l3_offset);
  Finish(context, burst, i,
         context.neighbors.HandleNeighborMessage(
             burst.port, PacketOf(burst, i, view.ip_length),
             static_cast<std::size_t>(view.l4_offset - view.l3_offset), room, from, context.now,
             context.services.watched_neighbors()),
         net::kEtherTypeIpv6);
}

}  // namespace

void LocalStage(const ForwardContext& context, PacketBurst& burst) {
  const net::MacAddress& own = context.neighbors.mac(burst.port);
  for (std::size_t i = 0; i < static_cast<std::size_t>(burst.count); ++i) {
    burst.egress_port[i] = burst.port;
    const Verdict verdict = burst.verdict[i];
    if (InfoOf(verdict).kind == VerdictKind::kDropped) continue;
    const bool arp = verdict == Verdict::kAnswerArp;
    const bool discovery = IsNeighborDiscovery(burst, i);
    if (!IsForUs(own, burst.data[i], arp || discovery)) {
      burst.verdict[i] = Verdict::kDropNotOurMac;
    } else if (arp) {
      HandleArp(context, burst, i);
    } else if (discovery) {
      HandleNeighborMessage(context, burst, i);
    }
  }
}

}  // namespace penstock::lb

#include "penstock/lb/pipeline.h"
#include "penstock/net/wire.h"

namespace penstock::lb {
namespace {

// A switch floods what it does not know, and a port may have to listen to everything: only frames
// for this port's MAC address are ours, and only ARP and neighbor discovery use groups. IP in a
// link-layer broadcast must not be forwarded (RFC 1122 section 3.3.6).
bool IsForUs(const net::MacAddress& own, const uint8_t* frame, bool groups_too) {
  const auto destination = net::Load<net::EthernetHeader>(frame).destination;
  return destination == own || (groups_too && destination.IsMulticast());
}

}  // namespace

void LocalStage(const ForwardContext& context, PacketBurst& burst) {
  const net::MacAddress& own = context.neighbors.mac(burst.port);
  for (std::size_t i = 0; i < static_cast<std::size_t>(burst.count); ++i) {
    burst.egress_port[i] = burst.port;
    Verdict& verdict = burst.verdict[i];
    if (InfoOf(verdict).kind == VerdictKind::kDropped) continue;
    if (!IsForUs(own, burst.data[i], verdict != Verdict::kForward)) {
      verdict = Verdict::kDropNotOurMac;
    } else if (verdict == Verdict::kAnswerArp) {
      verdict =
          context.neighbors.HandleArp(burst.port, {burst.data[i], burst.length[i]}, context.now);
    } else if (verdict == Verdict::kAnswerNdp) {
      const net::PacketView& view = burst.view[i];
      // Without padding: the packet's length is what its header says.
      const auto size = static_cast<std::size_t>(view.l3_offset + view.ip_length);
      verdict = context.neighbors.HandleIcmpv6(
          burst.port, {burst.data[i], size}, view.l4_offset,
          static_cast<std::size_t>(burst.length[i] + burst.tailroom[i]), burst.length[i],
          context.now);
    }
  }
}

}  // namespace penstock::lb

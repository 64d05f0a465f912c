#include "penstock/lb/pipeline.h"

namespace penstock::lb {

void LocalStage(const ForwardContext& context, PacketBurst& burst) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(burst.count); ++i) {
    burst.egress_port[i] = burst.port;
    if (burst.verdict[i] == Verdict::kAnswerArp) {
      burst.verdict[i] =
          context.neighbors.HandleArp(burst.port, {burst.data[i], burst.length[i]}, context.now);
    } else if (burst.verdict[i] == Verdict::kAnswerNdp) {
      const net::PacketView& view = burst.view[i];
      // Without padding: the packet's length is what its header says.
      const auto size = static_cast<std::size_t>(view.l3_offset + view.ip_length);
      burst.verdict[i] = context.neighbors.HandleIcmpv6(
          burst.port, {burst.data[i], size}, view.l4_offset,
          static_cast<std::size_t>(burst.length[i] + burst.tailroom[i]), burst.length[i],
          context.now);
    }
  }
}

}  // namespace penstock::lb

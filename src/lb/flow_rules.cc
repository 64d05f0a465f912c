#include "lb/flow_rules.h"

namespace penstock::lb {
namespace {

constexpr uint8_t kTcpControl = net::kTcpSyn | net::kTcpAck | net::kTcpFin | net::kTcpRst;
constexpr uint8_t kTcpAnyFlag = 0x3F;  // without ECE and CWR, which say nothing about state

// A SYN that meets an entry is either a retransmission or a client that reuses the port.
bool SynFollows(const FlowEntry& entry, const Backend& backend) {
  if ((entry.state & kFlowSeenData) == 0 && entry.age <= kSynOnlyTimeout) {
    // A retransmission: the connection may already exist at the backend.
    return backend.serves_tcp_flows && backend.healthy;
  }
  if (backend.takes_new_flows) return true;
  return backend.draining && backend.healthy && entry.age <= kChallengeWindow;
}

}  // namespace

PacketKind KindOf(const net::PacketView& view, uint8_t flow_protocol) {
  // ICMP about a TCP flow goes where a packet in mid-stream would; a ping has no stream.
  if (flow_protocol != view.protocol) {
    return flow_protocol == net::kProtocolTcp ? PacketKind::kOdd : PacketKind::kUdp;
  }
  if (view.protocol != net::kProtocolTcp) return PacketKind::kUdp;
  const uint8_t control = view.tcp_flags & kTcpControl;
  if (control == net::kTcpSyn) return PacketKind::kSyn;
  if ((control & net::kTcpSyn) != 0 || (view.tcp_flags & kTcpAnyFlag) == 0) {
    return PacketKind::kOdd;
  }
  return (control & net::kTcpRst) != 0 ? PacketKind::kReset : PacketKind::kData;
}

bool FollowsEntry(PacketKind kind, const FlowEntry& entry, const Backend& backend,
                  const Service& service) {
  if (!service.Reaches(backend)) return false;
  if (kind == PacketKind::kSyn) return SynFollows(entry, backend);
  if (kind == PacketKind::kUdp) {
    return backend.serves_udp_flows && entry.age <= service.udp_idle_timeout;
  }
  return backend.serves_tcp_flows;
}

uint8_t StateAfter(PacketKind kind, uint8_t tcp_flags, const FlowEntry& entry) {
  uint8_t state = entry.state;
  switch (kind) {
    case PacketKind::kSyn:
      // The port is in use again.
      return static_cast<uint8_t>(state & ~kFlowClosing);
    case PacketKind::kReset:
      return state | kFlowClosing;
    case PacketKind::kOdd:
      return state;
    case PacketKind::kData:
      if ((tcp_flags & net::kTcpFin) != 0) state |= kFlowClosing;
      [[fallthrough]];
    case PacketKind::kUdp:
      if ((state & kFlowSeenData) != 0 && entry.age > 0) state |= kFlowConfirmed;
      return state | kFlowSeenData;
  }
  return state;
}

uint8_t FirstState(PacketKind kind, uint8_t tcp_flags) {
  if (kind == PacketKind::kSyn) return 0;
  const bool fin = kind == PacketKind::kData && (tcp_flags & net::kTcpFin) != 0;
  return fin ? kFlowSeenData | kFlowClosing : kFlowSeenData;
}

}  // namespace penstock::lb

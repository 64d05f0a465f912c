#include "lb/martian.h"
#include "lb/packet_key.h"
#include "lb/stages.h"
#include "penstock/lb/pipeline.h"

namespace penstock::lb {
namespace {

template <typename Key>
bool IsTunnel(const Key& key, bool by_exact_port) {
  const uint8_t protocol = key.service.protocol();
  if (protocol == net::kProtocolUdp) {
    return key.destination_port.value() == net::kGuePort && !by_exact_port;
  }
  return net::IsTunnelProtocol(protocol);
}

// The service of a packet, or why there is none.
template <typename Key>
Verdict FindService(const ForwardContext& context, const Key& key, const Service*& service) {
  const auto match = context.services.Find(key);
  if (!match.is_vip) return Verdict::kDropNotVip;
  if (HasMartianSource(key)) return Verdict::kDropMartianSource;
  // RFC 2003 section 3.2: what has been wrapped once is not wrapped again.
  if (IsTunnel(key, match.by_exact_port)) return Verdict::kDropLoop;
  if (match.service == nullptr) return Verdict::kDropNoService;
  service = match.service;
  return Verdict::kForward;
}

// IcmpStage has checked the packet's own addresses; the key is that of the flow it quotes.
template <typename Key>
Verdict FindQuotedService(const ForwardContext& context, const Key& key, const Service*& service) {
  service = context.services.Find(key).service;
  return service == nullptr ? Verdict::kDropIcmpNoService : Verdict::kForward;
}

template <typename Key>
void Classify(const ForwardContext& context, PacketBurst& burst, std::size_t i, Key& key) {
  const Service* service = nullptr;
  if (IsEcho(key)) {
    service = context.services.service(burst.service[i]);  // IcmpStage has chosen
  } else {
    burst.verdict[i] = IsIcmp(burst.view[i]) ? FindQuotedService(context, key, service)
                                             : FindService(context, key, service);
  }
  if (service == nullptr) return;
  if (service->denied != nullptr && service->denied->Contains(SourceOf(key))) {
    burst.verdict[i] = Verdict::kDropDenied;
    return;
  }
  if ((burst.flags[i] & kFirstFragment) != 0 && !service->steer_fragments) {
    burst.verdict[i] = Verdict::kDropFragment;
    return;
  }
  key.service = ServiceAndProtocol::Of(service->id, key.service.protocol());
  burst.service[i] = service->id;
  burst.hash[i] = HashFlow(key, context.services.key());
  context.flows.of<Key>().Prefetch(burst.hash[i]);
}

// What a later fragment, which has no ports, shows all the same: kHold if it is to follow its
// datagram's first one.
template <typename Key>
Verdict ClassifyLater(const ForwardContext& context, const net::PacketView& view, const Key& key) {
  if (context.services.FindVip(key) == nullptr) return Verdict::kDropNotVip;
  if (HasMartianSource(key)) return Verdict::kDropMartianSource;
  // RFC 8200 section 4.5: the protocol is the first fragment's to tell.
  if (view.family == net::Family::kIpv6) return Verdict::kHold;
  if (net::IsTunnelProtocol(view.protocol)) return Verdict::kDropLoop;
  const bool has_ports = view.protocol == net::kProtocolTcp || view.protocol == net::kProtocolUdp;
  return has_ports ? Verdict::kHold : Verdict::kDropNoService;
}

}  // namespace

void ClassifyStage(const ForwardContext& context, PacketBurst& burst) {
  if (burst.has_fragments) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(burst.count); ++i) {
      if (burst.verdict[i] != Verdict::kHold) continue;
      burst.verdict[i] =
          WithKey(burst, i, [&](auto& key) { return ClassifyLater(context, burst.view[i], key); });
    }
  }
  ForEachPending(burst, [&](std::size_t i) {
    WithKey(burst, i, [&](auto& key) { Classify(context, burst, i, key); });
  });
}

}  // namespace penstock::lb

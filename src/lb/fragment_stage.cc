#include "lb/packet_key.h"
#include "lb/stages.h"
#include "penstock/lb/fragment_table.h"
#include "penstock/lb/pipeline.h"

namespace penstock::lb {
namespace {

FragmentKey KeyOf(const PacketBurst& burst, std::size_t i) {
  const net::PacketView& view = burst.view[i];
  FragmentKey key{.id = view.fragment_id, .family = view.family};
  if (view.family == net::Family::kIpv4) {
    const FlowKey4& flow = burst.key[i].v4;
    net::Store(key.source.data(), flow.source);
    net::Store(key.destination.data(), flow.destination);
    key.protocol = view.protocol;
  } else {
    key.source = burst.key[i].v6.source;
    key.destination = burst.key[i].v6.destination;
  }
  return key;
}

// What later fragments find out for themselves, and what is about the frame and not the datagram.
bool IsWorthNoting(Verdict verdict) {
  return verdict != Verdict::kDropNotVip && verdict != Verdict::kDropMartianSource &&
         verdict != Verdict::kDropNotOurMac;
}

void NoteFirst(const ForwardContext& context, const PacketBurst& burst, std::size_t i) {
  if (!IsWorthNoting(burst.verdict[i])) return;
  FragmentDecision decision{.verdict = burst.verdict[i]};
  if (decision.verdict == Verdict::kForward) {
    decision.service = burst.service[i];
    decision.backend = burst.backend[i];
    decision.hash = burst.hash[i];
  }
  context.fragments.Note(KeyOf(burst, i), decision, context.now);
}

void FollowFirst(const ForwardContext& context, PacketBurst& burst, std::size_t i) {
  const auto decision = context.fragments.Find(KeyOf(burst, i), context.now);
  if (!decision) {
    if ((burst.flags[i] & kLastTry) != 0) burst.verdict[i] = Verdict::kDropFragmentTimeout;
    return;  // else kHold, as it is
  }
  burst.verdict[i] = decision->verdict;
  if (decision->verdict != Verdict::kForward) return;
  // The configuration may have changed in between.
  const Service* service = context.services.service(decision->service);
  const Backend& backend = context.services.backend(decision->backend);
  if (service == nullptr || !service->Reaches(backend) ||
      (!backend.serves_tcp_flows && !backend.serves_udp_flows)) {
    burst.verdict[i] = Verdict::kDropNoBackend;
    return;
  }
  burst.service[i] = decision->service;
  burst.backend[i] = decision->backend;
  burst.hash[i] = decision->hash;
}

}  // namespace

void FragmentStage(const ForwardContext& context, PacketBurst& burst) {
  if (!burst.has_fragments) return;
  const auto count = static_cast<std::size_t>(burst.count);
  // In the order in which they came, for an identification may be used again.
  for (std::size_t i = 0; i < count; ++i) {
    if ((burst.flags[i] & kFirstFragment) != 0) {
      NoteFirst(context, burst, i);
    } else if (burst.verdict[i] == Verdict::kHold) {
      FollowFirst(context, burst, i);
    }
  }
  // Those that stand in front of their first fragment.
  for (std::size_t i = 0; i < count; ++i) {
    if (burst.verdict[i] == Verdict::kHold) FollowFirst(context, burst, i);
  }
}

}  // namespace penstock::lb

#include "penstock/lb/kept_flows.h"

#include "lb/flow_judge.h"
#include "lb/packet_key.h"

namespace penstock::lb {
namespace {

template <typename Key>
void Collect(const ServiceTable& services, const FlowTableOf<Key>& flows, base::Tick now,
             std::vector<KeptFlow>& kept) {
  const GenerationJudge<Key> judge(services);
  flows.ForEach(now, [&](const Key& key, const FlowEntry& entry) {
    if (judge.IsOver(key, entry) || judge.IsRedundant(key, entry)) return;
    kept.push_back({.source = SourceOf(key),
                    .destination = DestinationOf(key),
                    .source_port = key.source_port.value(),
                    .destination_port = key.destination_port.value(),
                    .protocol = key.service.protocol(),
                    .confirmed = (entry.state & kFlowConfirmed) != 0,
                    .idle = entry.age,
                    .service = key.service.service(),
                    .backend = entry.backend});
  });
}

void FillKey(const KeptFlow& flow, FlowKey4& key) {
  key.source = flow.source.v4().raw();
  key.destination = flow.destination.v4().raw();
}
void FillKey(const KeptFlow& flow, FlowKey6& key) {
  key.source = flow.source.bytes;
  key.destination = flow.destination.bytes;
}

// What remains to be known about a restored flow: that it had data.
uint8_t StateOf(const KeptFlow& flow, bool stray) {
  return static_cast<uint8_t>(kFlowSeenData | (flow.confirmed ? kFlowConfirmed : 0) |
                              (stray ? kFlowStray : 0));
}

template <typename Key>
bool Restore(const ServiceTable& services, std::span<const RestoreTarget> targets,
             const KeptFlow& flow, base::Tick now) {
  const Service* service = services.service(flow.service);
  const Backend& backend = services.backend(flow.backend);
  if (service == nullptr || backend.counters == nullptr || flow.idle > kMaxIdleTimeout)
    return false;
  Key key;
  FillKey(flow, key);
  key.source_port = base::be16_t(flow.source_port);
  key.destination_port = base::be16_t(flow.destination_port);
  key.service = ServiceAndProtocol::Of(flow.service, flow.protocol);
  const bool stray = targets.size() > 1;
  const uint8_t state = StateOf(flow, stray);
  const GenerationJudge<Key> judge(services);
  if (judge.IsOver(key, {.backend = flow.backend, .age = flow.idle, .state = state})) return false;
  const FlowHash hash = HashFlow(key, services.key());
  const RestoreTarget& target = targets[hash.bits % targets.size()];
  FlowTableOf<Key>& flows = target.flows->of<Key>();
  if (flows.Find(hash, key) >= 0) return false;
  const auto result = flows.Insert(hash, key, flow.backend, state, now, true, judge);
  if (result.way < 0) return false;
  flows.SetLastSeen(hash, result.way, now - flow.idle);
  const Backend& gone = services.backend(result.evicted);
  if (gone.counters != nullptr) gone.counters[target.worker].live_flows.Subtract(1);
  backend.counters[target.worker].live_flows.Increment();
  const bool udp = flow.protocol == net::kProtocolUdp;
  const base::Tick idle_timeout = udp ? service->udp_idle_timeout : service->tcp_idle_timeout;
  if (stray) target.flows->NoteStray(now - flow.idle + idle_timeout);
  return true;
}

}  // namespace

void CollectFlows(const ServiceTable& services, const FlowTable& flows, base::Tick now,
                  std::vector<KeptFlow>& kept) {
  Collect(services, flows.v4(), now, kept);
  Collect(services, flows.v6(), now, kept);
}

std::size_t RestoreFlows(const ServiceTable& services, std::span<const RestoreTarget> targets,
                         std::span<const KeptFlow> kept, base::Tick now) {
  std::size_t restored = 0;
  for (const KeptFlow& flow : kept) {
    const bool done = flow.source.IsV4() ? Restore<FlowKey4>(services, targets, flow, now)
                                         : Restore<FlowKey6>(services, targets, flow, now);
    restored += done ? 1 : 0;
  }
  return restored;
}

}  // namespace penstock::lb

#include "lb/stages.h"
#include "penstock/lb/pipeline.h"

namespace penstock::lb {
namespace {

template <typename Key>
void Classify(const ForwardContext& context, PacketBurst& burst, std::size_t i, Key& key) {
  const Service* service = context.services.Find(key);
  if (service == nullptr) {
    burst.verdict[i] = context.services.IsVip(key) ? Verdict::kDropNoService : Verdict::kDropNotVip;
    return;
  }
  key.service = ServiceAndProtocol::Of(service->id, key.service.protocol());
  burst.service[i] = service->id;
  burst.hash[i] = HashFlow(key, context.services.key());
  context.flows.of<Key>().Prefetch(burst.hash[i]);
}

}  // namespace

void ClassifyStage(const ForwardContext& context, PacketBurst& burst) {
  ForEachPending(burst, [&](std::size_t i) {
    WithKey(burst, i, [&](auto& key) { Classify(context, burst, i, key); });
  });
}

}  // namespace penstock::lb

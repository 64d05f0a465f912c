#include "lb/stages.h"
#include "penstock/lb/pipeline.h"

namespace penstock::lb {
namespace {

template <typename Key>
void Lookup(const ForwardContext& context, PacketBurst& burst, std::size_t i, const Key& key) {
  const FlowTableOf<Key>& flows = context.flows.of<Key>();
  const Service& service = *context.services.service(burst.service[i]);
  const int way = service.tracking == Tracking::kNone ? -1 : flows.Find(burst.hash[i], key);
  burst.way[i] = static_cast<int8_t>(way);
  if (way >= 0) {
    const BackendId id = flows.Entry(burst.hash[i], way, context.now).backend;
    base::Prefetch(&context.services.backend(id));
    return;
  }
  const PoolTable& table = *context.services.pool(service.pool).table;
  const uint32_t bits =
      SlotBits(key, burst.hash[i], SlotHashOf(key, service), context.services.key());
  base::Prefetch(&table.Lookup(bits));
}

}  // namespace

void LookupStage(const ForwardContext& context, PacketBurst& burst) {
  ForEachPending(burst, [&](std::size_t i) {
    WithKey(burst, i, [&](auto& key) { Lookup(context, burst, i, key); });
  });
}

}  // namespace penstock::lb

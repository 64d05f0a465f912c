#include "penstock/lb/pipeline.h"

#include "lb/flow_judge.h"

namespace penstock::lb {
namespace {

template <typename Key>
void SweepOne(const ForwardContext& context, uint32_t buckets) {
  const GenerationJudge<Key> judge(context.services);
  context.flows.of<Key>().Sweep(buckets, context.now, judge, [&](BackendId id) {
    context.flow_counters.Count(FlowEvent::kExpired);
    const Backend& backend = context.services.backend(id);
    if (backend.counters != nullptr) backend.counters[context.worker].live_flows.Subtract(1);
  });
}

}  // namespace

void ForwardBurst(const ForwardContext& context, PacketBurst& burst) {
  ParseStage(burst);
  LocalStage(context, burst);
  IcmpStage(context, burst);
  ClassifyStage(context, burst);
  LookupStage(context, burst);
  SelectStage(context, burst);
  FragmentStage(context, burst);
  EncapStage(context, burst);
}

int SweepFlows(const ForwardContext& context, uint32_t buckets) {
  const uint64_t before = context.flows.CompletedSweeps();
  const uint64_t v4_count = context.flows.v4().bucket_count();
  const uint64_t v6_count = context.flows.v6().bucket_count();
  SweepOne<FlowKey4>(context, buckets);
  SweepOne<FlowKey6>(context,
                     static_cast<uint32_t>((buckets * v6_count + v4_count - 1) / v4_count));
  return static_cast<int>(context.flows.CompletedSweeps() - before);
}

}  // namespace penstock::lb

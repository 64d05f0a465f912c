// Judges flow entries by the running generation.

#ifndef PENSTOCK_LB_FLOW_JUDGE_H_
#define PENSTOCK_LB_FLOW_JUDGE_H_

#include "lb/flow_rules.h"
#include "penstock/lb/flow_table.h"
#include "penstock/lb/service_table.h"

namespace penstock::lb {

template <typename Key>
class GenerationJudge final : public FlowJudge<Key> {
 public:
  explicit GenerationJudge(const ServiceTable& services) : services_(services) {}

  [[nodiscard]] bool IsOver(const Key& key, const FlowEntry& entry) const override {
    const Service* service = services_.service(key.service.service());
    if (service == nullptr || service->tracking == Tracking::kNone) return true;
    const Backend& backend = services_.backend(entry.backend);
    if (!service->Reaches(backend)) return true;
    if (key.service.protocol() == net::kProtocolUdp) {
      return !backend.serves_udp_flows || entry.age > service->udp_idle_timeout;
    }
    if (!backend.serves_tcp_flows) return true;
    const bool syn_only = (entry.state & kFlowSeenData) == 0;
    return entry.age > (syn_only ? kSynOnlyTimeout : service->tcp_idle_timeout);
  }

  [[nodiscard]] bool IsRedundant(const Key& key, const FlowEntry& entry) const override {
    const Service* service = services_.service(key.service.service());
    if (service == nullptr) return true;
    const Pool& pool = services_.pool(service->pool);
    const FlowHash hash = HashFlow(key, services_.key());
    const Slot& slot = pool.table->Lookup(SlotBits(key, hash, service->hash, services_.key()));
    const PacketKind kind =
        key.service.protocol() == net::kProtocolUdp ? PacketKind::kUdp : PacketKind::kData;
    const MemberIndex owner = OwnerFor(kind, slot, service->tracking);
    return owner != kNoMember && pool.ids[owner] == entry.backend;
  }

 private:
  const ServiceTable& services_;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_FLOW_JUDGE_H_

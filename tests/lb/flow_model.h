// The rules of docs/CONSISTENCY.md once more, written from there: maps instead of buckets, ages
// that do not wrap, one packet after the other. Which slot a flow has is asked from outside.

#ifndef PENSTOCK_TESTS_LB_FLOW_MODEL_H_
#define PENSTOCK_TESTS_LB_FLOW_MODEL_H_

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "penstock/lb/service_table.h"

namespace penstock::lb {

class FlowModel {
 public:
  enum class Kind { kSyn, kMidStream, kReset, kOdd, kUdp, kIcmpError };
  struct Flow {
    ServiceId service = 0;
    std::string source;
    uint16_t port = 0;
    auto operator<=>(const Flow&) const = default;
  };
  // Backends by id; 0: nobody.
  struct Owners {
    BackendId current = 0;
    BackendId previous = 0;
  };
  struct Result {
    Verdict verdict = Verdict::kForward;
    BackendId backend = 0;
  };
  struct ServiceState {
    bool udp = false;
    Tracking tracking = Tracking::kFull;
    base::Tick tcp_idle = 900;
    base::Tick udp_idle = 30;
    NewFlowRate rate;
  };

  // The running configuration.
  std::map<BackendId, PoolMember> backends;
  std::map<ServiceId, ServiceState> services;

  Result Send(Kind kind, const Flow& flow, const Owners& owners, base::Tick now) {
    const ServiceState& service = services.at(flow.service);
    if (service.tracking == Tracking::kNone) return Untracked(kind, flow, owners, now);
    const auto entry = entries_.find(flow);
    const bool known = entry != entries_.end();
    if (known && MayFollow(kind, service, entry->second, now)) {
      const BackendId backend = entry->second.backend;
      Touch(kind, entry->second, now);
      return {.backend = backend};
    }
    const bool begins = kind == Kind::kSyn || IsUdp(kind, service);
    const BackendId owner = begins || owners.previous == 0 ? owners.current : owners.previous;
    if (owner == 0) return {.verdict = Verdict::kDropNoBackend};
    const bool leaves_trace =
        (kind == Kind::kSyn || kind == Kind::kMidStream || kind == Kind::kUdp) &&
        (service.tracking == Tracking::kFull || owners.previous != 0 || known);
    const bool idle = known && now - entry->second.seen > service.udp_idle;
    const bool is_new =
        kind == Kind::kSyn || (kind == Kind::kUdp && leaves_trace && (!known || idle));
    if (is_new && !Admit(flow, service.rate, now)) return {.verdict = Verdict::kDropRateLimited};
    if (leaves_trace) entries_[flow] = {owner, now, kind == Kind::kSyn};
    return {.backend = owner};
  }

  // Forgets what is over.
  void Sweep(base::Tick now) {
    std::erase_if(entries_, [&](const auto& item) { return IsOver(item.first, item.second, now); });
  }

  [[nodiscard]] std::map<BackendId, uint64_t> LiveFlows() const {
    std::map<BackendId, uint64_t> live;
    for (const auto& [flow, entry] : entries_) ++live[entry.backend];
    return live;
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    BackendId backend = 0;
    base::Tick seen = 0;
    bool only_syns = false;
  };
  struct Second {
    base::Tick tick = 0;
    uint32_t used = 0;
  };

  static bool IsUdp(Kind kind, const ServiceState& service) {
    return kind == Kind::kUdp || (kind == Kind::kIcmpError && service.udp);
  }

  Result Untracked(Kind kind, const Flow& flow, const Owners& owners, base::Tick now) {
    if (owners.current == 0) return {.verdict = Verdict::kDropNoBackend};
    if (kind == Kind::kSyn && !Admit(flow, services.at(flow.service).rate, now)) {
      return {.verdict = Verdict::kDropRateLimited};
    }
    return {.backend = owners.current};
  }

  [[nodiscard]] bool MayFollow(Kind kind, const ServiceState& service, const Entry& entry,
                               base::Tick now) const {
    const auto found = backends.find(entry.backend);
    if (found == backends.end()) return false;
    const PoolMember& backend = found->second;
    const base::Tick age = now - entry.seen;
    if (backend.state == AdminState::kDisabled) return false;
    if (IsUdp(kind, service)) return backend.healthy && age <= service.udp_idle;
    if (kind != Kind::kSyn) return true;
    if (!backend.healthy) return false;
    if (entry.only_syns && age <= 130) return true;  // a retransmission
    if (backend.state == AdminState::kActive && backend.weight > 0) return true;
    return backend.state == AdminState::kDraining && age <= 5;  // a challenge ACK answers
  }

  static void Touch(Kind kind, Entry& entry, base::Tick now) {
    if (kind == Kind::kOdd || kind == Kind::kIcmpError) return;
    entry.seen = now;
    if (kind == Kind::kMidStream || kind == Kind::kUdp) entry.only_syns = false;
  }

  [[nodiscard]] bool IsOver(const Flow& flow, const Entry& entry, base::Tick now) const {
    const auto service = services.find(flow.service);
    const auto backend = backends.find(entry.backend);
    if (service == services.end() || backend == backends.end()) return true;
    if (service->second.tracking == Tracking::kNone) return true;
    if (backend->second.state == AdminState::kDisabled) return true;
    const base::Tick age = now - entry.seen;
    if (service->second.udp) return !backend->second.healthy || age > service->second.udp_idle;
    return age > (entry.only_syns ? 130 : service->second.tcp_idle);
  }

  bool Admit(const Flow& flow, const NewFlowRate& rate, base::Tick now) {
    const auto used = [now](Second& second) -> uint32_t& {
      if (second.tick != now) second = {now, 0};
      return second.used;
    };
    // In the model's world, hosts of an IPv6 network differ behind the last "::".
    const bool v6 = flow.source.find(':') != std::string::npos;
    const std::string source = v6 ? flow.source.substr(0, flow.source.rfind("::")) : flow.source;
    uint32_t& all = used(totals_[flow.service]);
    uint32_t& mine = used(sources_[{flow.service, source}]);
    if (rate.total != 0 && all >= rate.total) return false;
    if (rate.per_source != 0 && mine >= rate.per_source) return false;
    if (rate.total != 0) ++all;
    if (rate.per_source != 0) ++mine;
    return true;
  }

  std::map<Flow, Entry> entries_;
  std::map<ServiceId, Second> totals_;
  std::map<std::pair<ServiceId, std::string>, Second> sources_;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_TESTS_LB_FLOW_MODEL_H_

#include "bench/churn/simulation.h"

#include <algorithm>
#include <vector>

#include "bench/churn/flows.h"

namespace penstock::bench {
namespace {

// A flow on its way.
struct LiveFlow {
  Flow flow;
  BackendNumber backend = 0;
  uint32_t incarnation = 0;
  uint32_t host = 0;
  uint32_t memory = 0;  // the host's age in losses of memory when the flow was last there
};

class Run {
 public:
  Run(const Scenario& scenario, Rule& rule, uint32_t seed)
      : scenario_(scenario),
        rule_(rule),
        source_(scenario.flows, seed),
        state_(scenario.backends),
        memory_(scenario.hosts),
        hosts_in_use_(scenario.hosts),
        due_(scenario.seconds) {}

  Outcome Finish() {
    for (uint32_t second = 0; second < scenario_.seconds; ++second) {
      TakeEvents(second);
      rule_.SetPool(state_, second);
      for (const Flow& flow : source_.Begin(second)) Begin(flow, second);
      for (uint32_t i = 0; i < flood_; ++i) rule_.Send(0, source_.RandomSyn());
      for (const uint32_t index : due_[second]) Continue(live_[index], index, second);
      due_[second] = {};
    }
    return outcome_;
  }

 private:
  void TakeEvents(uint32_t second) {
    for (; next_event_ < scenario_.events.size(); ++next_event_) {
      const Event& event = scenario_.events[next_event_];
      if (event.second != second) return;
      if (state_.Apply(event)) continue;
      if (event.kind == EventKind::kEcmp) hosts_in_use_ = event.value;
      if (event.kind == EventKind::kFlood) flood_ = event.value;
      if (event.kind == EventKind::kHostReboot) rule_.Reboot(event.subject);
      if (event.kind == EventKind::kHostRestart) rule_.Restart(event.subject);
      if (event.kind == EventKind::kHostReboot || event.kind == EventKind::kHostRestart) {
        ++memory_[event.subject];
      }
    }
  }

  // Routers with resilient hashing: who is on a host that stays, stays there.
  [[nodiscard]] uint32_t HostOf(const Flow& flow) const {
    const uint64_t hash = lb::Mix(flow.source ^ 0x9E3779B97F4A7C15, flow.port ^ 0xD1B54A32D192ED03);
    const auto host = static_cast<uint32_t>(hash % scenario_.hosts);
    return host < hosts_in_use_ ? host : static_cast<uint32_t>((hash >> 32) % hosts_in_use_);
  }

  void Begin(const Flow& flow, uint32_t second) {
    ++outcome_.flows;
    LiveFlow live{.flow = flow, .host = HostOf(flow)};
    live.memory = memory_[live.host];
    live.backend = rule_.Send(live.host, {flow.source, flow.port, true});
    if (live.backend == 0) {
      ++outcome_.refused;
      return;
    }
    live.incarnation = state_.Find(live.backend)->incarnation;
    live_.push_back(live);
    // The client's ACK follows within the second.
    Continue(live_.back(), static_cast<uint32_t>(live_.size() - 1), second);
  }

  void Continue(LiveFlow& live, uint32_t index, uint32_t second) {
    if (HasLostItsBackend(live)) {
      ++outcome_.backend_gone;
      return;
    }
    const uint32_t host = HostOf(live.flow);
    const bool last = second >= live.flow.end;
    const BackendNumber now = rule_.Send(host, {live.flow.source, live.flow.port, false, last});
    if (now != live.backend) {
      const bool elsewhere = host != live.host || memory_[host] != live.memory;
      ++(elsewhere ? outcome_.by_host : outcome_.by_change);
      return;
    }
    live.host = host;
    live.memory = memory_[host];
    const uint32_t next = std::min(second + source_.Gap(), live.flow.end);
    if (!last && next < scenario_.seconds) due_[next].push_back(index);
  }

  [[nodiscard]] bool HasLostItsBackend(const LiveFlow& live) const {
    const BackendState* backend = state_.Find(live.backend);
    return backend == nullptr || backend->incarnation != live.incarnation ||
           !backend->ServesItsFlows();
  }

  const Scenario& scenario_;
  Rule& rule_;
  FlowSource source_;
  FleetState state_;
  std::vector<uint32_t> memory_;  // by host: how often it was lost
  uint32_t hosts_in_use_;
  uint32_t flood_ = 0;
  std::size_t next_event_ = 0;
  std::vector<LiveFlow> live_;
  std::vector<std::vector<uint32_t>> due_;  // by second: indices of live_
  Outcome outcome_;
};

}  // namespace

Outcome Simulate(const Scenario& scenario, Rule& rule, uint32_t seed) {
  return Run(scenario, rule, seed).Finish();
}

}  // namespace penstock::bench

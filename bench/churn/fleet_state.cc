#include "bench/churn/fleet_state.h"

namespace penstock::bench {

FleetState::FleetState(uint32_t backends) {
  for (BackendNumber number = 1; number <= backends; ++number) backends_[number] = {};
}

bool FleetState::Apply(const Event& event) {
  if (event.kind == EventKind::kAdd) {
    backends_[event.subject] = {.incarnation = incarnations_[event.subject]};
    return true;
  }
  if (event.kind >= EventKind::kEcmp) return false;
  BackendState& backend = backends_.at(event.subject);
  switch (event.kind) {
    case EventKind::kRemove:
      ++incarnations_[event.subject];
      backends_.erase(event.subject);
      break;
    case EventKind::kWeight:
      backend.weight = event.value;
      break;
    case EventKind::kDrain:
      backend.state = lb::AdminState::kDraining;
      break;
    case EventKind::kUndrain:
      backend.state = lb::AdminState::kActive;
      break;
    default:
      backend.healthy = event.kind == EventKind::kRecover;
      break;
  }
  return true;
}

const BackendState* FleetState::Find(BackendNumber number) const {
  const auto found = backends_.find(number);
  return found == backends_.end() ? nullptr : &found->second;
}

net::IpAddress FleetState::AddressOf(BackendNumber number) {
  return net::IpAddress::V4(base::be32_t(10U << 24 | number));
}

BackendNumber FleetState::NumberOf(const net::IpAddress& address) {
  return address.v4().value() & 0xFFFFFF;
}

}  // namespace penstock::bench

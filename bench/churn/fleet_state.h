// What an operator and the health checks have made of the pool: who is there, and how.

#ifndef PENSTOCK_BENCH_CHURN_FLEET_STATE_H_
#define PENSTOCK_BENCH_CHURN_FLEET_STATE_H_

#include <cstdint>
#include <map>
#include <vector>

#include "penstock/lb/pool_table.h"

namespace penstock::bench {

// Backends are numbered from 1 on; a number that comes back is somebody new, as in penstock.
using BackendNumber = uint32_t;

struct BackendState {
  uint32_t weight = 100;
  lb::AdminState state = lb::AdminState::kActive;
  bool healthy = true;
  uint32_t incarnation = 0;  // how often it had been added before

  [[nodiscard]] bool TakesNewFlows() const {
    return state == lb::AdminState::kActive && healthy && weight > 0;
  }
  [[nodiscard]] bool ServesItsFlows() const {
    return state != lb::AdminState::kDisabled && healthy;
  }
};

enum class EventKind : uint8_t {
  kAdd,
  kRemove,
  kWeight,  // value: the weight
  kDrain,
  kUndrain,
  kFail,
  kRecover,
  kEcmp,         // value: number of hosts in use, of those there are
  kHostReboot,   // subject: the host; its flow table is lost, it comes back at once
  kHostRestart,  // ... it stops and starts as planned
  kFlood,        // value: SYNs of random sources a second from now on
};

struct Event {
  uint32_t second = 0;
  EventKind kind = EventKind::kAdd;
  uint32_t subject = 0;  // backend or host
  uint32_t value = 0;
};

// The pool as events leave it.
class FleetState {
 public:
  explicit FleetState(uint32_t backends);

  // Applies an event about a backend; false: it is about something else.
  bool Apply(const Event& event);

  [[nodiscard]] const std::map<BackendNumber, BackendState>& backends() const { return backends_; }
  // Null: it is not there.
  [[nodiscard]] const BackendState* Find(BackendNumber number) const;

  // 10.0.0.0/8, by number, and back.
  [[nodiscard]] static net::IpAddress AddressOf(BackendNumber number);
  [[nodiscard]] static BackendNumber NumberOf(const net::IpAddress& address);

 private:
  std::map<BackendNumber, BackendState> backends_;
  std::map<BackendNumber, uint32_t> incarnations_;
};

}  // namespace penstock::bench

#endif  // PENSTOCK_BENCH_CHURN_FLEET_STATE_H_

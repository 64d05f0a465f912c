// A way to choose backends, as all hosts of a fleet follow it.

#ifndef PENSTOCK_BENCH_CHURN_RULE_H_
#define PENSTOCK_BENCH_CHURN_RULE_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "bench/churn/fleet_state.h"

namespace penstock::bench {

// One packet of a TCP connection to the VIP.
struct Packet {
  uint32_t source = 0;  // client's address
  uint16_t port = 0;    // client's port
  bool syn = false;
  bool fin = false;  // the client's last one
};

class Rule {
 public:
  virtual ~Rule() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // The pool is `state` from `second` on. Called in every second, changed or not.
  virtual void SetPool(const FleetState& state, uint32_t second) = 0;
  // The backend that `host` sends the packet to; 0: none.
  virtual BackendNumber Send(uint32_t host, const Packet& packet) = 0;
  // The host's memory of flows is gone.
  virtual void Reboot(uint32_t host) = 0;
  // The host's program is stopped and started as operators do. What it keeps then is its own
  // affair; a rule in the kernel forgets nothing.
  virtual void Restart(uint32_t host) = 0;
};

struct RuleOptions {
  uint32_t hosts = 1;
  std::size_t entries = 1 << 17;  // of each host's flow table
  uint32_t table_size = 65537;
};

// A plain hash over the usable backends, Maglev without and with a table of flows by Katran's
// rules, and penstock.
[[nodiscard]] std::vector<std::unique_ptr<Rule>> AllRules(const RuleOptions& options);
[[nodiscard]] std::unique_ptr<Rule> MakeHashRule();
[[nodiscard]] std::unique_ptr<Rule> MakeMaglevRule(const RuleOptions& options);
[[nodiscard]] std::unique_ptr<Rule> MakeMaglevLruRule(const RuleOptions& options);
[[nodiscard]] std::unique_ptr<Rule> MakePenstockRule(const RuleOptions& options);

}  // namespace penstock::bench

#endif  // PENSTOCK_BENCH_CHURN_RULE_H_

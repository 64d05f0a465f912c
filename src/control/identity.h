// Who is who across generations: a backend is its pool's name and its address, a service its name.
// As long as that stays configured, id and counters stay; what comes back after it was removed is
// somebody new.

#ifndef PENSTOCK_CONTROL_IDENTITY_H_
#define PENSTOCK_CONTROL_IDENTITY_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "control/id_allocator.h"
#include "penstock/config/services_config.h"
#include "penstock/lb/backend_path.h"
#include "penstock/lb/counters.h"
#include "penstock/lb/flow_key.h"
#include "penstock/lb/new_flow_limiter.h"
#include "penstock/net/address.h"

namespace penstock::control {

struct BackendIdentity {
  lb::BackendId id = lb::kNoId;
  // One element a worker. Workers write it, any thread reads it.
  std::unique_ptr<lb::BackendCounters[]> counters;
  // Workers write and read it.
  lb::BackendPath path;
};

struct ServiceIdentity {
  lb::ServiceId id = lb::kNoId;
  // One element a worker. Each is its worker's alone.
  std::unique_ptr<lb::NewFlowWindow[]> new_flows;
};

// Shared by all generations that name the backend, and by the snapshots made of them.
using PoolIdentities = std::map<net::IpAddress, std::shared_ptr<BackendIdentity>>;

// The identities of one generation.
struct Identities {
  std::map<std::string, PoolIdentities, std::less<>> pools;
  std::map<std::string, std::shared_ptr<ServiceIdentity>, std::less<>> services;
};

// Not thread safe.
class IdentityRegistry {
 public:
  explicit IdentityRegistry(int workers, uint32_t max_id = lb::kMaxId)
      : workers_(workers), backend_ids_(max_id), service_ids_(max_id) {}

  // Identities for `config`: those of `former` where they are the same, else new ones.
  // RESOURCE_EXHAUSTED when no id is left; then nothing is taken.
  [[nodiscard]] absl::StatusOr<Identities> Assign(const config::ServicesConfig& config,
                                                  const Identities& former,
                                                  const lb::SweepCounts& sweeps);
  // `next`, which Assign gave on `former`, will not be handed over: its new identities are free.
  void Abandon(const Identities& next, const Identities& former);
  // `next` was handed over in place of `former`: what only `former` has is retired.
  void Replaced(const Identities& former, const Identities& next);
  // Every worker runs the generation last handed over.
  void Acknowledged(const lb::SweepCounts& sweeps);

 private:
  [[nodiscard]] std::shared_ptr<BackendIdentity> NewBackend(const lb::SweepCounts& sweeps);
  [[nodiscard]] std::shared_ptr<ServiceIdentity> NewService(const lb::SweepCounts& sweeps);
  [[nodiscard]] bool AssignBackends(const config::Pool& pool, const Identities& former,
                                    const lb::SweepCounts& sweeps, Identities& next);
  [[nodiscard]] bool AssignService(const std::string& name, const Identities& former,
                                   const lb::SweepCounts& sweeps, Identities& next);
  template <typename TakeBackend, typename TakeService>
  static void ForEachOnlyIn(const Identities& one, const Identities& other,
                            TakeBackend take_backend, TakeService take_service);

  const int workers_;
  IdAllocator backend_ids_;
  IdAllocator service_ids_;
};

}  // namespace penstock::control

#endif  // PENSTOCK_CONTROL_IDENTITY_H_

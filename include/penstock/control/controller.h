// The only writer of desired state: takes whole configurations and single edits, makes generations
// of them, hands those to the workers, and tells what runs.

#ifndef PENSTOCK_CONTROL_CONTROLLER_H_
#define PENSTOCK_CONTROL_CONTROLLER_H_

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/mutex.h"
#include "penstock/config/host_config.h"
#include "penstock/config/services_config.h"
#include "penstock/config/violation.h"
#include "penstock/control/views.h"
#include "penstock/lb/dataplane.h"

namespace penstock::control {

struct RunningState;
class IdentityRegistry;

// Outcome of a change.
struct ChangeResult {
  // OK: every worker runs `generation`.
  // INVALID_ARGUMENT: refused, see `violations`. NOT_FOUND, FAILED_PRECONDITION,
  // RESOURCE_EXHAUSTED: refused, the message says why. In all of these nothing has changed.
  // DEADLINE_EXCEEDED: `generation` is handed over and is what the workers will run, but some of
  // them, named in the message, have not confirmed it. The same change can be made again.
  absl::Status status;

  // The generation that now runs or was handed over; unchanged when there was nothing to do.
  uint64_t generation = 0;

  // Accepted and nevertheless worth a look.
  config::Violations warnings;

  // Every mistake of a configuration that is refused; paths start at the configuration.
  config::Violations violations;
};

// Thread safety: any thread but workers. Changes wait for each other; questions are answered from
// the last generation handed over, and never wait for a change in progress.
class Controller {
 public:
  // REQUIRES: `host` is valid; publisher and reader outlive the controller.
  Controller(lb::SnapshotPublisher& publisher, const lb::DataplaneReader& reader,
             const config::HostConfig& host);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Replaces the configuration: all of it or nothing. Backends without a state keep the one they
  // have; new ones start active. A configuration equal to what runs, list order aside, answers the
  // present generation.
  [[nodiscard]] ChangeResult Apply(const config::ServicesConfig& config);

  // Sets backends, given by address or name, to draining or to active: all of them or none.
  // Without `force`, a drain that leaves a pool without a usable backend is refused.
  [[nodiscard]] ChangeResult DrainBackends(std::string_view pool,
                                           const std::vector<std::string>& backends, bool force);
  [[nodiscard]] ChangeResult UndrainBackends(std::string_view pool,
                                             const std::vector<std::string>& backends);

  // The applied configuration with the state of every backend filled in.
  struct Applied {
    config::ServicesConfig config;
    uint64_t generation = 0;
  };
  [[nodiscard]] Applied GetConfig() const;

  [[nodiscard]] Listing<ServiceView> ListServices() const;  // by name
  [[nodiscard]] Listing<PoolView> ListPools() const;        // by name
  [[nodiscard]] Listing<BackendView> ListBackends() const;  // by pool and address
  // Of one pool. NOT_FOUND names the pools there are.
  [[nodiscard]] absl::StatusOr<Listing<BackendView>> ListBackends(std::string_view pool) const;
  [[nodiscard]] StatusView GetStatus() const;
  // Sorted by name. `received` is the sum of the verdicts' counters, per port and in sum, at any
  // quiet moment.
  [[nodiscard]] std::vector<CounterView> GetCounters() const;

  // Whether a first generation is active and every worker is alive.
  [[nodiscard]] bool IsReady() const;

 private:
  [[nodiscard]] ChangeResult ApplyLocked(config::ServicesConfig desired)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  [[nodiscard]] ChangeResult SetState(std::string_view pool,
                                      const std::vector<std::string>& backends,
                                      config::AdminState state, bool force);
  [[nodiscard]] ChangeResult Hand(std::shared_ptr<RunningState> next)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  [[nodiscard]] std::shared_ptr<const RunningState> state() const;

  lb::SnapshotPublisher& publisher_;  // called with writer_mutex_ held
  const lb::DataplaneReader& reader_;
  const config::HostConfig host_;

  // Serialises changes. Held while workers are waited for, hence never taken by a question.
  // Order: writer_mutex_, then state_mutex_.
  base::Mutex writer_mutex_;
  const std::unique_ptr<IdentityRegistry> identities_ ABSL_PT_GUARDED_BY(writer_mutex_);

  mutable base::Mutex state_mutex_;
  // Written by the change that holds writer_mutex_, read by all. Never null.
  std::shared_ptr<const RunningState> state_ ABSL_GUARDED_BY(state_mutex_);
};

}  // namespace penstock::control

#endif  // PENSTOCK_CONTROL_CONTROLLER_H_

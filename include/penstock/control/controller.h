// The only writer of desired state: takes whole configurations and single edits, makes generations
// of them, hands those to the workers, and tells what runs.

#ifndef PENSTOCK_CONTROL_CONTROLLER_H_
#define PENSTOCK_CONTROL_CONTROLLER_H_

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/mutex.h"
#include "penstock/config/host_config.h"
#include "penstock/config/services_config.h"
#include "penstock/config/violation.h"
#include "penstock/control/history.h"
#include "penstock/control/views.h"
#include "penstock/lb/dataplane.h"
#include "penstock/lb/kept_flows.h"
#include "penstock/lb/saved_flow.h"

namespace penstock::control {

struct RunningState;
class IdentityRegistry;
class Journal;

// Outcome of a change.
struct ChangeResult {
  // OK: every worker runs `generation`.
  // INVALID_ARGUMENT: refused, see `violations`. NOT_FOUND, FAILED_PRECONDITION,
  // RESOURCE_EXHAUSTED: refused, the message says why. What the history answers when it cannot keep
  // the generation: likewise refused. In all of these nothing has changed.
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

struct ControllerOptions {
  // Keeps the generations. nullptr: they are forgotten at the end. Called by one thread at a time;
  // outlives the controller.
  History* history = nullptr;

  // Wall-clock time: when generations began, how long ago that was. Unset: the system's clock.
  std::function<std::chrono::sys_seconds()> clock = {};
};

// Thread safety: any thread but workers. Changes wait for each other; questions are answered from
// the last generation handed over, and never wait for a change in progress.
class Controller {
 public:
  // REQUIRES: `host` is valid; publisher and reader outlive the controller.
  Controller(lb::SnapshotPublisher& publisher, const lb::DataplaneReader& reader,
             const config::HostConfig& host, ControllerOptions options = {});
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Replaces the configuration: all of it or nothing. Backends without a state keep the one they
  // have; new ones start active. A configuration equal to what runs, list order aside, answers the
  // present generation. FAILED_PRECONDITION on a host that has a services file.
  [[nodiscard]] ChangeResult Apply(const config::ServicesConfig& config,
                                   const ChangeNote& note = {});
  // The same for what the host's services file says.
  [[nodiscard]] ChangeResult ApplyServicesFile(const config::ServicesConfig& config);

  // Sets backends, given by address or name, to draining or to active: all of them or none.
  // Without `force`, a drain that leaves a pool without a usable backend is refused.
  [[nodiscard]] ChangeResult DrainBackends(std::string_view pool,
                                           const std::vector<std::string>& backends, bool force,
                                           const ChangeNote& note = {});
  [[nodiscard]] ChangeResult UndrainBackends(std::string_view pool,
                                             const std::vector<std::string>& backends,
                                             const ChangeNote& note = {});

  // Goes on where the last start ended: hands over the last acknowledged generation of the history,
  // under its number and with the admin states and previous owners it had. Returns the number; 0 if
  // there is none. FAILED_PRECONDITION: this host cannot carry it; nothing is restored, and the
  // next generation takes the next number. Errors of the history as they are.
  // REQUIRES: no other call before it.
  [[nodiscard]] absl::StatusOr<uint64_t> Restore();

  // What has to happen by itself, to be called about once a second: hands over tables without the
  // previous owners whose time has run out, under the same generation, which is the same
  // configuration; and notes a generation that workers confirm late. The error, if any, is for the
  // log: the next call tries again.
  [[nodiscard]] absl::Status Tick();

  // The applied configuration with the state of every backend filled in.
  struct Applied {
    config::ServicesConfig config;
    uint64_t generation = 0;
  };
  [[nodiscard]] Applied GetConfig() const;

  // Of the history, newest first. FAILED_PRECONDITION: none is kept.
  [[nodiscard]] absl::StatusOr<std::vector<GenerationInfo>> ListGenerations() const;
  // NOT_FOUND: no such generation, or forgotten.
  [[nodiscard]] absl::StatusOr<Generation> GetGeneration(uint64_t number) const;

  // Flows of the last generation by names, at `now`, and back: those of services and backends that
  // are not there (any more), or silent for longer than any flow may be, are left out.
  [[nodiscard]] lb::SavedFlows NameFlows(std::span<const lb::KeptFlow> flows,
                                         std::chrono::sys_seconds now) const;
  [[nodiscard]] std::vector<lb::KeptFlow> ResolveFlows(const lb::SavedFlows& saved,
                                                       std::chrono::sys_seconds now) const;

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
  [[nodiscard]] ChangeResult ApplyValidated(const config::ServicesConfig& config,
                                            const ChangeNote& note);
  [[nodiscard]] ChangeResult ApplyLocked(config::ServicesConfig desired, const ChangeNote& note)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  [[nodiscard]] ChangeResult SetState(std::string_view pool,
                                      const std::vector<std::string>& backends,
                                      config::AdminState state, bool force, const ChangeNote& note);
  [[nodiscard]] config::Violations ViolationsOf(const config::ServicesConfig& config) const;
  // The generation that follows on `running`, with the time and the number given.
  [[nodiscard]] absl::StatusOr<std::shared_ptr<RunningState>> MakeNext(
      config::ServicesConfig desired, const RunningState& running, uint64_t number,
      std::chrono::sys_seconds time) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  [[nodiscard]] ChangeResult Hand(std::shared_ptr<RunningState> next)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  // Makes `next` what questions are answered from, and the next change follows on.
  void Install(std::shared_ptr<RunningState> next) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writer_mutex_);
  // After workers were silent: whether they run `generation` by now.
  [[nodiscard]] bool EveryWorkerRuns(uint64_t generation) const;
  // Never before the time of `running`, so that time does not run backwards.
  [[nodiscard]] std::chrono::sys_seconds Now(const RunningState& running) const;
  [[nodiscard]] std::shared_ptr<const RunningState> state() const;

  lb::SnapshotPublisher& publisher_;  // called with writer_mutex_ held
  const lb::DataplaneReader& reader_;
  const config::HostConfig host_;
  const std::function<std::chrono::sys_seconds()> clock_;
  const std::unique_ptr<Journal> journal_;

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

#include "penstock/control/controller.h"

#include <absl/strings/str_cat.h>

#include <chrono>
#include <utility>

#include "control/admin_state.h"
#include "control/identity.h"
#include "control/running_state.h"
#include "control/snapshot.h"
#include "penstock/config/validate.h"

namespace penstock::control {
namespace {

// A worker that has not finished a round of its loop for this long is taken for dead.
constexpr std::chrono::seconds kWorkerSilence{2};

absl::Status SilentWorkers(uint64_t generation, const std::vector<int>& workers) {
  std::string names;
  for (const int worker : workers) absl::StrAppend(&names, names.empty() ? "" : ", ", worker);
  return absl::DeadlineExceededError(absl::StrCat(
      "generation ", generation, " is handed over but not acknowledged: silent worker",
      workers.size() == 1 ? " " : "s ", names,
      ". The workers will run it, the former one stays allocated until they do; look at the "
      "heartbeats in `penstockctl get workers`, then make the change again"));
}

}  // namespace

Controller::Controller(lb::SnapshotPublisher& publisher, const lb::DataplaneReader& reader,
                       const config::HostConfig& host)
    : publisher_(publisher),
      reader_(reader),
      host_(host),
      identities_(std::make_unique<IdentityRegistry>(reader.worker_count())),
      state_(std::make_shared<const RunningState>()) {}

Controller::~Controller() = default;

std::shared_ptr<const RunningState> Controller::state() const {
  const base::MutexLock lock(state_mutex_);
  return state_;
}

ChangeResult Controller::Apply(const config::ServicesConfig& config) {
  ChangeResult refused{.generation = state()->generation};
  refused.violations = config::Validate(config);
  if (refused.violations.empty()) {
    refused.violations = config::ValidateAgainstHost(config, host_);
  }
  if (!refused.violations.empty()) {
    const std::size_t count = refused.violations.size();
    refused.status = absl::InvalidArgumentError(absl::StrCat("the configuration has ", count,
                                                             count == 1 ? " mistake" : " mistakes",
                                                             "; nothing was changed"));
    return refused;
  }
  const base::MutexLock lock(writer_mutex_);
  config::ServicesConfig desired = config;
  FillStates(state()->config, desired);
  ChangeResult result = ApplyLocked(std::move(desired));
  result.warnings = config::Warnings(config);
  config::Append(result.warnings, config::WarningsAgainstHost(config, host_));
  return result;
}

ChangeResult Controller::DrainBackends(std::string_view pool,
                                       const std::vector<std::string>& backends, bool force) {
  return SetState(pool, backends, config::AdminState::kDraining, force);
}

ChangeResult Controller::UndrainBackends(std::string_view pool,
                                         const std::vector<std::string>& backends) {
  return SetState(pool, backends, config::AdminState::kActive, /*force=*/false);
}

ChangeResult Controller::SetState(std::string_view pool, const std::vector<std::string>& backends,
                                  config::AdminState state_wanted, bool force) {
  const base::MutexLock lock(writer_mutex_);
  const std::shared_ptr<const RunningState> running = state();
  config::ServicesConfig desired = running->config;
  absl::Status status = SetAdminState(pool, backends, state_wanted, force, desired);
  if (!status.ok()) return {.status = std::move(status), .generation = running->generation};
  return ApplyLocked(std::move(desired));
}

ChangeResult Controller::ApplyLocked(config::ServicesConfig desired) {
  const std::shared_ptr<const RunningState> running = state();
  // After an unacknowledged hand-over the same change is a way to hear from the workers again.
  if (running->generation > 0 && running->acknowledged && SameMeaning(running->config, desired)) {
    return {.generation = running->generation};
  }
  absl::StatusOr<Identities> identities =
      identities_->Assign(desired, running->identities, reader_.CompletedSweeps());
  if (!identities.ok()) return {.status = identities.status(), .generation = running->generation};
  auto next = std::make_shared<RunningState>();
  next->generation = running->generation + 1;
  next->key = lb::HashKey::FromSeed(desired.hash.seed);
  next->tables = BuildPoolTables(desired, next->key, running->tables, running->key);
  next->identities = *std::move(identities);
  next->config = std::move(desired);
  return Hand(std::move(next));
}

ChangeResult Controller::Hand(std::shared_ptr<RunningState> next) {
  const lb::PublishResult published = publisher_.Publish(MakeSnapshot(*next, host_));
  identities_->Replaced(state()->identities, next->identities);
  next->acknowledged = published.acknowledged;
  // Read after the acknowledgement: a sweep that was complete before it proves nothing.
  if (published.acknowledged) identities_->Acknowledged(reader_.CompletedSweeps());
  ChangeResult result{.generation = next->generation};
  if (!published.acknowledged) {
    result.status = SilentWorkers(next->generation, published.silent_workers);
  }
  std::shared_ptr<const RunningState> former = std::move(next);
  {
    const base::MutexLock lock(state_mutex_);
    state_.swap(former);
  }
  // The former state, perhaps large, is freed here and not under the lock that readers take.
  return result;
}

Controller::Applied Controller::GetConfig() const {
  const std::shared_ptr<const RunningState> running = state();
  return {.config = running->config, .generation = running->generation};
}

bool Controller::IsReady() const {
  if (state()->generation == 0) return false;
  const std::vector<lb::WorkerStatus> workers = reader_.ReadWorkers();
  for (const lb::WorkerStatus& worker : workers) {
    if (worker.heartbeat_age > kWorkerSilence) return false;
  }
  return !workers.empty();
}

}  // namespace penstock::control

#include "penstock/control/controller.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "control/admin_state.h"
#include "control/identity.h"
#include "control/journal.h"
#include "control/running_state.h"
#include "control/snapshot.h"
#include "penstock/config/validate.h"

namespace penstock::control {
namespace {

std::chrono::sys_seconds SystemClock() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

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
                       const config::HostConfig& host, ControllerOptions options)
    : publisher_(publisher),
      reader_(reader),
      host_(host),
      clock_(options.clock ? std::move(options.clock) : SystemClock),
      journal_(std::make_unique<Journal>(options.history)),
      identities_(std::make_unique<IdentityRegistry>(reader.worker_count())),
      state_(std::make_shared<const RunningState>()) {}

Controller::~Controller() = default;

std::shared_ptr<const RunningState> Controller::state() const {
  const base::MutexLock lock(state_mutex_);
  return state_;
}

std::chrono::sys_seconds Controller::Now(const RunningState& running) const {
  return std::max(clock_(), running.time);
}

config::Violations Controller::ViolationsOf(const config::ServicesConfig& config) const {
  config::Violations violations = config::Validate(config);
  return violations.empty() ? config::ValidateAgainstHost(config, host_) : violations;
}

ChangeResult Controller::Apply(const config::ServicesConfig& config, const ChangeNote& note) {
  if (host_.services_file.empty()) return ApplyValidated(config, note);
  return {.status = absl::FailedPreconditionError(absl::StrCat(
              "this host takes its services from ", host_.services_file,
              ", which would undo the change at its next reading; edit that file and send SIGHUP "
              "to penstockd, or take services_file out of its configuration")),
          .generation = state()->generation};
}

ChangeResult Controller::ApplyServicesFile(const config::ServicesConfig& config) {
  return ApplyValidated(config, {.author = "services_file", .comment = host_.services_file});
}

ChangeResult Controller::ApplyValidated(const config::ServicesConfig& config,
                                        const ChangeNote& note) {
  ChangeResult refused{.generation = state()->generation};
  refused.violations = ViolationsOf(config);
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
  ChangeResult result = ApplyLocked(std::move(desired), note);
  config::Append(result.warnings, config::Warnings(config));
  config::Append(result.warnings, config::WarningsAgainstHost(config, host_));
  return result;
}

ChangeResult Controller::DrainBackends(std::string_view pool,
                                       const std::vector<std::string>& backends, bool force,
                                       const ChangeNote& note) {
  return SetState(pool, backends, config::AdminState::kDraining, force, note);
}

ChangeResult Controller::UndrainBackends(std::string_view pool,
                                         const std::vector<std::string>& backends,
                                         const ChangeNote& note) {
  return SetState(pool, backends, config::AdminState::kActive, /*force=*/false, note);
}

ChangeResult Controller::SetState(std::string_view pool, const std::vector<std::string>& backends,
                                  config::AdminState state_wanted, bool force,
                                  const ChangeNote& note) {
  const base::MutexLock lock(writer_mutex_);
  const std::shared_ptr<const RunningState> running = state();
  config::ServicesConfig desired = running->config;
  absl::Status status = SetAdminState(pool, backends, state_wanted, force, desired);
  if (!status.ok()) return {.status = std::move(status), .generation = running->generation};
  return ApplyLocked(std::move(desired), note);
}

ChangeResult Controller::ApplyLocked(config::ServicesConfig desired, const ChangeNote& note) {
  const std::shared_ptr<const RunningState> running = state();
  // After an unacknowledged hand-over the same change is a way to hear from the workers again.
  if (running->generation > 0 && running->acknowledged && SameMeaning(running->config, desired)) {
    return {.generation = running->generation};
  }
  auto next = MakeNext(std::move(desired), *running, journal_->NextNumber(), Now(*running));
  if (!next.ok()) return {.status = next.status(), .generation = running->generation};
  const GenerationInfo info{.number = (*next)->generation, .time = (*next)->time, .note = note};
  if (absl::Status kept = journal_->Keep({info, (*next)->config}); !kept.ok()) {
    identities_->Abandon((*next)->identities, running->identities);
    return {.status = std::move(kept), .generation = running->generation};
  }
  return Hand(*std::move(next));
}

absl::StatusOr<std::shared_ptr<RunningState>> Controller::MakeNext(config::ServicesConfig desired,
                                                                   const RunningState& running,
                                                                   uint64_t number,
                                                                   std::chrono::sys_seconds time) {
  absl::StatusOr<Identities> identities =
      identities_->Assign(desired, running.identities, reader_.CompletedSweeps());
  if (!identities.ok()) return identities.status();
  auto next = std::make_shared<RunningState>();
  next->generation = number;
  next->time = time;
  next->key = lb::HashKey::FromSeed(desired.hash.seed);
  next->settled = running.settled;
  next->eras = ErasAfter(running.settled, desired, next->key, time, running.eras);
  next->tables = BuildPoolTables(desired, next->key, next->eras, Now(*next), running.tables);
  next->identities = *std::move(identities);
  next->config = std::move(desired);
  return next;
}

ChangeResult Controller::Hand(std::shared_ptr<RunningState> next) {
  const lb::PublishResult published = publisher_.Publish(MakeSnapshot(*next, host_));
  identities_->Replaced(state()->identities, next->identities);
  ChangeResult result{.generation = next->generation};
  next->acknowledged = published.acknowledged;
  if (!published.acknowledged) {
    result.status = SilentWorkers(next->generation, published.silent_workers);
  }
  Install(std::move(next));
  if (!published.acknowledged) return result;
  const absl::Status noted = journal_->NoteAcknowledged(result.generation);
  if (!noted.ok()) result.warnings.push_back({.path = "", .reason = noted.ToString()});
  return result;
}

void Controller::Install(std::shared_ptr<RunningState> next) {
  if (next->acknowledged) {
    next->settled = next->eras;
    // Read after the acknowledgement: a sweep that was complete before it proves nothing.
    identities_->Acknowledged(reader_.CompletedSweeps());
  }
  std::shared_ptr<const RunningState> former = std::move(next);
  {
    const base::MutexLock lock(state_mutex_);
    state_.swap(former);
  }
  // The former state, perhaps large, is freed here and not under the lock that readers take.
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

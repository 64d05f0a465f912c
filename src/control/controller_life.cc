// What happens to a controller without a change: the start, the passing of time, and its history.

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "control/identity.h"
#include "control/journal.h"
#include "control/running_state.h"
#include "penstock/control/controller.h"

namespace penstock::control {
namespace {

absl::Status CannotCarry(uint64_t generation, const config::Violations& violations) {
  return absl::FailedPreconditionError(absl::StrCat(
      "generation ", generation, " of the history does not fit this host any more: ",
      violations.front().path, ": ", violations.front().reason,
      violations.size() == 1 ? "" : absl::StrCat(" (and ", violations.size() - 1, " more)")));
}

// The eras before the last generation of `past`.
EraMap ErasBefore(const std::vector<Generation>& past) {
  EraMap eras;
  for (std::size_t i = 0; i + 1 < past.size(); ++i) {
    const config::ServicesConfig& config = past[i].config;
    const lb::HashKey key = lb::HashKey::FromSeed(config.hash.seed);
    eras = ErasAfter(eras, config, key, past[i].info.time, eras);
  }
  return eras;
}

// `next` as it is at `now`. True if that makes other tables.
bool LetTimePass(std::chrono::sys_seconds now, RunningState& next) {
  next.eras = Remembered(std::move(next.eras), next.config, now);
  if (next.acknowledged) next.settled = next.eras;
  PoolTableMap tables = BuildPoolTables(next.config, next.key, next.eras, now, next.tables);
  std::swap(tables, next.tables);
  return tables != next.tables;
}

}  // namespace

absl::StatusOr<uint64_t> Controller::Restore() {
  const base::MutexLock lock(writer_mutex_);
  absl::StatusOr<std::vector<Generation>> past = journal_->LoadPast(clock_());
  if (!past.ok()) return past.status();
  if (past->empty()) return uint64_t{0};
  Generation& last = past->back();
  const config::Violations violations = ViolationsOf(last.config);
  if (!violations.empty()) return CannotCarry(last.info.number, violations);
  RunningState before;
  before.settled = ErasBefore(*past);
  auto next = MakeNext(std::move(last.config), before, last.info.number, last.info.time);
  if (!next.ok()) return next.status();
  ChangeResult result = Hand(*std::move(next));
  if (!result.status.ok()) return std::move(result.status);
  return result.generation;
}

absl::Status Controller::Tick() {
  const base::MutexLock lock(writer_mutex_);
  std::shared_ptr<const RunningState> running = state();
  if (running->generation == 0) return absl::OkStatus();
  if (!running->acknowledged && EveryWorkerRuns(running->generation)) {
    auto late = std::make_shared<RunningState>(*running);
    late->acknowledged = true;
    Install(std::move(late));
    running = state();
  }
  const std::chrono::sys_seconds now = Now(*running);
  if (now >= ValidUntil(running->tables) || now >= NextForgotten(running->eras, running->config)) {
    auto next = std::make_shared<RunningState>(*running);
    if (LetTimePass(now, *next)) return Hand(std::move(next)).status;
    Install(std::move(next));
  }
  return running->acknowledged ? journal_->NoteAcknowledged(running->generation) : absl::OkStatus();
}

bool Controller::EveryWorkerRuns(uint64_t generation) const {
  const std::vector<lb::WorkerStatus> workers = reader_.ReadWorkers();
  return std::ranges::all_of(workers, [generation](const lb::WorkerStatus& worker) {
    return worker.generation == generation;
  });
}

absl::StatusOr<std::vector<GenerationInfo>> Controller::ListGenerations() const {
  return journal_->List();
}

absl::StatusOr<Generation> Controller::GetGeneration(uint64_t number) const {
  return journal_->Get(number);
}

}  // namespace penstock::control

#include "control/journal.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "control/pool_eras.h"

namespace penstock::control {
namespace {

// A past is read back over this many transitions. Two of them are looked at (lb/era.h); which eras
// of a pool were merged before that depends on the two before.
constexpr int kReadTransitions = 2 * lb::kRememberedTransitions;

std::chrono::seconds LongestTransition(const config::ServicesConfig& config) {
  std::chrono::seconds longest{0};
  for (const config::Pool& pool : config.pools) longest = std::max(longest, pool.transition);
  return longest;
}

absl::Status NoHistory() {
  return absl::FailedPreconditionError(
      "no generations are kept on this host: control.state_dir is not set");
}

}  // namespace

uint64_t Journal::NextNumber() const {
  const base::MutexLock lock(mutex_);
  return last_number_ + 1;
}

absl::Status Journal::Keep(const Generation& generation) {
  const base::MutexLock lock(mutex_);
  if (history_ != nullptr) {
    if (const absl::Status status = history_->Append(generation); !status.ok()) {
      return {status.code(), absl::StrCat("the change could not be kept in the history, and "
                                          "nothing was changed: ",
                                          status.message())};
    }
  }
  last_number_ = generation.info.number;
  return absl::OkStatus();
}

absl::Status Journal::NoteAcknowledged(uint64_t number) {
  const base::MutexLock lock(mutex_);
  if (history_ == nullptr || noted_ == number) return absl::OkStatus();
  if (const absl::Status status = history_->Acknowledge(number); !status.ok()) {
    return {status.code(), absl::StrCat("generation ", number,
                                        " runs, but that could not be noted in the "
                                        "history, and a restart would not return to it: ",
                                        status.message())};
  }
  noted_ = number;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Generation>> Journal::LoadPast(std::chrono::sys_seconds now) {
  const base::MutexLock lock(mutex_);
  std::vector<Generation> past;
  if (history_ == nullptr) return past;
  absl::StatusOr<std::vector<GenerationInfo>> infos = history_->List();
  if (!infos.ok()) return infos.status();
  if (!infos->empty()) last_number_ = infos->front().number;
  std::optional<std::chrono::sys_seconds> enough;
  for (const GenerationInfo& info : *infos) {
    if (!info.acknowledged) continue;
    if (enough.has_value() && past.back().info.time <= *enough) break;
    absl::StatusOr<Generation> generation = history_->Get(info.number);
    if (!generation.ok()) {
      if (past.empty()) return generation.status();
      break;  // less is known of the past, which is no reason not to start
    }
    if (past.empty()) enough = now - kReadTransitions * LongestTransition(generation->config);
    past.push_back(*std::move(generation));
  }
  if (!past.empty()) noted_ = past.front().info.number;
  std::ranges::reverse(past);
  return past;
}

absl::StatusOr<std::vector<GenerationInfo>> Journal::List() const {
  const base::MutexLock lock(mutex_);
  if (history_ == nullptr) return NoHistory();
  return history_->List();
}

absl::StatusOr<Generation> Journal::Get(uint64_t number) const {
  const base::MutexLock lock(mutex_);
  if (history_ == nullptr) return NoHistory();
  return history_->Get(number);
}

}  // namespace penstock::control

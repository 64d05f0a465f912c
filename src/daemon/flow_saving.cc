#include "daemon/flow_saving.h"

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <vector>

#include "penstock/store/flow_file.h"

namespace penstock::daemon {
namespace {

std::chrono::sys_seconds WallClock() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace

void RestoreFlows(const std::string& state_dir, const control::Controller& controller,
                  lb::FlowKeeper& keeper) {
  if (state_dir.empty()) return;
  const absl::StatusOr<lb::SavedFlows> saved = store::ReadFlows(state_dir);
  if (absl::IsNotFound(saved.status())) return;
  if (!saved.ok()) {
    spdlog::warn("flows of the last run are lost: {}", std::string(saved.status().message()));
    return;
  }
  const std::vector<lb::KeptFlow> flows = controller.ResolveFlows(*saved, WallClock());
  const std::size_t restored = keeper.RestoreFlows(flows);
  spdlog::info("{} of {} flows kept by the last run are live again", restored, saved->flows.size());
}

void ForgetFlows(const std::string& state_dir) {
  if (state_dir.empty()) return;
  if (const absl::Status status = store::ForgetFlows(state_dir); !status.ok()) {
    spdlog::warn("{}", std::string(status.message()));
  }
}

void SaveFlows(const std::string& state_dir, const control::Controller& controller,
               const lb::FlowKeeper& keeper) {
  if (state_dir.empty()) return;
  const lb::SavedFlows saved = controller.NameFlows(keeper.CollectFlows(), WallClock());
  if (const absl::Status status = store::WriteFlows(state_dir, saved); !status.ok()) {
    spdlog::error("flows are not kept over the restart: {}", std::string(status.message()));
    return;
  }
  spdlog::info("{} flows that the tables alone would move are kept for the next run",
               saved.flows.size());
}

}  // namespace penstock::daemon

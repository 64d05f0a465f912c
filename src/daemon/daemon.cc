#include "daemon/daemon.h"

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/flow_saving.h"
#include "daemon/log.h"
#include "daemon/services_file.h"
#include "dpdk/dataplane.h"
#include "dpdk/start_error.h"
#include "penstock/control/controller.h"
#include "penstock/store/state_store.h"
#include "rpc/server.h"

namespace penstock::daemon {
namespace {

constexpr int kExitFailed = 1;
constexpr std::chrono::milliseconds kShutdownGrace{1000};

int Fail(const absl::Status& status) {
  const dpdk::StartFailure failure = dpdk::SplitStartError(status);
  PrintLines({"penstockd: cannot start: " + failure.cause});
  if (!failure.fix.empty()) PrintLines({"penstockd: fix: " + failure.fix});
  return kExitFailed;
}

// Signals that main waits for. Blocked before the first thread is made, all threads inherit it.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a client that hangs up is an error of that write only
  return signals;
}

void LogWarnings(const control::ChangeResult& result) {
  for (const config::Violation& warning : result.warnings) {
    spdlog::warn("services: {}: {}", warning.path, warning.reason);
  }
}

// What stands in a change that is refused, or not confirmed by every worker.
std::string Describe(const control::ChangeResult& result) {
  std::string text(result.status.message());
  for (const config::Violation& violation : result.violations) {
    text += "; " + violation.path + ": " + violation.reason;
  }
  return text;
}

void ReloadServices(const config::HostConfig& host, control::Controller& controller) {
  if (host.services_file.empty()) {
    spdlog::warn("SIGHUP: no services_file in the host configuration, nothing to read");
    return;
  }
  const config::Loaded<config::ServicesConfig> loaded = LoadServicesFile(host);
  for (const std::string& error : loaded.errors) spdlog::error("{}", error);
  if (!loaded.ok()) {
    spdlog::error("{} is refused, nothing has changed", host.services_file);
    return;
  }
  const control::ChangeResult result = controller.ApplyServicesFile(loaded.value);
  LogWarnings(result);
  if (!result.status.ok()) {
    spdlog::error("{}: {}", host.services_file, Describe(result));
    return;
  }
  spdlog::info("{} applied, generation {}", host.services_file, result.generation);
}

void LogReady(const config::HostConfig& host, const dpdk::Dataplane& dataplane,
              uint64_t generation) {
  for (const lb::PortStatus& port : dataplane.ReadPorts()) {
    spdlog::info("port {}: {} ({}), MAC {}, MTU {}, {} queues", port.name, port.device, port.driver,
                 port.mac.ToString(), port.mtu, port.rx_queues);
  }
  for (const lb::WorkerStatus& worker : dataplane.ReadWorkers()) {
    spdlog::info("worker {} on core {}", worker.index, worker.core);
  }
  for (const std::string& address : host.control.listen) spdlog::info("listening on {}", address);
  if (host.control.state_dir.empty()) {
    spdlog::info("no control.state_dir: nothing is kept over a restart");
  }
  spdlog::info("ready: penstockd {}, generation {}", PENSTOCK_VERSION, generation);
}

// Null without an error: this host keeps no state.
absl::StatusOr<std::unique_ptr<store::StateStore>> OpenState(const std::string& directory) {
  if (directory.empty()) return nullptr;
  auto state = store::StateStore::Open(directory);
  if (!state.ok()) return state;
  for (const std::string& note : (*state)->notes()) spdlog::warn("{}", note);
  return state;
}

// What runs from the first packet on: what ran before the last end, and after that what the
// services file says, if there is one. Returns the generation, 0 if there is none.
absl::StatusOr<uint64_t> RunFirst(const std::optional<config::ServicesConfig>& services,
                                  control::Controller& controller) {
  absl::StatusOr<uint64_t> restored = controller.Restore();
  if (!services.has_value()) return restored;
  if (!restored.ok()) {
    spdlog::warn("admin states and previous owners of the last run are lost: {}",
                 restored.status().ToString());
  }
  const control::ChangeResult result = controller.ApplyServicesFile(*services);
  LogWarnings(result);
  if (!result.status.ok()) return absl::InternalError(Describe(result));
  return result.generation;
}

// Says once what goes on for long.
void Tick(control::Controller& controller, std::string& last_error) {
  const absl::Status status = controller.Tick();
  const std::string error = status.ok() ? "" : status.ToString();
  if (!error.empty() && error != last_error) spdlog::error("{}", error);
  last_error = error;
}

void WaitForEnd(const sigset_t& signals, const config::HostConfig& host,
                control::Controller& controller) {
  constexpr timespec kTickInterval{.tv_sec = 1, .tv_nsec = 0};
  std::string last_error;
  while (true) {
    const int signal = sigtimedwait(&signals, nullptr, &kTickInterval);  // -1: nothing came
    if (signal == SIGHUP) ReloadServices(host, controller);
    if (signal > 0 && signal != SIGHUP) {
      spdlog::info("signal {}: stopping", signal);
      return;
    }
    Tick(controller, last_error);
  }
}

}  // namespace

int RunDaemon(const config::HostConfig& host,
              const std::optional<config::ServicesConfig>& services) {
  const sigset_t signals = BlockSignals();
  const std::string& state_dir = host.control.state_dir;
  const absl::StatusOr<std::unique_ptr<store::StateStore>> state = OpenState(state_dir);
  if (!state.ok()) return Fail(state.status());
  absl::StatusOr<std::unique_ptr<dpdk::Dataplane>> started = dpdk::Dataplane::Start(host);
  if (!started.ok()) return Fail(started.status());
  dpdk::Dataplane& dataplane = **started;
  control::Controller controller(dataplane, dataplane, host, {.history = state->get()});
  // Before the workers, so that no packet meets an empty table.
  const absl::StatusOr<uint64_t> generation = RunFirst(services, controller);
  if (!generation.ok()) return Fail(generation.status());
  RestoreFlows(state_dir, controller, dataplane);
  if (const absl::Status status = dataplane.Launch(); !status.ok()) return Fail(status);
  absl::StatusOr<std::unique_ptr<rpc::Server>> server =
      rpc::Server::Start({.listen = host.control.listen, .version = PENSTOCK_VERSION}, controller);
  if (!server.ok()) return Fail(server.status());
  ForgetFlows(state_dir);
  LogReady(host, dataplane, *generation);
  WaitForEnd(signals, host, controller);
  (*server)->Shutdown(kShutdownGrace);
  dataplane.Stop();
  SaveFlows(state_dir, controller, dataplane);
  spdlog::info("stopped");
  return 0;
}

}  // namespace penstock::daemon

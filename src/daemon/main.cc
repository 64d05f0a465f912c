// penstockd: reads what the operator wants, checks it, and runs.

#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>
#include <string>

#include "daemon/daemon.h"
#include "daemon/log.h"
#include "daemon/services_file.h"
#include "penstock/config/load.h"

namespace penstock::daemon {
namespace {

constexpr int kExitUsage = 2;
constexpr int kExitRefused = 3;  // the configuration

constexpr const char* kExample = R"(Example:
  penstockd --config /etc/penstock/penstockd.yaml --check   # any mistake, with file, line and column
  penstockd --config /etc/penstock/penstockd.yaml
Exit codes: 0 stopped by SIGTERM or SIGINT, 1 cannot start, 2 usage, 3 configuration refused.
SIGHUP reads services_file again.)";

struct Options {
  std::string config = "/etc/penstock/penstockd.yaml";
  bool check = false;
};

// nullopt: everything is said, end with `exit_code`.
std::optional<Options> ParseOptions(int argc, char** argv, int& exit_code) {
  Options options;
  CLI::App app("penstockd: layer-4 load balancer on DPDK.");
  app.footer(kExample);
  app.set_version_flag("--version", std::string("penstockd ") + PENSTOCK_VERSION);
  app.add_option("--config", options.config, "Host configuration")->capture_default_str();
  app.add_flag("--check", options.check, "Check the configuration and end");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? 0 : kExitUsage;
    return std::nullopt;
  }
  return options;
}

int Main(int argc, char** argv) {
  int exit_code = 0;
  const std::optional<Options> options = ParseOptions(argc, argv, exit_code);
  if (!options.has_value()) return exit_code;
  const config::Loaded<config::HostConfig> host = config::LoadHostConfig(options->config);
  if (!host.ok()) {
    PrintLines(host.errors);
    return kExitRefused;
  }
  std::optional<config::ServicesConfig> services;
  if (!host.value.services_file.empty()) {
    config::Loaded<config::ServicesConfig> loaded = LoadServicesFile(host.value);
    if (!loaded.ok()) {
      PrintLines(loaded.errors);
      return kExitRefused;
    }
    services = std::move(loaded.value);
  }
  if (options->check) {
    std::cout << "configuration ok\n";
    return 0;
  }
  SetUpLog(host.value.log);
  return RunDaemon(host.value, services);
}

}  // namespace
}  // namespace penstock::daemon

int main(int argc, char** argv) {
  return penstock::daemon::Main(argc, argv);
}

// penstockctl: the command line of penstock.

#include <cstdlib>
#include <string>

#include "cli/commands.h"
#include "cli/format.h"

namespace penstock::cli {
namespace {

std::string CheckTarget(const std::string& text) {
  if (text.starts_with("unix:") && text.size() > 5) return "";
  return "\"" + text + "\" is no unix:/path; TCP targets need TLS, which is not yet supported";
}

std::string CheckTimeout(const std::string& text) {
  return ParseTimeout(text).has_value() ? "" : "\"" + text + "\" is no time such as 10s or 500ms";
}

void AddOptions(CLI::App& app, Options& options) {
  app.add_option("--target", options.targets, "daemon to ask; repeatable")
      ->allow_extra_args(false)
      ->type_name("unix:PATH")
      ->check(CheckTarget)
      ->capture_default_str();
  app.add_option("-o,--output", options.output, "table, json or yaml")
      ->type_name("FORM")
      ->check(CLI::IsMember({"table", "json", "yaml"}))
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--timeout",
         [&options](const std::string& text) {
           options.timeout = ParseTimeout(text).value_or(options.timeout);
         },
         "longest wait for an answer (default 10s)")
      ->type_name("TIME")
      ->check(CheckTimeout);
}

int Main(int argc, char** argv) {
  // What gRPC has to say about a daemon that is not there, we say ourselves.
  setenv("GRPC_VERBOSITY", "NONE", /*replace=*/0);
  Options options;
  ExitCode exit = kDone;
  CLI::App app{"Shows and changes what penstock hosts forward."};
  app.name("penstockctl");
  app.set_version_flag("--version", std::string("penstockctl ") + PENSTOCK_VERSION);
  app.require_subcommand(1);
  app.fallthrough();  // options are as good behind the command as before it
  app.footer(
      "Exit codes: 0 done, 1 differs or degraded, 2 usage, 3 rejected (nothing changed),\n"
      "4 daemon unreachable, 5 time ran out, 6 not permitted, 7 not found.\n"
      "Example: penstockctl apply -f services.yaml");
  AddOptions(app, options);
  AddStatusCommand(app, options, exit);
  AddConfigCommands(app, options, exit);
  AddGetCommands(app, options, exit);
  AddBackendCommands(app, options, exit);
  AddCounterCommands(app, options, exit);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  }
  // A backup that did not fit on the disk is no backup.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fputs("penstockctl: the output could not be written\n", stderr);
    return exit == kDone ? kDiffers : exit;
  }
  return exit;
}

}  // namespace
}  // namespace penstock::cli

int main(int argc, char** argv) {
  return penstock::cli::Main(argc, argv);
}

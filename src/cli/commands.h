// The groups of commands. Each adds its subcommands with help and an example to the app; the one
// that is called leaves its exit code in `exit`.

#ifndef PENSTOCK_CLI_COMMANDS_H_
#define PENSTOCK_CLI_COMMANDS_H_

#include <CLI/CLI.hpp>

#include "cli/exit_code.h"
#include "cli/options.h"

namespace penstock::cli {

void AddStatusCommand(CLI::App& app, const Options& options, ExitCode& exit);
void AddConfigCommands(CLI::App& app, const Options& options, ExitCode& exit);
void AddGetCommands(CLI::App& app, const Options& options, ExitCode& exit);
void AddBackendCommands(CLI::App& app, const Options& options, ExitCode& exit);
void AddCounterCommands(CLI::App& app, const Options& options, ExitCode& exit);

}  // namespace penstock::cli

#endif  // PENSTOCK_CLI_COMMANDS_H_

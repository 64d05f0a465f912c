// What the command line says to every command.

#ifndef PENSTOCK_CLI_OPTIONS_H_
#define PENSTOCK_CLI_OPTIONS_H_

#include <chrono>
#include <string>
#include <vector>

namespace penstock::cli {

struct Options {
  std::vector<std::string> targets{"unix:/run/penstock/penstockd.sock"};
  std::string output = "table";               // table, json or yaml
  std::chrono::milliseconds timeout{10'000};  // of each call
};

}  // namespace penstock::cli

#endif  // PENSTOCK_CLI_OPTIONS_H_

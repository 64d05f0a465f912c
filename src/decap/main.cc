// penstock-decap: the command line of the decapsulator for backends.
// Exit codes: 0 done, 1 failure (one line on stderr), 2 usage.
#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "xdp.h"

namespace penstock::decap {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

// Part of the JSON output: stable names, in the order of decap_kind.
constexpr std::array<const char*, DECAP_KIND_COUNT> kKindNames = {
    "ipip_4in4", "ipip_6in4", "ipip_4in6", "ipip_6in6", "malformed",
    "ecn_drop",  "passed",    "gre_4in4",  "gre_6in4",  "gre_4in6",
    "gre_6in6",  "gue_4in4",  "gue_6in4",  "gue_4in6",  "gue_6in6"};

constexpr const char* kDescription =
    "Unwraps what penstock sends to this backend, before the kernel sees it: IPv4 or IPv6 in IPv4\n"
    "or IPv6, by IP-in-IP, GRE without optional fields, or GUE variant 0 on UDP port 6080. Broken\n"
    "ones are dropped. All else goes to the kernel as it came, other GRE and GUE included: with a\n"
    "checksum, key, sequence number, option or another payload they belong to another tunnel.";

int Report(const Failure& failure) {
  fprintf(stderr, "penstock-decap: %s\n", failure.message.c_str());
  return kFailed;
}

std::string WhatWasDone(const Attached& attached) {
  if (!attached.replaced) return "attached";
  return attached.counters_kept ? "replaced, counters kept," : "replaced, counters from zero,";
}

int RunAttach(const std::string& interface, const std::string& mode,
              const std::vector<std::string>& outer) {
  AttachOptions options;
  if (!mode.empty()) options.mode = mode == "native" ? Mode::kNative : Mode::kGeneric;
  for (const std::string& text : outer) options.outer_addresses.push_back(*ParseAddress(text));
  const auto result = Attach(interface, options);
  if (const auto* failure = std::get_if<Failure>(&result)) return Report(*failure);
  const auto& attached = std::get<Attached>(result);
  printf("%s: %s in %s mode\n", interface.c_str(), WhatWasDone(attached).c_str(),
         ModeName(attached.mode).c_str());
  return kDone;
}

int RunDetach(const std::string& interface) {
  const auto result = Detach(interface);
  if (const auto* failure = std::get_if<Failure>(&result)) return Report(*failure);
  printf("%s: %s\n", interface.c_str(), std::get<bool>(result) ? "detached" : "was not attached");
  return kDone;
}

void PrintTable(const Counters& counters) {
  printf("%-12s %16s %20s\n", "KIND", "PACKETS", "BYTES");
  for (size_t kind = 0; kind < kKindNames.size(); ++kind) {
    const decap_counter& counter = counters.by_kind[kind];
    printf("%-12s %16llu %20llu\n", kKindNames[kind], counter.packets, counter.bytes);
  }
}

// Interface names hold no quote or backslash worth escaping: the kernel refuses space and slash,
// and a name with a quote is refused here before it gets this far.
void PrintJson(const std::string& interface, const Counters& counters) {
  printf(R"({"interface": "%s", "mode": "%s", "counters": {)", interface.c_str(),
         ModeName(counters.mode).c_str());
  for (size_t kind = 0; kind < kKindNames.size(); ++kind) {
    const decap_counter& counter = counters.by_kind[kind];
    printf(R"(%s"%s": {"packets": %llu, "bytes": %llu})", kind == 0 ? "" : ", ", kKindNames[kind],
           counter.packets, counter.bytes);
  }
  printf("}}\n");
}

int RunCounters(const std::string& interface, const std::string& output) {
  const auto result = ReadCounters(interface);
  if (const auto* failure = std::get_if<Failure>(&result)) return Report(*failure);
  if (output == "json") {
    PrintJson(interface, std::get<Counters>(result));
  } else {
    PrintTable(std::get<Counters>(result));
  }
  return kDone;
}

std::string CheckAddress(const std::string& text) {
  return ParseAddress(text) ? "" : "\"" + text + "\" is not an IPv4 or IPv6 address";
}

std::string CheckInterface(const std::string& text) {
  return text.find_first_of("\"\\") == std::string::npos ? "" : "not an interface name";
}

int Main(int argc, char** argv) {
  CLI::App app{kDescription};
  app.name("penstock-decap");
  app.require_subcommand(1);
  std::string interface;
  std::string mode;
  std::string output = "table";
  std::vector<std::string> outer;
  auto* attach = app.add_subcommand("attach", "attach to an interface, or replace atomically");
  auto* detach = app.add_subcommand("detach", "remove from an interface");
  auto* counters = app.add_subcommand("counters", "packets and bytes by kind");
  for (CLI::App* command : {attach, detach, counters}) {
    command->add_option("IFACE", interface, "interface")->required()->check(CheckInterface);
  }
  attach->add_option("--mode", mode, "native (default) or generic")
      ->check(CLI::IsMember({"native", "generic"}));
  attach->add_option("--outer", outer, "unwrap only packets to this outer destination; repeatable")
      ->check(CheckAddress)
      ->expected(1, DECAP_MAX_OUTER_ADDRESSES);
  counters->add_option("-o,--output", output, "table (default) or json")
      ->check(CLI::IsMember({"table", "json"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  }
  if (*attach) return RunAttach(interface, mode, outer);
  if (*detach) return RunDetach(interface);
  return RunCounters(interface, output);
}

}  // namespace
}  // namespace penstock::decap

int main(int argc, char** argv) {
  return penstock::decap::Main(argc, argv);
}

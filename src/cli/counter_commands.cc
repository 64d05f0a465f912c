#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <memory>
#include <string>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/format.h"
#include "cli/table.h"

namespace penstock::cli {
namespace {

struct Filter {
  bool nonzero = false;
  bool drops = false;
};

std::string ByPort(const v1::Counter& counter) {
  std::string text;
  for (const auto& [port, value] : counter.by_port()) {
    absl::StrAppend(&text, text.empty() ? "" : " ", port, "=", value);
  }
  return OrDash(text);
}

std::string CounterTable(const v1::GetCountersResponse& response) {
  Table table({Left("COUNTER"), Right("VALUE"), Left("BY PORT"), Left("MEANING")});
  for (const v1::Counter& one : response.counters()) {
    table.Add({one.name(), absl::StrCat(one.value()), ByPort(one), one.description()});
  }
  return table.Print();
}

Answer AskCounters(Client& client, const Filter& filter, const Options& options) {
  v1::GetCountersResponse all;
  const grpc::Status status = client.Call(client.status(), &v1::StatusService::Stub::GetCounters,
                                          v1::GetCountersRequest(), all);
  if (!status.ok()) return Failed(status, client);
  v1::GetCountersResponse wanted;
  for (const v1::Counter& one : all.counters()) {
    if (filter.nonzero && one.value() == 0) continue;
    if (filter.drops && !absl::StartsWith(one.name(), "drop_")) continue;
    *wanted.add_counters() = one;
  }
  return Render(wanted, CounterTable(wanted), options);
}

void AddOne(CLI::App* command, const std::shared_ptr<Filter>& filter, const Options& options,
            ExitCode& exit) {
  command->add_flag("--nonzero", filter->nonzero, "only those that have counted something");
  command->callback([filter, &options, &exit] {
    exit =
        AskAndPrint(options, [&](Client& client) { return AskCounters(client, *filter, options); });
  });
}

}  // namespace

void AddCounterCommands(CLI::App& app, const Options& options, ExitCode& exit) {
  CLI::App* counters = app.add_subcommand("counters", "every counter, by port and in sum");
  counters->footer("Example: penstockctl counters --nonzero");
  AddOne(counters, std::make_shared<Filter>(), options, exit);
  CLI::App* drops = app.add_subcommand("drops", "dropped packets by reason");
  drops->footer("Example: penstockctl drops --nonzero");
  const auto only_drops = std::make_shared<Filter>();
  only_drops->drops = true;
  AddOne(drops, only_drops, options, exit);
}

}  // namespace penstock::cli

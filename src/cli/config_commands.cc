#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/error_text.h"
#include "penstock/config/convert.h"
#include "penstock/config/load.h"
#include "penstock/config/validate.h"

namespace penstock::cli {
namespace {

constexpr std::string_view kConfigField = "config.";

config::Loaded<config::ServicesConfig> Load(const std::string& file) {
  if (file != "-") return config::LoadServicesConfig(file);
  const std::string text((std::istreambuf_iterator<char>(std::cin)),
                         std::istreambuf_iterator<char>());
  return config::ParseServicesConfig(text, "<stdin>");
}

std::string Lines(const std::vector<std::string>& lines) {
  return lines.empty() ? "" : absl::StrCat(absl::StrJoin(lines, "\n"), "\n");
}

// Prints the mistakes of a file that cannot be used.
ExitCode Refuse(const config::Loaded<config::ServicesConfig>& loaded) {
  fputs(Lines(loaded.errors).c_str(), stderr);
  return kRejected;
}

v1::ApplyConfigResponse WithWarnings(const config::Violations& warnings) {
  v1::ApplyConfigResponse response;
  for (const config::Violation& warning : warnings) {
    v1::Warning* message = response.add_warnings();
    message->set_path(warning.path);
    message->set_reason(warning.reason);
  }
  return response;
}

std::string WarningLines(const v1::ApplyConfigResponse& response, const config::SourceMap& source) {
  config::Violations warnings;
  for (const v1::Warning& one : response.warnings()) {
    warnings.push_back({.path = one.path(), .reason = absl::StrCat("warning: ", one.reason())});
  }
  return Lines(source.Format(warnings));
}

ExitCode RunValidate(const std::string& file, const Options& options) {
  const auto loaded = Load(file);
  if (!loaded.ok()) return Refuse(loaded);
  const v1::ApplyConfigResponse warnings = WithWarnings(config::Warnings(loaded.value));
  fputs(WarningLines(warnings, loaded.source).c_str(), stderr);
  std::size_t backends = 0;
  for (const config::Pool& pool : loaded.value.pools) backends += pool.backends.size();
  const std::string table =
      absl::StrCat("valid: ", loaded.value.services.size(), " services, ",
                   loaded.value.pools.size(), " pools, ", backends, " backends\n");
  fputs(Render(warnings, table, options).text.c_str(), stdout);
  return kDone;
}

// What the daemon objects to, as lines of the file. Only it knows the host.
std::string ViolationLines(const grpc::Status& status, const config::SourceMap& source) {
  config::Violations in_file;
  std::string others;
  for (config::Violation& violation : ViolationsOf(status)) {
    if (violation.path.starts_with(kConfigField)) {
      violation.path.erase(0, kConfigField.size());
      in_file.push_back(std::move(violation));
    } else {
      absl::StrAppend(&others, violation.path, violation.path.empty() ? "" : ": ", violation.reason,
                      "\n");
    }
  }
  return Lines(source.Format(in_file)) + others;
}

Answer Apply(Client& client, const v1::ApplyConfigRequest& request, const config::SourceMap& source,
             const Options& options) {
  v1::ApplyConfigResponse response;
  const grpc::Status status =
      client.Call(client.config(), &v1::ConfigService::Stub::ApplyConfig, request, response);
  if (!status.ok()) {
    Answer failed = Failed(status, client);
    const std::string lines = ViolationLines(status, source);
    if (!lines.empty()) {
      failed.notes = absl::StrCat(client.target(), " refuses this, nothing was changed:\n", lines);
    }
    return failed;
  }
  Answer answer =
      Render(response, absl::StrCat("generation ", response.generation(), " runs\n"), options);
  answer.notes = WarningLines(response, source);
  return answer;
}

ExitCode RunApply(const std::string& file, const Options& options) {
  const auto loaded = Load(file);
  if (!loaded.ok()) return Refuse(loaded);
  v1::ApplyConfigRequest request;
  *request.mutable_config() = config::ToProto(loaded.value);
  return AskAndPrint(
      options, [&](Client& client) { return Apply(client, request, loaded.source, options); });
}

void AddOne(CLI::App& app, const std::string& name, const std::string& help,
            ExitCode (*run)(const std::string&, const Options&), const Options& options,
            ExitCode& exit) {
  CLI::App* command = app.add_subcommand(name, help);
  const auto file = std::make_shared<std::string>();
  command->add_option("-f,--file", *file, "services file; - reads stdin")->required();
  command->footer("Example: penstockctl " + name + " -f services.yaml");
  command->callback([run, file, &options, &exit] { exit = run(*file, options); });
}

}  // namespace

void AddConfigCommands(CLI::App& app, const Options& options, ExitCode& exit) {
  AddOne(app, "validate", "checks a services file without a daemon", RunValidate, options, exit);
  AddOne(app, "apply", "replaces the configuration: all of it or nothing", RunApply, options, exit);
}

}  // namespace penstock::cli

#include <absl/strings/str_cat.h>

#include <memory>
#include <string>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/digests.h"
#include "cli/get_tables.h"
#include "penstock/config/convert.h"
#include "penstock/config/dump.h"

namespace penstock::cli {
namespace {

// Keeps what is called `name`; everything when `name` is empty. False if nothing is.
template <typename Items, typename NameOf>
bool Keep(const std::string& name, Items* items, NameOf name_of) {
  if (name.empty()) return true;
  for (int i = items->size() - 1; i >= 0; --i) {
    if (name_of(items->Get(i)) != name) items->DeleteSubrange(i, 1);
  }
  return !items->empty();
}

Answer NoSuch(const std::string& what, const std::string& name, const Client& client) {
  return {.exit = kNotFound,
          .text = {},
          .notes = absl::StrCat(client.target(), ": no ", what, " \"", name,
                                "\"; see `penstockctl "
                                "get ",
                                what, "s`\n")};
}

Answer GetConfig(Client& client, const std::string& /*name*/, const Options& options) {
  v1::GetConfigResponse response;
  const grpc::Status status = client.Call(client.config(), &v1::ConfigService::Stub::GetConfig,
                                          v1::GetConfigRequest(), response);
  if (!status.ok()) return Failed(status, client);
  if (options.output == "json") return {.text = ToJson(response)};
  // A services file, ready to be edited and applied.
  config::ServicesConfig applied;
  if (config::FromProto(response.config(), applied).empty()) {
    return {.text = config::DumpServicesConfig(applied)};
  }
  return {.text = config::ProtoToYaml(response.config())};
}

Answer GetServices(Client& client, const std::string& name, const Options& options) {
  v1::ListServicesResponse response;
  const grpc::Status status = client.Call(client.status(), &v1::StatusService::Stub::ListServices,
                                          v1::ListServicesRequest(), response);
  if (!status.ok()) return Failed(status, client);
  const auto name_of = [](const v1::ServiceStatus& one) { return one.service().name(); };
  if (!Keep(name, response.mutable_services(), name_of)) return NoSuch("service", name, client);
  return Render(response, ServiceTable(response), options);
}

Answer GetBackends(Client& client, const std::string& pool, const Options& options) {
  v1::ListBackendsRequest request;
  if (!pool.empty()) request.set_pool(pool);
  v1::ListBackendsResponse response;
  const grpc::Status status =
      client.Call(client.status(), &v1::StatusService::Stub::ListBackends, request, response);
  if (!status.ok()) return Failed(status, client);
  return Render(response, BackendTable(response), options);
}

// Ports and workers are parts of the status. JSON with its other fields empty would say that they
// are empty.
template <typename Items>
std::string JsonOf(const std::string& field, const Items& items) {
  std::string text = absl::StrCat("{\n \"", field, "\": [");
  for (int i = 0; i < items.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "\n" : ",\n", ToJson(items[i]));
  }
  return text + "]\n}\n";
}

Answer GetPorts(Client& client, const std::string& name, const Options& options) {
  v1::GetStatusResponse response;
  const grpc::Status status = client.Call(client.status(), &v1::StatusService::Stub::GetStatus,
                                          v1::GetStatusRequest(), response);
  if (!status.ok()) return Failed(status, client);
  v1::GetStatusResponse ports;
  *ports.mutable_ports() = response.ports();
  const auto name_of = [](const v1::PortStatus& one) { return one.name(); };
  if (!Keep(name, ports.mutable_ports(), name_of)) return NoSuch("port", name, client);
  if (options.output == "json") return {.text = JsonOf("ports", ports.ports())};
  return Render(ports, PortTable(ports), options);
}

Answer GetWorkers(Client& client, const std::string& name, const Options& options) {
  v1::GetStatusResponse response;
  const grpc::Status status = client.Call(client.status(), &v1::StatusService::Stub::GetStatus,
                                          v1::GetStatusRequest(), response);
  if (!status.ok()) return Failed(status, client);
  v1::GetStatusResponse workers;
  *workers.mutable_workers() = response.workers();
  const auto name_of = [](const v1::WorkerStatus& one) { return absl::StrCat(one.index()); };
  if (!Keep(name, workers.mutable_workers(), name_of)) return NoSuch("worker", name, client);
  if (options.output == "json") return {.text = JsonOf("workers", workers.workers())};
  return Render(workers, absl::StrCat(WorkerTable(workers), "\n", WorkerPortTable(workers)),
                options);
}

Answer AskPools(Client& client, const std::string& name, PoolsOfTargets& all) {
  v1::ListPoolsResponse response;
  const grpc::Status status = client.Call(client.status(), &v1::StatusService::Stub::ListPools,
                                          v1::ListPoolsRequest(), response);
  all.emplace_back(std::nullopt);
  if (!status.ok()) return Failed(status, client);
  const auto name_of = [](const v1::PoolStatus& one) { return one.name(); };
  if (!Keep(name, response.mutable_pools(), name_of)) return NoSuch("pool", name, client);
  all.back() = std::move(response);
  return {};
}

// Tables are printed once all targets have answered: differing digests are marked in them.
ExitCode GetPools(const std::string& name, const Options& options) {
  PoolsOfTargets all;
  std::vector<Answer> answers =
      AskEach(options, [&](Client& client) { return AskPools(client, name, all); });
  const std::set<std::string> differing = DifferingPools(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].has_value()) answers[i] = Render(*all[i], PoolTable(*all[i], differing), options);
  }
  const ExitCode exit = Print(answers, options);
  for (const std::string& pool : differing) {
    fprintf(stderr, "pool %s: digests differ between targets\n", pool.c_str());
  }
  return exit == kDone && !differing.empty() ? kDiffers : exit;
}

using Get = Answer (*)(Client&, const std::string&, const Options&);

// `name` is the NAME of whichever subcommand is called.
void AddOne(CLI::App& get, const std::string& what, const std::string& help,
            const std::string& argument, const std::function<ExitCode(const std::string&)>& run,
            ExitCode& exit) {
  CLI::App* command = get.add_subcommand(what, help);
  command->footer("Example: penstockctl get " + what);
  const auto name = std::make_shared<std::string>();
  if (!argument.empty()) command->add_option(argument, *name, "only this one");
  command->callback([name, run, &exit] { exit = run(*name); });
}

}  // namespace

void AddGetCommands(CLI::App& app, const Options& options, ExitCode& exit) {
  CLI::App* get = app.add_subcommand("get", "shows what is there");
  get->require_subcommand(1);
  get->footer("Example: penstockctl get backends web -o json");
  const auto each = [&options](Get ask) {
    return [&options, ask](const std::string& name) {
      return AskAndPrint(options, [&](Client& client) { return ask(client, name, options); });
    };
  };
  AddOne(*get, "config", "the applied configuration, as a services file", "", each(GetConfig),
         exit);
  AddOne(*get, "services", "virtual services", "NAME", each(GetServices), exit);
  AddOne(
      *get, "pools", "pools and digests; several targets whose digests differ exit 1", "NAME",
      [&options](const std::string& name) { return GetPools(name, options); }, exit);
  AddOne(*get, "backends", "backends: weight, state, slots, share, flows", "POOL",
         each(GetBackends), exit);
  AddOne(*get, "ports", "network ports", "NAME", each(GetPorts), exit);
  AddOne(*get, "workers", "workers, their flow tables, and what they did with each port's packets",
         "INDEX", each(GetWorkers), exit);
}

}  // namespace penstock::cli

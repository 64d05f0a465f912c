#include <absl/strings/str_cat.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/commands.h"

namespace penstock::cli {
namespace {

struct Edit {
  std::string pool;
  std::vector<std::string> backends;
  bool force = false;
};

template <typename Request>
Request ToRequest(const Edit& edit) {
  Request request;
  request.set_pool(edit.pool);
  for (const std::string& backend : edit.backends) request.add_backends(backend);
  return request;
}

template <typename Response>
Answer Changed(const std::string& what, const Response& response, const Options& options) {
  return Render(response, absl::StrCat(what, "; generation ", response.generation(), " runs\n"),
                options);
}

Answer Drain(Client& client, const Edit& edit, const Options& options) {
  auto request = ToRequest<v1::DrainBackendRequest>(edit);
  request.set_force(edit.force);
  v1::DrainBackendResponse response;
  const grpc::Status status =
      client.Call(client.pools(), &v1::PoolService::Stub::DrainBackend, request, response);
  return status.ok() ? Changed("draining", response, options) : Failed(status, client);
}

Answer Undrain(Client& client, const Edit& edit, const Options& options) {
  const auto request = ToRequest<v1::UndrainBackendRequest>(edit);
  v1::UndrainBackendResponse response;
  const grpc::Status status =
      client.Call(client.pools(), &v1::PoolService::Stub::UndrainBackend, request, response);
  return status.ok() ? Changed("active", response, options) : Failed(status, client);
}

using Run = Answer (*)(Client&, const Edit&, const Options&);

CLI::App* AddEdit(CLI::App& backend, const std::string& name, const std::string& help, Run run,
                  const std::shared_ptr<Edit>& edit, const Options& options, ExitCode& exit) {
  CLI::App* command = backend.add_subcommand(name, help);
  command->add_option("POOL", edit->pool, "name of the pool")->required();
  command->add_option("ADDR", edit->backends, "addresses or names of backends")->required();
  command->callback([run, edit, &options, &exit] {
    exit = AskAndPrint(options, [&](Client& client) { return run(client, *edit, options); });
  });
  return command;
}

}  // namespace

void AddBackendCommands(CLI::App& app, const Options& options, ExitCode& exit) {
  CLI::App* backend = app.add_subcommand("backend", "changes single backends");
  backend->require_subcommand(1);
  backend->footer("Example: penstockctl backend drain web 10.1.0.11");
  const auto edit = std::make_shared<Edit>();
  CLI::App* drain =
      AddEdit(*backend, "drain", "keep the flows, take no new ones", Drain, edit, options, exit);
  drain->add_flag("--force", edit->force, "even if no usable backend remains in the pool");
  drain->footer("Example: penstockctl backend drain web 10.1.0.11 10.1.0.12");
  CLI::App* undrain =
      AddEdit(*backend, "undrain", "take new flows again", Undrain, edit, options, exit);
  undrain->footer("Example: penstockctl backend undrain web 10.1.0.11");
}

}  // namespace penstock::cli

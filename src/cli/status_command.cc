#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/format.h"
#include "cli/get_tables.h"

namespace penstock::cli {
namespace {

// A worker that has not finished a round of its loop for this long is taken for dead.
constexpr int64_t kSilentSeconds = 2;

void CheckPort(const v1::PortStatus& port, std::vector<std::string>& findings) {
  if (!port.link_up()) findings.push_back(absl::StrCat("port ", port.name(), ": link is down"));
  for (const v1::GatewayStatus& gateway : port.gateways()) {
    if (!gateway.mac().empty()) continue;
    findings.push_back(absl::StrCat("port ", port.name(), ": gateway ", gateway.address(),
                                    " has not answered ARP or neighbor discovery"));
  }
}

void CheckWorker(const v1::WorkerStatus& worker, uint64_t generation,
                 std::vector<std::string>& findings) {
  if (worker.heartbeat_age().seconds() >= kSilentSeconds) {
    findings.push_back(absl::StrCat("worker ", worker.index(), ": silent for ",
                                    FormatDuration(worker.heartbeat_age())));
  }
  if (worker.generation() != generation) {
    findings.push_back(absl::StrCat("worker ", worker.index(), ": runs generation ",
                                    worker.generation(), " instead of ", generation));
  }
}

std::string Degraded(const v1::GetStatusResponse& status) {
  std::vector<std::string> findings;
  for (const v1::PortStatus& port : status.ports()) CheckPort(port, findings);
  for (const v1::WorkerStatus& worker : status.workers()) {
    CheckWorker(worker, status.generation(), findings);
  }
  std::string text;
  for (const std::string& finding : findings) absl::StrAppend(&text, "degraded: ", finding, "\n");
  return text;
}

std::string StatusTable(const v1::GetStatusResponse& status) {
  const std::string generation = status.generation() == 0
                                     ? "none (apply one: penstockctl apply -f FILE)"
                                     : absl::StrCat(status.generation());
  return absl::StrCat("version     ", status.version(), "\nuptime      ",
                      FormatDuration(status.uptime()), "\ngeneration  ", generation, "\n\n",
                      PortTable(status), "\n", WorkerTable(status));
}

Answer AskStatus(Client& client, const Options& options) {
  v1::GetStatusResponse response;
  const grpc::Status status = client.Call(client.status(), &v1::StatusService::Stub::GetStatus,
                                          v1::GetStatusRequest(), response);
  if (!status.ok()) return Failed(status, client);
  Answer answer = Render(response, StatusTable(response), options);
  answer.notes = Degraded(response);
  if (!answer.notes.empty()) answer.exit = kDiffers;
  return answer;
}

}  // namespace

void AddStatusCommand(CLI::App& app, const Options& options, ExitCode& exit) {
  CLI::App* command = app.add_subcommand(
      "status", "version, uptime, generation, ports, workers, flow tables; exit 1 if degraded");
  command->footer("Example: penstockctl status");
  command->callback([&options, &exit] {
    exit = AskAndPrint(options, [&](Client& client) { return AskStatus(client, options); });
  });
}

}  // namespace penstock::cli

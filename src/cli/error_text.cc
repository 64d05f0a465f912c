#include "cli/error_text.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace penstock::cli {
namespace {

// gRPC reports a socket that we may not open as a daemon that is not there.
bool IsForbiddenSocket(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE &&
         absl::StrContains(status.error_message(), "Permission denied");
}

std::string Seconds(std::chrono::milliseconds timeout) {
  return timeout.count() % 1000 == 0 ? absl::StrCat(timeout.count() / 1000, "s")
                                     : absl::StrCat(timeout.count(), "ms");
}

std::string TimeoutText(const grpc::Status& status, const Client& client) {
  // The daemon has words of its own when workers are silent; gRPC has only these.
  if (status.error_message() != "Deadline Exceeded") {
    return absl::StrCat(client.target(), ": ", status.error_message(), "\n");
  }
  return absl::StrCat("no answer from penstockd at ", client.target(), " within ",
                      Seconds(client.timeout()),
                      ". A change may still take effect: see `penstockctl status`; allow more time "
                      "with --timeout\n");
}

}  // namespace

ExitCode ExitCodeOf(const grpc::Status& status) {
  if (IsForbiddenSocket(status)) return kNotPermitted;
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return kDone;
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::ABORTED:
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::OUT_OF_RANGE:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return kRejected;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return kTimeout;
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
      return kNotPermitted;
    case grpc::StatusCode::NOT_FOUND:
      return kNotFound;
    default:  // whoever answers is no penstockd that we can talk to
      return kUnreachable;
  }
}

config::Violations ViolationsOf(const grpc::Status& status) {
  config::Violations violations;
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return violations;
  for (const auto& detail : details.details()) {
    google::rpc::BadRequest request;
    if (!detail.UnpackTo(&request)) continue;
    for (const auto& field : request.field_violations()) {
      violations.push_back({.path = field.field(), .reason = field.description()});
    }
  }
  return violations;
}

std::string ErrorText(const grpc::Status& status, const Client& client) {
  const std::string& target = client.target();
  if (IsForbiddenSocket(status)) {
    return absl::StrCat("not permitted to open ", target,
                        ": become root or a member of the socket's group\n");
  }
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    return absl::StrCat(
        "cannot reach penstockd at ", target,
        ": is it running? See `systemctl status penstockd`, or name its socket with "
        "--target (",
        status.error_message(), ")\n");
  }
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED)
    return TimeoutText(status, client);
  const config::Violations violations = ViolationsOf(status);
  if (violations.empty()) return absl::StrCat(target, ": ", status.error_message(), "\n");
  std::string text = absl::StrCat(target, ": the request is refused, nothing was changed:\n");
  for (const config::Violation& violation : violations) {
    absl::StrAppend(&text, "  ", violation.path, violation.path.empty() ? "" : ": ",
                    violation.reason, "\n");
  }
  return text;
}

}  // namespace penstock::cli

#include "penstock/config/convert.h"
#include "rpc/services.h"
#include "rpc/to_status.h"

namespace penstock::rpc {
namespace {

// Paths of the request start at the request, those of the configuration at the configuration.
constexpr char kConfigField[] = "config.";

config::Violations CheckApply(const v1::ApplyConfigRequest& request,
                              config::ServicesConfig& desired) {
  if (!request.has_config()) {
    return {
        {.path = "config", .reason = "is required; an empty one removes all pools and services"}};
  }
  config::Violations violations =
      config::Prefixed(kConfigField, config::FromProtoAndValidate(request.config(), desired));
  config::AppendUnlessCovered(violations, config::CheckSupported(request));
  return violations;
}

}  // namespace

grpc::Status ConfigService::GetConfig(grpc::ServerContext* /*context*/,
                                      const v1::GetConfigRequest* request,
                                      v1::GetConfigResponse* response) {
  if (grpc::Status status = CheckRequest(*request); !status.ok()) return status;
  // The seed is included: whoever may open the socket is an administrator.
  const control::Controller::Applied applied = controller_.GetConfig();
  *response->mutable_config() = config::ToProto(applied.config);
  response->set_generation(applied.generation);
  return grpc::Status::OK;
}

grpc::Status ConfigService::ApplyConfig(grpc::ServerContext* /*context*/,
                                        const v1::ApplyConfigRequest* request,
                                        v1::ApplyConfigResponse* response) {
  config::ServicesConfig desired;
  const config::Violations violations = CheckApply(*request, desired);
  if (!violations.empty()) return InvalidArgument(violations);
  const control::ChangeResult result = controller_.Apply(desired);
  if (!result.violations.empty()) {
    return InvalidArgument(config::Prefixed(kConfigField, result.violations));
  }
  if (!result.status.ok()) return ToStatus(result.status);
  response->set_generation(result.generation);
  for (const config::Violation& warning : result.warnings) {
    v1::Warning* message = response->add_warnings();
    message->set_path(warning.path);
    message->set_reason(warning.reason);
  }
  return grpc::Status::OK;
}

}  // namespace penstock::rpc

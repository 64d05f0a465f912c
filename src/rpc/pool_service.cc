#include <string>
#include <vector>

#include "rpc/services.h"
#include "rpc/to_status.h"

namespace penstock::rpc {
namespace {

// What both requests have in common: the fields that are required.
template <typename Request>
grpc::Status CheckEdit(const Request& request) {
  if (grpc::Status status = CheckRequest(request); !status.ok()) return status;
  config::Violations violations;
  if (request.pool().empty()) violations.push_back({.path = "pool", .reason = "is required"});
  if (request.backends().empty()) {
    violations.push_back({.path = "backends", .reason = "name at least one address or name"});
  }
  return violations.empty() ? grpc::Status::OK : InvalidArgument(violations);
}

template <typename Request>
std::vector<std::string> BackendsOf(const Request& request) {
  return {request.backends().begin(), request.backends().end()};
}

}  // namespace

grpc::Status PoolService::DrainBackend(grpc::ServerContext* /*context*/,
                                       const v1::DrainBackendRequest* request,
                                       v1::DrainBackendResponse* response) {
  if (grpc::Status status = CheckEdit(*request); !status.ok()) return status;
  const control::ChangeResult result =
      controller_.DrainBackends(request->pool(), BackendsOf(*request), request->force());
  response->set_generation(result.generation);
  return ToStatus(result.status);
}

grpc::Status PoolService::UndrainBackend(grpc::ServerContext* /*context*/,
                                         const v1::UndrainBackendRequest* request,
                                         v1::UndrainBackendResponse* response) {
  if (grpc::Status status = CheckEdit(*request); !status.ok()) return status;
  const control::ChangeResult result =
      controller_.UndrainBackends(request->pool(), BackendsOf(*request));
  response->set_generation(result.generation);
  return ToStatus(result.status);
}

}  // namespace penstock::rpc

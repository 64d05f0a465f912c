// The gRPC services of penstock.v1. Each method translates, asks the controller, translates back.
// Thread safety: gRPC calls them from its own threads; they hold nothing but references.

#ifndef PENSTOCK_RPC_SERVICES_H_
#define PENSTOCK_RPC_SERVICES_H_

#include <chrono>
#include <string>
#include <utility>

#include "penstock/control/controller.h"
#include "penstock/v1/config_service.grpc.pb.h"
#include "penstock/v1/pool_service.grpc.pb.h"
#include "penstock/v1/status_service.grpc.pb.h"

namespace penstock::rpc {

class ConfigService final : public v1::ConfigService::Service {
 public:
  explicit ConfigService(control::Controller& controller) : controller_(controller) {}

  grpc::Status GetConfig(grpc::ServerContext* context, const v1::GetConfigRequest* request,
                         v1::GetConfigResponse* response) override;
  grpc::Status ApplyConfig(grpc::ServerContext* context, const v1::ApplyConfigRequest* request,
                           v1::ApplyConfigResponse* response) override;

 private:
  control::Controller& controller_;
};

class PoolService final : public v1::PoolService::Service {
 public:
  explicit PoolService(control::Controller& controller) : controller_(controller) {}

  grpc::Status DrainBackend(grpc::ServerContext* context, const v1::DrainBackendRequest* request,
                            v1::DrainBackendResponse* response) override;
  grpc::Status UndrainBackend(grpc::ServerContext* context,
                              const v1::UndrainBackendRequest* request,
                              v1::UndrainBackendResponse* response) override;

 private:
  control::Controller& controller_;
};

class StatusService final : public v1::StatusService::Service {
 public:
  StatusService(control::Controller& controller, std::string version)
      : controller_(controller), version_(std::move(version)) {}

  grpc::Status GetStatus(grpc::ServerContext* context, const v1::GetStatusRequest* request,
                         v1::GetStatusResponse* response) override;
  grpc::Status ListServices(grpc::ServerContext* context, const v1::ListServicesRequest* request,
                            v1::ListServicesResponse* response) override;
  grpc::Status ListPools(grpc::ServerContext* context, const v1::ListPoolsRequest* request,
                         v1::ListPoolsResponse* response) override;
  grpc::Status ListBackends(grpc::ServerContext* context, const v1::ListBackendsRequest* request,
                            v1::ListBackendsResponse* response) override;
  grpc::Status GetCounters(grpc::ServerContext* context, const v1::GetCountersRequest* request,
                           v1::GetCountersResponse* response) override;

 private:
  control::Controller& controller_;
  const std::string version_;
  const std::chrono::system_clock::time_point start_time_ = std::chrono::system_clock::now();
  // The uptime follows this one: the wall clock may be set.
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace penstock::rpc

#endif  // PENSTOCK_RPC_SERVICES_H_

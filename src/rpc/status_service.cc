#include "rpc/services.h"
#include "rpc/to_proto.h"
#include "rpc/to_status.h"

namespace penstock::rpc {
namespace {

template <typename View, typename Message>
void Fill(const std::vector<View>& views, google::protobuf::RepeatedPtrField<Message>* messages) {
  messages->Reserve(static_cast<int>(views.size()));
  for (const View& view : views) *messages->Add() = ToProto(view);
}

}  // namespace

grpc::Status StatusService::GetStatus(grpc::ServerContext* /*context*/,
                                      const v1::GetStatusRequest* request,
                                      v1::GetStatusResponse* response) {
  if (grpc::Status status = CheckRequest(*request); !status.ok()) return status;
  const control::StatusView view = controller_.GetStatus();
  response->set_version(version_);
  const auto since_epoch = ToProto(start_time_.time_since_epoch());
  response->mutable_start_time()->set_seconds(since_epoch.seconds());
  response->mutable_start_time()->set_nanos(since_epoch.nanos());
  *response->mutable_uptime() = ToProto(std::chrono::steady_clock::now() - start_);
  response->set_generation(view.generation);
  Fill(view.ports, response->mutable_ports());
  Fill(view.workers, response->mutable_workers());
  return grpc::Status::OK;
}

grpc::Status StatusService::ListServices(grpc::ServerContext* /*context*/,
                                         const v1::ListServicesRequest* request,
                                         v1::ListServicesResponse* response) {
  if (grpc::Status status = CheckRequest(*request); !status.ok()) return status;
  const auto listing = controller_.ListServices();
  response->set_generation(listing.generation);
  Fill(listing.items, response->mutable_services());
  return grpc::Status::OK;
}

grpc::Status StatusService::ListPools(grpc::ServerContext* /*context*/,
                                      const v1::ListPoolsRequest* request,
                                      v1::ListPoolsResponse* response) {
  if (grpc::Status status = CheckRequest(*request); !status.ok()) return status;
  const auto listing = controller_.ListPools();
  response->set_generation(listing.generation);
  Fill(listing.items, response->mutable_pools());
  return grpc::Status::OK;
}

grpc::Status StatusService::ListBackends(grpc::ServerContext* /*context*/,
                                         const v1::ListBackendsRequest* request,
                                         v1::ListBackendsResponse* response) {
  if (grpc::Status status = CheckRequest(*request); !status.ok()) return status;
  absl::StatusOr<control::Listing<control::BackendView>> listing;
  if (request->has_pool()) {
    listing = controller_.ListBackends(request->pool());
  } else {
    listing = controller_.ListBackends();
  }
  if (!listing.ok()) return ToStatus(listing.status());
  response->set_generation(listing->generation);
  Fill(listing->items, response->mutable_backends());
  return grpc::Status::OK;
}

grpc::Status StatusService::GetCounters(grpc::ServerContext* /*context*/,
                                        const v1::GetCountersRequest* request,
                                        v1::GetCountersResponse* response) {
  if (grpc::Status status = CheckRequest(*request); !status.ok()) return status;
  Fill(controller_.GetCounters(), response->mutable_counters());
  return grpc::Status::OK;
}

}  // namespace penstock::rpc

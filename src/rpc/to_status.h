// Outcomes of the control side as gRPC statuses, with google.rpc details that clients in every
// language can read.

#ifndef PENSTOCK_RPC_TO_STATUS_H_
#define PENSTOCK_RPC_TO_STATUS_H_

#include <absl/status/status.h>
#include <google/protobuf/message.h>
#include <grpcpp/grpcpp.h>

#include "penstock/config/violation.h"
#include "penstock/control/controller.h"

namespace penstock::rpc {

// The codes of both have the same numbers.
[[nodiscard]] grpc::Status ToStatus(const absl::Status& status);

// INVALID_ARGUMENT. The details are a google.rpc.Status with a google.rpc.BadRequest of at most
// 6 KiB: gRPC refuses metadata above 8 KiB. What does not fit is counted in a last violation
// without a field, "and N more".
[[nodiscard]] grpc::Status InvalidArgument(const config::Violations& violations);

// OK when every field of the request is one that this release acts on.
[[nodiscard]] grpc::Status CheckRequest(const google::protobuf::Message& request);

}  // namespace penstock::rpc

#endif  // PENSTOCK_RPC_TO_STATUS_H_

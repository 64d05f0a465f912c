// The control side's answers as messages.

#ifndef PENSTOCK_RPC_TO_PROTO_H_
#define PENSTOCK_RPC_TO_PROTO_H_

#include <google/protobuf/duration.pb.h>

#include <chrono>

#include "penstock/control/views.h"
#include "penstock/v1/status_service.pb.h"

namespace penstock::rpc {

[[nodiscard]] google::protobuf::Duration ToProto(std::chrono::nanoseconds duration);
[[nodiscard]] v1::ServiceStatus ToProto(const control::ServiceView& view);
[[nodiscard]] v1::PoolStatus ToProto(const control::PoolView& view);
[[nodiscard]] v1::BackendStatus ToProto(const control::BackendView& view);
[[nodiscard]] v1::PortStatus ToProto(const control::PortView& view);
[[nodiscard]] v1::WorkerPort ToProto(const lb::WorkerPort& port);
[[nodiscard]] v1::WorkerStatus ToProto(const lb::WorkerStatus& status);
[[nodiscard]] v1::Counter ToProto(const control::CounterView& view);

}  // namespace penstock::rpc

#endif  // PENSTOCK_RPC_TO_PROTO_H_

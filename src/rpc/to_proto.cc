#include "rpc/to_proto.h"

#include "penstock/config/convert.h"

namespace penstock::rpc {

google::protobuf::Duration ToProto(std::chrono::nanoseconds duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  google::protobuf::Duration message;
  message.set_seconds(seconds.count());
  message.set_nanos(static_cast<int32_t>((duration - seconds).count()));
  return message;
}

v1::ServiceStatus ToProto(const control::ServiceView& view) {
  v1::ServiceStatus message;
  *message.mutable_service() = config::ToProto(view.service);
  message.set_backends(view.backends);
  message.set_usable_backends(view.usable_backends);
  return message;
}

v1::PoolStatus ToProto(const control::PoolView& view) {
  v1::PoolStatus message;
  message.set_name(view.name);
  message.set_table_size(view.table_size);
  message.set_digest(view.digest);
  message.set_max_share_error(view.max_share_error);
  message.set_rms_share_error(view.rms_share_error);
  message.set_largest_share_ratio(view.largest_share_ratio);
  message.set_backends(view.backends);
  message.set_usable_backends(view.usable_backends);
  message.mutable_services()->Add(view.services.begin(), view.services.end());
  return message;
}

v1::BackendStatus ToProto(const control::BackendView& view) {
  v1::BackendStatus message;
  message.set_pool(view.pool);
  message.set_address(view.address.ToString());
  message.set_name(view.name);
  message.set_weight(view.weight);
  message.set_admin_state(config::ToProto(view.state));
  message.set_health(v1::HEALTH_UNCHECKED);
  message.set_slots(view.slots);
  message.set_share(view.share);
  message.set_live_flows(view.live_flows);
  message.set_new_flows(view.new_flows);
  message.set_packets(view.packets);
  message.set_bytes(view.bytes);
  message.mutable_labels()->insert(view.labels.begin(), view.labels.end());
  return message;
}

v1::PortStatus ToProto(const control::PortView& view) {
  v1::PortStatus message;
  message.set_name(view.status.name);
  message.set_device(view.status.device);
  message.set_driver(view.status.driver);
  message.set_mac(view.status.mac.ToString());
  message.set_link_up(view.status.link_up);
  message.set_link_speed_mbps(view.status.speed_mbps);
  message.set_mtu(view.status.mtu);
  message.set_rx_queues(view.status.rx_queues);
  message.set_tx_queues(view.status.tx_queues);
  message.mutable_addresses()->Add(view.addresses.begin(), view.addresses.end());
  for (const control::GatewayView& gateway : view.gateways) {
    v1::GatewayStatus* status = message.add_gateways();
    status->set_address(gateway.address.ToString());
    if (gateway.mac) status->set_mac(gateway.mac->ToString());
  }
  return message;
}

v1::WorkerPort ToProto(const lb::WorkerPort& port) {
  v1::WorkerPort message;
  message.set_name(port.name);
  message.set_received(port.received);
  message.set_forwarded(port.forwarded);
  message.set_answered(port.answered);
  message.set_held(port.held);
  message.set_dropped(port.dropped);
  message.set_transmitted(port.transmitted);
  return message;
}

v1::WorkerStatus ToProto(const lb::WorkerStatus& status) {
  v1::WorkerStatus message;
  message.set_index(static_cast<uint32_t>(status.index));
  message.set_core(static_cast<uint32_t>(status.core));
  message.set_busy(status.busy);
  *message.mutable_heartbeat_age() = ToProto(std::chrono::nanoseconds(status.heartbeat_age));
  message.set_v4_flows(status.v4_flows);
  message.set_v4_flow_capacity(status.v4_capacity);
  message.set_v6_flows(status.v6_flows);
  message.set_v6_flow_capacity(status.v6_capacity);
  message.set_generation(status.generation);
  for (const lb::WorkerPort& port : status.ports) *message.add_ports() = ToProto(port);
  return message;
}

v1::Counter ToProto(const control::CounterView& view) {
  v1::Counter message;
  message.set_name(view.name);
  message.set_value(view.value);
  message.set_description(std::string(view.description));
  for (const auto& [port, value] : view.by_port) (*message.mutable_by_port())[port] = value;
  return message;
}

}  // namespace penstock::rpc

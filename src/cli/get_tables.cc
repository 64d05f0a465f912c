#include "cli/get_tables.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include "cli/format.h"
#include "cli/table.h"

namespace penstock::cli {
namespace {

// "80,443,8000-8010"; "*" for every port.
std::string PortsOf(const v1::Service& service) {
  if (service.ports().empty()) return "*";
  std::string text;
  for (const v1::PortRange& range : service.ports()) {
    absl::StrAppend(&text, text.empty() ? "" : ",", range.first());
    if (range.last() != range.first()) absl::StrAppend(&text, "-", range.last());
  }
  return text;
}

std::string UsableOf(uint32_t usable, uint32_t all) {
  return absl::StrCat(usable, "/", all);
}

std::string GatewaysOf(const v1::PortStatus& port) {
  return absl::StrJoin(port.gateways(), ",", [](std::string* out, const v1::GatewayStatus& next) {
    absl::StrAppend(out, next.address(), next.mac().empty() ? "(unknown)" : "");
  });
}

}  // namespace

std::string ServiceTable(const v1::ListServicesResponse& response) {
  Table table({Left("NAME"), Left("ADDRESS"), Left("PROTOCOL"), Left("PORTS"), Left("POOL"),
               Left("ENCAPSULATION"), Left("HASH"), Left("ON_NO_BACKEND"), Right("USABLE")});
  for (const v1::ServiceStatus& status : response.services()) {
    const v1::Service& one = status.service();
    table.Add({one.name(), one.address(),
               FormatEnum(v1::Protocol_Name(one.protocol()), "PROTOCOL_"), PortsOf(one), one.pool(),
               FormatEnum(v1::Encapsulation_Name(one.encapsulation()), "ENCAPSULATION_"),
               FormatEnum(v1::HashKind_Name(one.hash()), "HASH_KIND_"),
               FormatEnum(v1::OnNoBackend_Name(one.on_no_backend()), "ON_NO_BACKEND_"),
               UsableOf(status.usable_backends(), status.backends())});
  }
  return table.Print();
}

std::string PoolTable(const v1::ListPoolsResponse& response,
                      const std::set<std::string>& differing) {
  Table table({Left("NAME"), Left("DIGEST"), Right("SLOTS"), Right("USABLE"), Right("MAX ERROR"),
               Right("RMS ERROR"), Left("SERVICES")});
  for (const v1::PoolStatus& one : response.pools()) {
    const bool marked = differing.contains(one.name());
    table.Add({one.name(), one.digest() + (marked ? " DIFFERS" : ""),
               absl::StrCat(one.table_size()), UsableOf(one.usable_backends(), one.backends()),
               FormatPercent(one.max_share_error()), FormatPercent(one.rms_share_error()),
               OrDash(absl::StrJoin(one.services(), ","))});
  }
  return table.Print();
}

std::string BackendTable(const v1::ListBackendsResponse& response) {
  Table table({Left("POOL"), Left("ADDRESS"), Left("NAME"), Right("WEIGHT"), Left("STATE"),
               Left("HEALTH"), Right("SLOTS"), Right("SHARE"), Right("FLOWS"), Right("NEW FLOWS"),
               Right("PACKETS"), Right("BYTES")});
  for (const v1::BackendStatus& one : response.backends()) {
    table.Add({one.pool(), one.address(), OrDash(one.name()), absl::StrCat(one.weight()),
               FormatEnum(v1::AdminState_Name(one.admin_state()), "ADMIN_STATE_"),
               FormatEnum(v1::Health_Name(one.health()), "HEALTH_"), absl::StrCat(one.slots()),
               FormatPercent(one.share()), absl::StrCat(one.live_flows()),
               absl::StrCat(one.new_flows()), absl::StrCat(one.packets()),
               absl::StrCat(one.bytes())});
  }
  return table.Print();
}

std::string PortTable(const v1::GetStatusResponse& response) {
  Table table({Left("PORT"), Left("DEVICE"), Left("DRIVER"), Left("LINK"), Right("MBIT/S"),
               Right("MTU"), Right("RX"), Right("TX"), Left("MAC"), Left("ADDRESSES"),
               Left("GATEWAYS")});
  for (const v1::PortStatus& one : response.ports()) {
    table.Add({one.name(), one.device(), one.driver(), one.link_up() ? "up" : "DOWN",
               one.link_speed_mbps() == 0 ? "-" : absl::StrCat(one.link_speed_mbps()),
               absl::StrCat(one.mtu()), absl::StrCat(one.rx_queues()),
               absl::StrCat(one.tx_queues()), one.mac(),
               OrDash(absl::StrJoin(one.addresses(), ",")), OrDash(GatewaysOf(one))});
  }
  return table.Print();
}

std::string WorkerTable(const v1::GetStatusResponse& response) {
  Table table({Right("WORKER"), Right("CORE"), Right("BUSY"), Right("HEARTBEAT"),
               Right("GENERATION"), Right("V4 FLOWS"), Right("V4 ROOM"), Right("V6 FLOWS"),
               Right("V6 ROOM")});
  for (const v1::WorkerStatus& one : response.workers()) {
    table.Add({absl::StrCat(one.index()), absl::StrCat(one.core()), FormatPercent(one.busy()),
               FormatDuration(one.heartbeat_age()), absl::StrCat(one.generation()),
               absl::StrCat(one.v4_flows()), absl::StrCat(one.v4_flow_capacity()),
               absl::StrCat(one.v6_flows()), absl::StrCat(one.v6_flow_capacity())});
  }
  return table.Print();
}

std::string WorkerPortTable(const v1::GetStatusResponse& response) {
  Table table({Right("WORKER"), Left("PORT"), Right("RECEIVED"), Right("FORWARDED"),
               Right("ANSWERED"), Right("HELD"), Right("DROPPED"), Right("TRANSMITTED")});
  for (const v1::WorkerStatus& worker : response.workers()) {
    for (const v1::WorkerPort& one : worker.ports()) {
      table.Add({absl::StrCat(worker.index()), one.name(), absl::StrCat(one.received()),
                 absl::StrCat(one.forwarded()), absl::StrCat(one.answered()),
                 absl::StrCat(one.held()), absl::StrCat(one.dropped()),
                 absl::StrCat(one.transmitted())});
    }
  }
  return table.Print();
}

}  // namespace penstock::cli

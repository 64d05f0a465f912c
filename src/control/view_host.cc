// Ports and workers as questions about them are answered.

#include <algorithm>

#include "control/running_state.h"
#include "penstock/control/controller.h"

namespace penstock::control {
namespace {

PortView ViewOf(lb::PortStatus status, const std::vector<config::PortConfig>& configured) {
  PortView view;
  const auto port = std::ranges::find(configured, status.name, &config::PortConfig::name);
  if (port != configured.end()) {
    for (const net::IpPrefix& own : port->addresses) view.addresses.push_back(own.ToString());
    for (const net::IpAddress& next : port->gateways) {
      view.gateways.push_back(
          {.address = next, .mac = next.IsV4() ? status.gateway_v4 : status.gateway_v6});
    }
  }
  view.status = std::move(status);
  return view;
}

}  // namespace

StatusView Controller::GetStatus() const {
  StatusView view{.generation = state()->generation, .ports = {}, .workers = {}};
  for (lb::PortStatus& port : reader_.ReadPorts()) {
    view.ports.push_back(ViewOf(std::move(port), host_.dataplane.ports));
  }
  view.workers = reader_.ReadWorkers();
  return view;
}

}  // namespace penstock::control

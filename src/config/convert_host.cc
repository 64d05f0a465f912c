#include <algorithm>
#include <limits>

#include "config/convert_duration.h"
#include "config/enums.h"
#include "config/schema.h"
#include "config/text.h"
#include "penstock/config/convert.h"

namespace penstock::config {
namespace {

// The length is asked for: without one the port's own segment would be a single address.
void ReadAddresses(const v1::Port& message, const std::string& path, PortConfig& port,
                   Violations& violations) {
  for (const std::string& text : message.addresses()) {
    const auto prefix = net::IpPrefix::Parse(text);
    if (!prefix || text.find('/') == std::string::npos) {
      violations.push_back({Item(path, port.addresses.size()),
                            Concat("is not an address with a prefix length, such as "
                                   "198.51.100.11/24: ",
                                   QuoteShort(text))});
    }
    port.addresses.push_back(prefix.value_or(net::IpPrefix{}));
  }
}

void ReadGateways(const v1::Port& message, const std::string& path, PortConfig& port,
                  Violations& violations) {
  for (const std::string& text : message.gateways()) {
    const auto address = net::IpAddress::Parse(text);
    if (!address) {
      violations.push_back(
          {Item(path, port.gateways.size()), Concat("is not an IP address: ", QuoteShort(text))});
    }
    port.gateways.push_back(address.value_or(net::IpAddress{}));
  }
}

PortConfig ReadPort(const v1::Port& message, const std::string& path, Violations& violations) {
  PortConfig port;
  port.name = message.name();
  port.device = message.device();
  // What does not fit is out of the valid range either way.
  constexpr uint32_t kMax = std::numeric_limits<uint16_t>::max();
  if (message.has_mtu()) {
    port.mtu = static_cast<uint16_t>(std::min(message.mtu(), kMax));
  }
  if (message.has_vlan()) {
    port.vlan = static_cast<uint16_t>(std::min(message.vlan(), kMax));
  }
  ReadAddresses(message, Below(path, "addresses"), port, violations);
  ReadGateways(message, Below(path, "gateways"), port, violations);
  if (message.gateway_mac().empty()) return port;
  port.gateway_mac = net::MacAddress::Parse(message.gateway_mac());
  if (!port.gateway_mac) {
    violations.push_back(
        {Below(path, "gateway_mac"), Concat("is not a MAC address such as 02:00:00:00:00:01: ",
                                            QuoteShort(message.gateway_mac()))});
  }
  return port;
}

void ReadDataplane(const v1::Dataplane& message, DataplaneConfig& dataplane,
                   Violations& violations) {
  for (const uint32_t core : message.workers()) {
    constexpr uint32_t kMax = std::numeric_limits<int>::max();
    dataplane.workers.push_back(static_cast<int>(std::min(core, kMax)));
  }
  const v1::Memory& memory = message.memory();
  if (memory.has_hugepages()) dataplane.memory.hugepages = memory.hugepages();
  if (memory.has_megabytes()) dataplane.memory.megabytes = memory.megabytes();
  const v1::FlowTable& table = message.flow_table();
  FlowTableConfig& sizes = dataplane.flow_table;
  if (table.has_v4_entries_per_worker())
    sizes.v4_entries_per_worker = table.v4_entries_per_worker();
  if (table.has_v6_entries_per_worker())
    sizes.v6_entries_per_worker = table.v6_entries_per_worker();
  if (message.has_idle_sleep() && !ReadWhole(message.idle_sleep(), dataplane.idle_sleep)) {
    violations.push_back(
        {"dataplane.idle_sleep", "has to be a whole number of microseconds, 0us to 10ms"});
  }
  if (message.has_icmp_rate()) dataplane.icmp_rate = message.icmp_rate();
  for (const v1::Port& port : message.ports()) {
    const std::string path = Item("dataplane.ports", dataplane.ports.size());
    dataplane.ports.push_back(ReadPort(port, path, violations));
  }
}

void WritePort(const PortConfig& port, v1::Port& message) {
  message.set_name(port.name);
  message.set_device(port.device);
  message.set_mtu(port.mtu);
  message.set_vlan(port.vlan);
  for (const net::IpPrefix& address : port.addresses) message.add_addresses(address.ToString());
  for (const net::IpAddress& gateway : port.gateways) message.add_gateways(gateway.ToString());
  if (port.gateway_mac) message.set_gateway_mac(port.gateway_mac->ToString());
}

void WriteDataplane(const DataplaneConfig& dataplane, v1::Dataplane& message) {
  for (const int core : dataplane.workers) message.add_workers(static_cast<uint32_t>(core));
  message.mutable_memory()->set_hugepages(dataplane.memory.hugepages);
  message.mutable_memory()->set_megabytes(dataplane.memory.megabytes);
  v1::FlowTable& table = *message.mutable_flow_table();
  table.set_v4_entries_per_worker(dataplane.flow_table.v4_entries_per_worker);
  table.set_v6_entries_per_worker(dataplane.flow_table.v6_entries_per_worker);
  WriteDuration(dataplane.idle_sleep, *message.mutable_idle_sleep());
  message.set_icmp_rate(dataplane.icmp_rate);
  for (const PortConfig& port : dataplane.ports) WritePort(port, *message.add_ports());
}

}  // namespace

Violations FromProto(const v1::HostConfig& message, HostConfig& config) {
  Violations violations;
  config = {};
  ReadDataplane(message.dataplane(), config.dataplane, violations);
  const auto& listen = message.control().listen();
  if (!listen.empty()) config.control.listen.assign(listen.begin(), listen.end());
  config.control.state_dir = message.control().state_dir();
  config.services_file = message.services_file();
  ReadEnum(kLogLevels, message.log().level(), config.log.level);
  ReadEnum(kLogFormats, message.log().format(), config.log.format);
  Violations all = CheckSupported(message);
  AppendUnlessCovered(all, std::move(violations));
  return all;
}

v1::HostConfig ToProto(const HostConfig& config) {
  v1::HostConfig message;
  WriteDataplane(config.dataplane, *message.mutable_dataplane());
  for (const std::string& address : config.control.listen) {
    message.mutable_control()->add_listen(address);
  }
  if (!config.control.state_dir.empty()) {
    message.mutable_control()->set_state_dir(config.control.state_dir);
  }
  message.set_services_file(config.services_file);
  message.mutable_log()->set_level(WriteEnum(kLogLevels, config.log.level));
  message.mutable_log()->set_format(WriteEnum(kLogFormats, config.log.format));
  return message;
}

}  // namespace penstock::config

#include "config/shared_interface.h"

#include <charconv>
#include <string>
#include <string_view>

#include "config/schema.h"
#include "config/text.h"

namespace penstock::config {
namespace {

constexpr std::string_view kByQueues = "net_af_xdp";

struct Queues {
  std::string_view interface;
  uint64_t first = 0;
  uint64_t count = 1;
};

// VALUE of "...,KEY=VALUE,..."; empty if there is none.
std::string_view Argument(std::string_view device, std::string_view key) {
  while (true) {
    const std::size_t comma = device.find(',');
    if (comma == std::string_view::npos) return {};
    device.remove_prefix(comma + 1);
    if (device.starts_with(key)) {
      const std::string_view value = device.substr(key.size());
      return value.substr(0, value.find(','));
    }
  }
}

// The driver refuses what is no number.
uint64_t NumberOr(std::string_view text, uint64_t fallback) {
  uint64_t number = fallback;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// nullopt: the device is none that opens an interface by queues.
std::optional<Queues> QueuesOf(std::string_view device) {
  if (!device.starts_with(kByQueues)) return std::nullopt;
  const std::string_view interface = Argument(device, "iface=");
  if (interface.empty()) return std::nullopt;
  return Queues{interface, NumberOr(Argument(device, "start_queue="), 0),
                NumberOr(Argument(device, "queue_count="), 1)};
}

bool Overlap(const Queues& a, const Queues& b) {
  return a.first < b.first + b.count && b.first < a.first + a.count;
}

// Of port `second`, against the first port of its interface.
void CheckSameness(const std::vector<PortConfig>& ports, std::size_t first, std::size_t second,
                   Violations& violations) {
  const PortConfig& a = ports[first];
  const PortConfig& b = ports[second];
  const auto same = [&](bool is_same, std::string_view field) {
    if (is_same) return;
    violations.push_back(
        {Below(Item("dataplane.ports", second), field),
         Concat("is not that of ", Item("dataplane.ports", first), ": both are queues of ",
                QueuesOf(a.device)->interface, ", and a packet may come to any")});
  };
  same(a.addresses == b.addresses, "addresses");
  same(a.gateways == b.gateways, "gateways");
  same(a.gateway_mac == b.gateway_mac, "gateway_mac");
  same(a.mtu == b.mtu, "mtu");
  same(a.vlan == b.vlan, "vlan");
}

// Of port `second`, against every port in front of it.
void CheckQueues(const std::vector<PortConfig>& ports, std::size_t second, Violations& violations) {
  const Queues mine = *QueuesOf(ports[second].device);
  for (std::size_t i = 0; i < second; ++i) {
    const auto others = QueuesOf(ports[i].device);
    if (!others || others->interface != mine.interface || !Overlap(*others, mine)) continue;
    violations.push_back({Below(Item("dataplane.ports", second), "device"),
                          Concat("opens a queue of ", mine.interface, " that ",
                                 Item("dataplane.ports", i), " opens")});
  }
}

}  // namespace

std::optional<std::size_t> FirstOfInterface(const std::vector<PortConfig>& ports,
                                            std::size_t port) {
  const auto queues = QueuesOf(ports[port].device);
  for (std::size_t i = 0; queues && i < port; ++i) {
    const auto others = QueuesOf(ports[i].device);
    if (others && others->interface == queues->interface) return i;
  }
  return std::nullopt;
}

void CheckSharedInterfaces(const std::vector<PortConfig>& ports, Violations& violations) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const auto first = FirstOfInterface(ports, i);
    if (!first) continue;
    CheckQueues(ports, i, violations);
    CheckSameness(ports, *first, i, violations);
  }
}

}  // namespace penstock::config

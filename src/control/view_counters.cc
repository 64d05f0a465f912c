// All counters under their names.

#include <algorithm>
#include <array>

#include "penstock/control/controller.h"
#include "penstock/lb/counters.h"
#include "penstock/lb/verdict.h"

namespace penstock::control {
namespace {

struct PortCounter {
  std::string_view name;
  std::string_view description;
  uint64_t lb::PortTotals::*value;
};

constexpr std::array<PortCounter, 8> kPortCounters = {{
    {"received",
     "Packets taken from the receive queues: the sum of forwarded, answered, learned, "
     "held and dropped ones.",
     &lb::PortTotals::received_packets},
    {"received_bytes", "Bytes of them.", &lb::PortTotals::received_bytes},
    {"transmitted", "Packets that the transmit queues took, own ones included.",
     &lb::PortTotals::transmitted_packets},
    {"transmitted_bytes", "Bytes of them.", &lb::PortTotals::transmitted_bytes},
    {"own_packets", "ARP requests, neighbor solicitations, and fragments beyond a packet's first.",
     &lb::PortTotals::own_packets},
    {"own_tx_full", "Packets of our own making that the transmit queue did not take.",
     &lb::PortTotals::own_tx_full},
    {"device_missed", "Packets lost in front of us: the receive queue was full.",
     &lb::PortTotals::device_missed},
    {"device_errors", "Packets that the device received damaged.", &lb::PortTotals::device_errors},
}};

constexpr std::array<std::string_view, lb::kFlowEventNames.size()> kFlowEventHelp = {
    "Packets that followed their flow's entry.",
    "Those of them whose entry another worker has.",
    "Packets of flows without an entry.",
    "... that are TCP in mid-stream: flows that began elsewhere or were forgotten.",
    "Flow entries made.",
    "Flows chosen anew: the entry's backend may not serve them any more, or a SYN began again.",
    "Entries replaced that had expired.",
    "Entries replaced that said what the pool's table says anyway.",
    "Entries replaced that had seen nothing but SYNs.",
    "Entries replaced of connections that were closing.",
    "Entries replaced because they were the least recently used.",
    "Packets of flows that found no room; the pool's table alone keeps them.",
    "Such flows in a slot that changed hands: their next packet may go elsewhere.",
    "Entries removed because their flow was idle."};

template <typename Value>
CounterView OfPorts(std::string_view name, std::string_view description,
                    const std::vector<lb::PortTotals>& ports, Value value) {
  CounterView view{
      .name = std::string(name), .description = description, .value = 0, .by_port = {}};
  for (const lb::PortTotals& port : ports) {
    view.by_port.emplace_back(port.name, value(port));
    view.value += value(port);
  }
  return view;
}

}  // namespace

std::vector<CounterView> Controller::GetCounters() const {
  const lb::CounterTotals totals = reader_.ReadCounters();
  std::vector<CounterView> views;
  for (const PortCounter& counter : kPortCounters) {
    views.push_back(OfPorts(counter.name, counter.description, totals.ports,
                            [&](const lb::PortTotals& port) { return port.*counter.value; }));
  }
  for (const lb::VerdictInfo& info : lb::kVerdicts) {
    const auto index = static_cast<std::size_t>(info.verdict);
    views.push_back(OfPorts(info.name, info.help, totals.ports,
                            [&](const lb::PortTotals& port) { return port.verdicts[index]; }));
  }
  for (std::size_t event = 0; event < totals.flow_events.size(); ++event) {
    views.push_back({.name = std::string(lb::kFlowEventNames[event]),
                     .description = kFlowEventHelp[event],
                     .value = totals.flow_events[event],
                     .by_port = {}});
  }
  std::ranges::sort(views, {}, &CounterView::name);
  return views;
}

}  // namespace penstock::control

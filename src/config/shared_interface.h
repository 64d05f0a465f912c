// Ports that are queues of one network interface: AF_XDP devices, one for each queue.

#ifndef PENSTOCK_SRC_CONFIG_SHARED_INTERFACE_H_
#define PENSTOCK_SRC_CONFIG_SHARED_INTERFACE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "penstock/config/host_config.h"
#include "penstock/config/violation.h"

namespace penstock::config {

// The first port in front of `port` that opens the same interface by queues; nullopt if there is
// none. REQUIRES: port < ports.size().
[[nodiscard]] std::optional<std::size_t> FirstOfInterface(const std::vector<PortConfig>& ports,
                                                          std::size_t port);

// Ports of one interface open different queues, and are the same otherwise: which queue a packet
// comes to, ARP and neighbor discovery too, is the kernel's choice.
void CheckSharedInterfaces(const std::vector<PortConfig>& ports, Violations& violations);

}  // namespace penstock::config

#endif  // PENSTOCK_SRC_CONFIG_SHARED_INTERFACE_H_

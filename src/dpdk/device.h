// The text that names a device: a PCI address, or a virtual device with arguments.

#ifndef PENSTOCK_DPDK_DEVICE_H_
#define PENSTOCK_DPDK_DEVICE_H_

#include <optional>
#include <string>
#include <string_view>

namespace penstock::dpdk {

// "0000:3b:00.0"
[[nodiscard]] bool IsPciAddress(std::string_view device);
// What DPDK calls it: the PCI address, or "net_af_packet0" of "net_af_packet0,iface=eth0".
[[nodiscard]] std::string DeviceName(std::string_view device);
// "net_af_packet" of "net_af_packet0,iface=eth0".
[[nodiscard]] std::string_view DriverOf(std::string_view virtual_device);
// VALUE of "name,KEY=VALUE,...".
[[nodiscard]] std::optional<std::string> DeviceArgument(std::string_view device,
                                                        std::string_view key);

}  // namespace penstock::dpdk

#endif  // PENSTOCK_DPDK_DEVICE_H_

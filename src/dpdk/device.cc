#include "dpdk/device.h"

#include <cctype>

namespace penstock::dpdk {

bool IsPciAddress(std::string_view device) {
  // Domain, bus, device and function in hexadecimal digits.
  constexpr std::string_view kShape = "xxxx:xx:xx.x";
  if (device.size() != kShape.size()) return false;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool digit = std::isxdigit(static_cast<unsigned char>(device[i])) != 0;
    if (kShape[i] == 'x' ? !digit : device[i] != kShape[i]) return false;
  }
  return true;
}

std::string DeviceName(std::string_view device) {
  return std::string(device.substr(0, device.find(',')));
}

std::string_view DriverOf(std::string_view virtual_device) {
  const std::string_view name = virtual_device.substr(0, virtual_device.find(','));
  return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

std::optional<std::string> DeviceArgument(std::string_view device, std::string_view key) {
  std::size_t comma = device.find(',');
  while (comma != std::string_view::npos) {
    device.remove_prefix(comma + 1);
    comma = device.find(',');
    const std::string_view argument = device.substr(0, comma);
    const std::size_t equals = argument.find('=');
    if (equals != std::string_view::npos && argument.substr(0, equals) == key) {
      return std::string(argument.substr(equals + 1));
    }
  }
  return std::nullopt;
}

}  // namespace penstock::dpdk

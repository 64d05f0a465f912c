// Files into checked structs: YAML, schema and sense in one call, all mistakes in one list.

#ifndef PENSTOCK_CONFIG_LOAD_H_
#define PENSTOCK_CONFIG_LOAD_H_

#include <string>
#include <string_view>
#include <vector>

#include "penstock/config/host_config.h"
#include "penstock/config/services_config.h"
#include "penstock/config/source_map.h"

namespace penstock::config {

// `value` may be used only when ok().
template <typename T>
struct Loaded {
  T value;
  // One line for each mistake, ready to print: "file:line:col path: reason". A file that cannot be
  // read is one line "file: reason".
  std::vector<std::string> errors;
  // Turns violations that a daemon reports for this configuration into lines of the file.
  SourceMap source;

  [[nodiscard]] bool ok() const { return errors.empty(); }
};

// penstockd.yaml.
[[nodiscard]] Loaded<HostConfig> LoadHostConfig(const std::string& path);
// `file_name` is only for messages.
[[nodiscard]] Loaded<HostConfig> ParseHostConfig(std::string_view text, std::string_view file_name);

// A services file. Both `pools` and `services` have to be written: an empty list is a legal wish, a
// missing one is more likely a truncated file.
[[nodiscard]] Loaded<ServicesConfig> LoadServicesConfig(const std::string& path);
[[nodiscard]] Loaded<ServicesConfig> ParseServicesConfig(std::string_view text,
                                                         std::string_view file_name);

}  // namespace penstock::config

#endif  // PENSTOCK_CONFIG_LOAD_H_

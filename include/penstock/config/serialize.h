// Services configurations into bytes and back: what is kept on disk.

#ifndef PENSTOCK_CONFIG_SERIALIZE_H_
#define PENSTOCK_CONFIG_SERIALIZE_H_

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "penstock/config/services_config.h"

namespace penstock::config {

// All of it, backends' states and the seed included, as a penstock.v1.StoredConfig. Equal
// configurations give equal bytes. REQUIRES: its texts are UTF-8, as all that was read is.
[[nodiscard]] std::string Serialize(const ServicesConfig& config);

// The configuration that `bytes` came from; keys that its writer did not know have their defaults.
// Any bytes are safe, and a part of the bytes is an error. INVALID_ARGUMENT names what is wrong:
// bytes that are no configuration, or the path of the first thing that this release does not know
// (a later release wrote it) or cannot read. Values are not checked for sense: see validate.h.
[[nodiscard]] absl::StatusOr<ServicesConfig> Deserialize(std::string_view bytes);

}  // namespace penstock::config

#endif  // PENSTOCK_CONFIG_SERIALIZE_H_

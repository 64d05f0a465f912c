#include "daemon/services_file.h"

#include "penstock/config/validate.h"

namespace penstock::daemon {

config::Loaded<config::ServicesConfig> LoadServicesFile(const config::HostConfig& host) {
  config::Loaded<config::ServicesConfig> loaded = config::LoadServicesConfig(host.services_file);
  if (loaded.ok()) {
    loaded.errors = loaded.source.Format(config::ValidateAgainstHost(loaded.value, host));
  }
  return loaded;
}

}  // namespace penstock::daemon

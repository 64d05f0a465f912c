#include "config/rules.h"
#include "config/text.h"
#include "penstock/config/validate.h"

namespace penstock::config {
namespace {

constexpr std::size_t kMaxSeedBytes = 255;

}  // namespace

Violations Validate(const ServicesConfig& config) {
  Violations violations;
  if (config.hash.seed.size() > kMaxSeedBytes) {
    violations.push_back({"hash.seed", Concat("is longer than ", kMaxSeedBytes, " bytes")});
  }
  CheckPools(config, violations);
  CheckServices(config, violations);
  CheckVips(config, violations);
  CheckPorts(config, violations);
  CheckSources(config, violations);
  return violations;
}

}  // namespace penstock::config

// What wrapping adds to the packets of a service.

#ifndef PENSTOCK_SRC_CONFIG_OVERHEADS_H_
#define PENSTOCK_SRC_CONFIG_OVERHEADS_H_

#include <optional>
#include <vector>

#include "config/rules.h"
#include "penstock/config/services_config.h"
#include "penstock/net/address.h"

namespace penstock::config {

struct WorstOverhead {
  int bytes = 0;
  net::Family backend{};  // whose outer header it is
};

// Knows the backends' families of all pools of a configuration, which has to outlive it.
class Overheads {
 public:
  explicit Overheads(const ServicesConfig& config);

  // The largest that a backend of the service's pool causes; nullopt without backends.
  [[nodiscard]] std::optional<WorstOverhead> Of(const Service& service) const;
  [[nodiscard]] bool HasBackends(const Service& service) const;
  [[nodiscard]] bool HasBackends(const Service& service, net::Family family) const;

 private:
  struct Families {
    bool v4 = false;
    bool v6 = false;
  };

  [[nodiscard]] Families FamiliesOf(const Service& service) const;

  PoolPositions positions_;
  std::vector<Families> families_;  // by the pool's position
};

}  // namespace penstock::config

#endif  // PENSTOCK_SRC_CONFIG_OVERHEADS_H_

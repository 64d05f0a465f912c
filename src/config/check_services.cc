#include <algorithm>
#include <optional>

#include "absl/strings/str_join.h"
#include "config/names.h"
#include "config/rules.h"
#include "config/text.h"

namespace penstock::config {
namespace {

// Good names in the order of the file, each once.
std::vector<std::string> KnownNames(const ServicesConfig& config, const PoolPositions& positions) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < config.pools.size(); ++i) {
    const std::string& name = config.pools[i].name;
    if (!NameProblem(name) && positions.at(name) == i) names.push_back(name);
  }
  return names;
}

std::string NoPool(const std::string& name, const std::vector<std::string>& known) {
  constexpr std::ptrdiff_t kShown = 10;
  std::string reason = Concat("there is no pool ", QuoteShort(name));
  if (const auto nearest = Nearest(name, known)) {
    ConcatTo(reason, "; did you mean \"", *nearest, "\"?");
  } else if (!known.empty()) {
    const auto shown = known.begin() + std::min(std::ssize(known), kShown);
    ConcatTo(reason, "; known: ", absl::StrJoin(known.begin(), shown, ", "),
             shown == known.end() ? "" : ", ...");
  }
  return reason;
}

void CheckIdle(std::chrono::seconds timeout, std::size_t index, std::string_view field,
               Violations& violations) {
  if (timeout >= kMinIdleTimeout && timeout <= kMaxIdleTimeout) return;
  violations.push_back({ServicePath(index, field), "is not in 1s..8h"});
}

void CheckRate(uint32_t rate, std::size_t index, std::string_view field, Violations& violations) {
  if (rate <= kMaxRate) return;
  violations.push_back({ServicePath(index, field), Concat(rate, " is not in 0..", kMaxRate)});
}

// A datagram begins a flow if it makes an entry: without one, each would count.
void CheckLimitOfUdp(const Service& service, std::size_t index, Violations& violations) {
  const bool limited = service.rate_limit.per_source != 0 || service.rate_limit.total != 0;
  if (service.protocol != Protocol::kUdp || service.tracking == Tracking::kFull || !limited) return;
  violations.push_back({ServicePath(index, "rate_limit"),
                        "new UDP flows are told by their entries: needs tracking: full"});
}

}  // namespace

void CheckServices(const ServicesConfig& config, Violations& violations) {
  const PoolPositions positions = PositionsOf(config.pools);
  const std::vector<std::string> known = KnownNames(config, positions);
  UniqueValues<std::string> names;
  for (std::size_t i = 0; i < config.services.size(); ++i) {
    const Service& service = config.services[i];
    if (const auto problem = NameProblem(service.name)) {
      violations.push_back({ServicePath(i, "name"), *problem});
    } else {
      names.Add(service.name, ServicePath(i, "name"), violations);
    }
    if (service.pool.empty()) {
      violations.push_back({ServicePath(i, "pool"), "is required"});
    } else if (!positions.contains(service.pool)) {
      violations.push_back({ServicePath(i, "pool"), NoPool(service.pool, known)});
    }
    CheckIdle(service.idle_timeout.tcp, i, "idle_timeout.tcp", violations);
    CheckIdle(service.idle_timeout.udp, i, "idle_timeout.udp", violations);
    CheckRate(service.rate_limit.per_source, i, "rate_limit.per_source", violations);
    CheckRate(service.rate_limit.total, i, "rate_limit.total", violations);
    CheckLimitOfUdp(service, i, violations);
  }
}

}  // namespace penstock::config

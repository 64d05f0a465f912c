#include <map>
#include <optional>

#include "config/address_index.h"
#include "config/names.h"
#include "config/prefix.h"
#include "config/rules.h"
#include "config/schema.h"
#include "config/text.h"

namespace penstock::config {
namespace {

class SourcesValidator {
 public:
  SourcesValidator(const ServicesConfig& config, Violations& violations)
      : config_(config),
        violations_(violations),
        backends_(IndexBackends(config.pools)),
        vips_(IndexVips(config)) {}

  void CheckService(std::size_t index) {
    const Service& service = config_.services[index];
    if (service.outer_source_prefix) {
      if (auto problem = OuterProblem(service)) {
        violations_.push_back({ServicePath(index, "outer_source_prefix"), *std::move(problem)});
      }
    }
    CheckDeny(service, ServicePath(index, "deny"));
  }

 private:
  static PrefixIndex IndexVips(const ServicesConfig& config) {
    std::vector<PrefixIndex::Entry> entries;
    for (std::size_t i = 0; i < config.services.size(); ++i) {
      const net::IpPrefix& prefix = config.services[i].prefix;
      if (!VipProblem(prefix)) entries.push_back({.prefix = prefix, .item = i});
    }
    return PrefixIndex(std::move(entries));
  }

  std::optional<std::string> OuterProblem(const Service& service) {
    const net::IpPrefix& prefix = *service.outer_source_prefix;
    if (service.encapsulation == Encapsulation::kL2) {
      return "is of no use with encapsulation l2, which has no outer header";
    }
    if (auto problem = SourceProblem(prefix)) return problem;
    // Whatever a backend or router answers to the outer source would be taken for a client's
    // packet.
    if (const PrefixIndex::Entry* vip = vips_.FindIntersecting(prefix)) {
      return Concat(PrefixText(prefix), " has addresses in common with ", PrefixText(vip->prefix),
                    ", the VIP of service ", config_.services[vip->item].name, " (",
                    ServicePath(vip->item), ")");
    }
    // Of whatever pool: we would send with a live host's address, and answer for it.
    const auto held = backends_.Within(prefix);
    if (held.empty()) return std::nullopt;
    return Concat(PrefixText(prefix), " holds ", held.front().address.ToString(), ", the backend ",
                  BackendPath(held.front().group, held.front().item), AndMore(held.size()));
  }

  void CheckDeny(const Service& service, const std::string& path) {
    if (service.deny.size() > kMaxDenyPerService) {
      violations_.push_back(
          {path, Concat(service.deny.size(), " prefixes are more than ", kMaxDenyPerService)});
    }
    std::map<net::IpPrefix, std::size_t> first;
    for (std::size_t i = 0; i < service.deny.size(); ++i) {
      const net::IpPrefix& prefix = service.deny[i];
      std::optional<std::string> problem = DenyProblem(prefix, service);
      if (!problem) {
        const auto [same, added] = first.try_emplace(prefix, i);
        if (!added) problem = "is the same as " + Item(path, same->second);
      }
      if (problem) violations_.push_back({Item(path, i), *std::move(problem)});
    }
  }

  static std::optional<std::string> DenyProblem(const net::IpPrefix& prefix,
                                                const Service& service) {
    if (auto problem = NetworkProblem(prefix)) return problem;
    const net::IpAddress& vip = service.prefix.address;
    if (VipProblem(service.prefix) || vip.family == prefix.address.family) return std::nullopt;
    return Concat(PrefixText(prefix), " is IPv", prefix.address.IsV4() ? 4 : 6,
                  ", and the clients of an IPv", vip.IsV4() ? 4 : 6, " service are not");
  }

  const ServicesConfig& config_;
  Violations& violations_;
  const AddressIndex backends_;
  const PrefixIndex vips_;
};

}  // namespace

void CheckSources(const ServicesConfig& config, Violations& violations) {
  SourcesValidator validator(config, violations);
  for (std::size_t i = 0; i < config.services.size(); ++i) validator.CheckService(i);
}

}  // namespace penstock::config

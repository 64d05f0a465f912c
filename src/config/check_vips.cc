#include <map>
#include <optional>

#include "config/address_index.h"
#include "config/names.h"
#include "config/prefix.h"
#include "config/rules.h"
#include "config/schema.h"
#include "config/text.h"
#include "penstock/config/validate.h"

namespace penstock::config {
namespace {

// A wrapped packet for such a backend would come straight back as one for the VIP. Pools without a
// service count too: flows of a service that has left a pool go on.
std::optional<std::string> HeldBackend(const net::IpPrefix& prefix, const AddressIndex& backends) {
  const auto held = backends.Within(prefix);
  if (held.empty()) return std::nullopt;
  const AddressIndex::Entry& first = held.front();
  const std::string path = BackendPath(first.group, first.item);
  if (prefix.length == Bits(prefix.address)) {
    return Concat(first.address.ToString(), " is also the backend ", path);
  }
  return Concat(PrefixText(prefix), " holds ", first.address.ToString(), ", the backend ", path,
                AndMore(held.size()));
}

std::string EchoName(IcmpEcho echo) {
  switch (echo) {
    case IcmpEcho::kReply:
      return "reply";
    case IcmpEcho::kForward:
      return "forward";
    case IcmpEcho::kDrop:
      break;
  }
  return "drop";
}

void CheckEcho(const ServicesConfig& config, Violations& violations) {
  std::map<net::IpPrefix, std::size_t> first_by_prefix;
  for (std::size_t i = 0; i < config.services.size(); ++i) {
    const Service& service = config.services[i];
    if (!service.icmp_echo || VipProblem(service.prefix)) continue;
    const std::size_t other = first_by_prefix.try_emplace(service.prefix, i).first->second;
    const Service& first = config.services[other];
    if (service.icmp_echo == first.icmp_echo) continue;
    violations.push_back(
        {ServicePath(i, "icmp_echo"),
         Concat("service ", service.name, " says ", EchoName(*service.icmp_echo), " and service ",
                first.name, " (", ServicePath(other), ") says ", EchoName(*first.icmp_echo),
                " for pings of ", PrefixText(service.prefix))});
  }
}

}  // namespace

EchoPolicies::EchoPolicies(const ServicesConfig& config) {
  for (const Service& service : config.services) {
    if (service.icmp_echo) by_prefix_.try_emplace(service.prefix, *service.icmp_echo);
  }
}

IcmpEcho EchoPolicies::Of(const net::IpPrefix& prefix) const {
  const auto found = by_prefix_.find(prefix);
  return found == by_prefix_.end() ? IcmpEcho::kReply : found->second;
}

void CheckVips(const ServicesConfig& config, Violations& violations) {
  const AddressIndex backends = IndexBackends(config.pools);
  for (std::size_t i = 0; i < config.services.size(); ++i) {
    const net::IpPrefix& prefix = config.services[i].prefix;
    std::optional<std::string> problem = VipProblem(prefix);
    if (!problem) problem = HeldBackend(prefix, backends);
    if (problem) violations.push_back({ServicePath(i, "address"), *std::move(problem)});
  }
  CheckEcho(config, violations);
}

}  // namespace penstock::config

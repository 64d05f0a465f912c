#include <algorithm>
#include <map>

#include "config/overheads.h"
#include "config/prefix.h"
#include "config/rules.h"
#include "config/schema.h"
#include "config/text.h"
#include "penstock/config/validate.h"

namespace penstock::config {
namespace {

constexpr uint32_t kAdvisedSlotsPerBackend = 100;
// What clients send at most: the MTU of Ethernet, and of the Internet for most.
constexpr int kClientMtu = 1500;

void WarnAboutPool(const Pool& pool, const std::string& path, Violations& warnings) {
  const auto weighted = std::count_if(pool.backends.begin(), pool.backends.end(),
                                      [](const Backend& backend) { return backend.weight > 0; });
  const uint64_t advised = static_cast<uint64_t>(weighted) * kAdvisedSlotsPerBackend;
  if (advised > pool.table_size) {
    warnings.push_back(
        {Below(path, "table_size"),
         Concat(pool.table_size, " slots are few for ", weighted, " backends; at least ", advised,
                " keep the shares close to the weights")});
  }
  if (weighted == 0) {
    warnings.push_back({Below(path, "backends"), "none has a weight above 0: no new flows"});
  }
}

void WarnAboutService(const Service& service, std::size_t index, const Overheads& overheads,
                      Violations& warnings) {
  if (service.gue_udp_checksum == GueUdpChecksum::kZero &&
      service.encapsulation != Encapsulation::kGue) {
    warnings.push_back({ServicePath(index, "gue_udp_checksum"),
                        "zero has no effect: the encapsulation is not gue"});
  }
  const RateLimit& limit = service.rate_limit;
  if (limit.total != 0 && limit.per_source > limit.total) {
    warnings.push_back(
        {ServicePath(index, "rate_limit.per_source"),
         Concat(limit.per_source, " has no effect: it is above the total, ", limit.total)});
  }
  if (!service.outer_source_prefix || !overheads.HasBackends(service)) return;
  const net::Family family = service.outer_source_prefix->address.family;
  if (overheads.HasBackends(service, family)) return;
  warnings.push_back(
      {ServicePath(index, "outer_source_prefix"),
       Concat(PrefixText(*service.outer_source_prefix), " has no effect: no backend of pool ",
              service.pool, " is IPv", family == net::Family::kIpv4 ? 4 : 6)});
}

// Services whose worst overhead is the same.
struct Users {
  std::size_t first = 0;
  std::size_t count = 0;
};

std::map<int, Users> UsersByOverhead(const ServicesConfig& config) {
  const Overheads overheads(config);
  std::map<int, Users> users;
  for (std::size_t i = 0; i < config.services.size(); ++i) {
    const auto overhead = overheads.Of(config.services[i]);
    if (!overhead) continue;
    Users& same = users.try_emplace(overhead->bytes, Users{.first = i}).first->second;
    ++same.count;
  }
  return users;
}

// "port uplink", "ports left, right".
std::map<int, std::string> PortsByMtu(const HostConfig& host) {
  std::map<int, std::vector<std::string_view>> names;
  for (const PortConfig& port : host.dataplane.ports) names[port.mtu].push_back(port.name);
  std::map<int, std::string> texts;
  for (const auto& [mtu, same] : names) {
    std::string& text = texts[mtu] = same.size() == 1 ? "port " : "ports ";
    for (const std::string_view name : same) {
      ConcatTo(text, name.data() == same.front().data() ? "" : ", ", name);
    }
  }
  return texts;
}

}  // namespace

Violations Warnings(const ServicesConfig& config) {
  Violations warnings;
  if (config.hash.seed.empty()) {
    warnings.push_back({"hash.seed", "is empty: clients can aim their flows at one backend"});
  }
  for (std::size_t i = 0; i < config.pools.size(); ++i) {
    WarnAboutPool(config.pools[i], Item("pools", i), warnings);
  }
  const Overheads overheads(config);
  for (std::size_t i = 0; i < config.services.size(); ++i) {
    WarnAboutService(config.services[i], i, overheads, warnings);
  }
  return warnings;
}

Violations WarningsAgainstHost(const ServicesConfig& config, const HostConfig& host) {
  Violations warnings;
  const std::map<int, std::string> ports = PortsByMtu(host);
  for (const auto& [overhead, users] : UsersByOverhead(config)) {
    for (const auto& [mtu, names] : ports) {
      if (mtu >= kClientMtu + overhead) continue;
      warnings.push_back(
          {ServicePath(users.first, "encapsulation"),
           Concat(names, ": MTU ", mtu, " leaves ", mtu - overhead,
                  " bytes for clients' packets of service ", config.services[users.first].name,
                  AndMore(users.count),
                  ": bigger ones are answered with ICMP \"too big\"; raise the port's and fabric's "
                  "MTU to ",
                  kClientMtu + overhead, ", or lower the MSS on the backends (see docs/MTU.md)")});
    }
  }
  return warnings;
}

}  // namespace penstock::config

#include "control/snapshot.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "penstock/config/validate.h"

namespace penstock::control {
namespace {

using Variant = std::pair<std::string_view, config::OnNoBackend>;
using PoolIndices = std::map<Variant, uint32_t>;

lb::SlotHash ToLb(config::HashKind kind) {
  switch (kind) {
    case config::HashKind::kFiveTuple:
      return lb::SlotHash::kFiveTuple;
    case config::HashKind::kSourceAddress:
      return lb::SlotHash::kSourceAddress;
    case config::HashKind::kSourceAddressPort:
      return lb::SlotHash::kSourceAddressPort;
  }
  return lb::SlotHash::kFiveTuple;
}

lb::Encapsulation ToLb(config::Encapsulation encapsulation) {
  switch (encapsulation) {
    case config::Encapsulation::kIpip:
      return lb::Encapsulation::kIpip;
    case config::Encapsulation::kGre:
      return lb::Encapsulation::kGre;
    case config::Encapsulation::kGue:
      return lb::Encapsulation::kGue;
    case config::Encapsulation::kL2:
      return lb::Encapsulation::kL2;
  }
  return lb::Encapsulation::kIpip;
}

lb::IcmpEcho ToLb(config::IcmpEcho echo) {
  switch (echo) {
    case config::IcmpEcho::kReply:
      return lb::IcmpEcho::kReply;
    case config::IcmpEcho::kForward:
      return lb::IcmpEcho::kForward;
    case config::IcmpEcho::kDrop:
      return lb::IcmpEcho::kDrop;
  }
  return lb::IcmpEcho::kReply;
}

lb::Tracking ToLb(config::Tracking tracking) {
  switch (tracking) {
    case config::Tracking::kFull:
      return lb::Tracking::kFull;
    case config::Tracking::kTransitionOnly:
      return lb::Tracking::kTransitionOnly;
    case config::Tracking::kNone:
      return lb::Tracking::kNone;
  }
  return lb::Tracking::kFull;
}

uint16_t ToTicks(std::chrono::seconds timeout) {
  return static_cast<uint16_t>(timeout / base::kTickLength);
}

lb::EgressPort ToEgress(const config::PortConfig& port) {
  return {.addresses = port.addresses,
          .reaches_v4 = config::Reaches(port, net::Family::kIpv4),
          .reaches_v6 = config::Reaches(port, net::Family::kIpv6),
          .mtu = port.mtu};
}

lb::ServiceTableSpec::PoolSpec ToPoolSpec(std::shared_ptr<const lb::PoolTable> table,
                                          const PoolIdentities& identities) {
  lb::ServiceTableSpec::PoolSpec spec;
  for (const lb::PoolMember& member : table->members()) {
    BackendIdentity& identity = *identities.at(member.address);
    spec.ids.push_back(identity.id);
    spec.counters.push_back(identity.counters.get());
    spec.paths.push_back(&identity.path);
  }
  spec.table = std::move(table);
  return spec;
}

// A pool that no service uses is there too: flows of a service that has left it go on.
PoolIndices AddPools(const RunningState& state, lb::ServiceTableSpec& spec) {
  PoolIndices indices;
  const auto add = [&](std::string_view name, config::OnNoBackend variant, const auto& table,
                       const PoolIdentities& identities) {
    indices[{name, variant}] = static_cast<uint32_t>(spec.pools.size());
    spec.pools.push_back(ToPoolSpec(table, identities));
  };
  for (const auto& [name, tables] : state.tables) {
    const PoolIdentities& identities = state.identities.pools.find(name)->second;
    if (tables.drop_in_use || tables.use_all == nullptr) {
      add(name, config::OnNoBackend::kDrop, tables.drop, identities);
    }
    if (tables.use_all != nullptr) {
      add(name, config::OnNoBackend::kUseAll, tables.use_all, identities);
    }
    for (const auto& [address, identity] : identities) spec.keep_alive.push_back(identity);
  }
  return indices;
}

lb::VipEntry ToVipEntry(const config::Service& service, config::IcmpEcho echo) {
  lb::VipEntry vip;
  vip.prefix = service.prefix;
  vip.protocol = service.protocol == config::Protocol::kTcp ? net::kProtocolTcp : net::kProtocolUdp;
  for (const config::PortRange& range : service.ports) {
    vip.ports.push_back({range.first, range.last});
  }
  vip.echo = ToLb(echo);
  return vip;
}

lb::ServiceTableSpec::ServiceSpec ToServiceSpec(const config::Service& service,
                                                const ServiceIdentity& identity, uint32_t pool,
                                                config::IcmpEcho echo) {
  const bool checksum = service.gue_udp_checksum == config::GueUdpChecksum::kComputed;
  return {.vip = ToVipEntry(service, echo),
          .service = {.id = identity.id,
                      .pool = pool,
                      .hash = ToLb(service.hash),
                      .encapsulation = ToLb(service.encapsulation),
                      .gue_checksum = checksum,
                      .steer_fragments = service.fragments == config::Fragments::kSteer,
                      .tcp_idle_timeout = ToTicks(service.idle_timeout.tcp),
                      .udp_idle_timeout = ToTicks(service.idle_timeout.udp),
                      .tracking = ToLb(service.tracking),
                      .new_flow_rate = {.per_source = service.rate_limit.per_source,
                                        .total = service.rate_limit.total},
                      .new_flows = identity.new_flows.get()},
          .deny = service.deny,
          .outer_source = service.outer_source_prefix};
}

}  // namespace

std::shared_ptr<const lb::ServiceTable> MakeSnapshot(const RunningState& state,
                                                     const config::HostConfig& host) {
  lb::ServiceTableSpec spec;
  spec.key = state.key;
  spec.generation = state.generation;
  for (const config::PortConfig& port : host.dataplane.ports) spec.ports.push_back(ToEgress(port));
  const PoolIndices pools = AddPools(state, spec);
  const config::EchoPolicies echo(state.config);
  for (const config::Service& service : state.config.services) {
    const uint32_t pool = pools.at({service.pool, service.on_no_backend});
    const auto& identity = state.identities.services.find(service.name)->second;
    spec.services.push_back(ToServiceSpec(service, *identity, pool, echo.Of(service.prefix)));
    spec.keep_alive.push_back(identity);
  }
  return std::make_shared<const lb::ServiceTable>(std::move(spec));
}

}  // namespace penstock::control

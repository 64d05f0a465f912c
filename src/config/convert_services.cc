#include "config/convert_duration.h"
#include "config/enums.h"
#include "config/prefix.h"
#include "config/schema.h"
#include "config/text.h"
#include "penstock/config/convert.h"
#include "penstock/config/validate.h"

namespace penstock::config {
namespace {

void ReadAddress(const std::string& text, const std::string& path, net::IpAddress& address,
                 Violations& violations) {
  if (text.empty()) {
    violations.push_back({path, "is required"});
  } else if (const auto parsed = net::IpAddress::Parse(text)) {
    address = *parsed;
  } else {
    violations.push_back({path, Concat("is not an IP address: ", QuoteShort(text))});
  }
}

// Stands where no prefix could be read. No prefix has this length, so later checks pass over it.
constexpr net::IpPrefix kNoPrefix{.address = {}, .length = 0xFF};

// An address, or "ADDRESS/LENGTH".
net::IpPrefix ReadPrefix(const std::string& text, const std::string& path, Violations& violations) {
  const auto prefix = net::IpPrefix::Parse(text);
  if (prefix) return *prefix;
  violations.push_back(
      {path, Concat("is not an IP address or a prefix such as 192.0.2.0/24: ", QuoteShort(text))});
  return kNoPrefix;
}

net::IpPrefix ReadVip(const std::string& text, const std::string& path, Violations& violations) {
  if (!text.empty()) return ReadPrefix(text, path, violations);
  violations.push_back({path, "is required"});
  return kNoPrefix;
}

PortRange ReadPorts(const v1::PortRange& range, const std::string& path, Violations& violations) {
  constexpr uint32_t kLastPort = 65535;
  const auto outside = [](uint32_t port) { return port == 0 || port > kLastPort; };
  if (outside(range.first()) || outside(range.last())) {
    const uint32_t port = outside(range.first()) ? range.first() : range.last();
    violations.push_back({path, Concat(port, " is not in 1..65535")});
    // No port, and in its place: the indexes of those behind it are those of the file.
    return {};
  }
  return {.first = static_cast<uint16_t>(range.first()),
          .last = static_cast<uint16_t>(range.last())};
}

// `range` is what Validate asks for.
void ReadSeconds(bool has, const google::protobuf::Duration& message, const std::string& path,
                 std::string_view range, std::chrono::seconds& seconds, Violations& violations) {
  if (has && !ReadWhole(message, seconds)) {
    violations.push_back({path, Concat("has to be a whole number of seconds, ", range)});
  }
}

void ReadIdle(const v1::IdleTimeout& message, const std::string& path, IdleTimeout& timeout,
              Violations& violations) {
  constexpr std::string_view kRange = "1s to 8h";
  ReadSeconds(message.has_tcp(), message.tcp(), Below(path, "tcp"), kRange, timeout.tcp,
              violations);
  ReadSeconds(message.has_udp(), message.udp(), Below(path, "udp"), kRange, timeout.udp,
              violations);
}

Backend ReadBackend(const v1::Backend& message, const std::string& path, Violations& violations) {
  Backend backend;
  ReadAddress(message.address(), Below(path, "address"), backend.address, violations);
  if (message.has_weight()) backend.weight = message.weight();
  backend.name = message.name();
  backend.labels.insert(message.labels().begin(), message.labels().end());
  AdminState state{};
  ReadEnum(kAdminStates, message.state(), state);
  if (message.state() != v1::ADMIN_STATE_UNSPECIFIED) backend.state = state;
  return backend;
}

Pool ReadPool(const v1::Pool& message, const std::string& path, Violations& violations) {
  Pool pool;
  pool.name = message.name();
  if (message.has_table_size()) pool.table_size = message.table_size();
  ReadSeconds(message.has_transition(), message.transition(), Below(path, "transition"),
              "0s to 24h", pool.transition, violations);
  pool.backends.reserve(static_cast<std::size_t>(message.backends_size()));
  for (const v1::Backend& backend : message.backends()) {
    const std::string below = Item(Below(path, "backends"), pool.backends.size());
    pool.backends.push_back(ReadBackend(backend, below, violations));
  }
  return pool;
}

// Where clients' packets may come from, and where the outer ones come from.
void ReadSources(const v1::Service& message, const std::string& path, Service& service,
                 Violations& violations) {
  if (!message.outer_source_prefix().empty()) {
    service.outer_source_prefix =
        ReadPrefix(message.outer_source_prefix(), Below(path, "outer_source_prefix"), violations);
  }
  for (const std::string& text : message.deny()) {
    const std::string below = Item(Below(path, "deny"), service.deny.size());
    service.deny.push_back(ReadPrefix(text, below, violations));
  }
}

void ReadEnums(const v1::Service& message, Service& service) {
  ReadEnum(kProtocols, message.protocol(), service.protocol);
  ReadEnum(kEncapsulations, message.encapsulation(), service.encapsulation);
  ReadEnum(kHashKinds, message.hash(), service.hash);
  ReadEnum(kOnNoBackends, message.on_no_backend(), service.on_no_backend);
  ReadEnum(kFragments, message.fragments(), service.fragments);
  ReadEnum(kTrackings, message.tracking(), service.tracking);
  ReadEnum(kGueUdpChecksums, message.gue_udp_checksum(), service.gue_udp_checksum);
  IcmpEcho echo{};
  ReadEnum(kIcmpEchos, message.icmp_echo(), echo);
  if (message.icmp_echo() != v1::ICMP_ECHO_UNSPECIFIED) service.icmp_echo = echo;
}

Service ReadService(const v1::Service& message, const std::string& path, Violations& violations) {
  Service service;
  service.name = message.name();
  service.prefix = ReadVip(message.address(), Below(path, "address"), violations);
  if (message.protocol() == v1::PROTOCOL_UNSPECIFIED) {
    violations.push_back({Below(path, "protocol"), "is required: tcp or udp"});
  }
  ReadEnums(message, service);
  service.ports.reserve(static_cast<std::size_t>(message.ports_size()));
  for (const v1::PortRange& range : message.ports()) {
    const std::string below = Item(Below(path, "ports"), service.ports.size());
    service.ports.push_back(ReadPorts(range, below, violations));
  }
  service.pool = message.pool();
  ReadSources(message, path, service, violations);
  ReadIdle(message.idle_timeout(), Below(path, "idle_timeout"), service.idle_timeout, violations);
  service.rate_limit.per_source = message.rate_limit().per_source();
  service.rate_limit.total = message.rate_limit().total();
  return service;
}

}  // namespace

Violations FromProto(const v1::Config& message, ServicesConfig& config) {
  Violations violations;
  config = {};
  config.hash.seed = message.hash().seed();
  config.pools.reserve(static_cast<std::size_t>(message.pools_size()));
  config.services.reserve(static_cast<std::size_t>(message.services_size()));
  for (const v1::Pool& pool : message.pools()) {
    config.pools.push_back(ReadPool(pool, Item("pools", config.pools.size()), violations));
  }
  for (const v1::Service& service : message.services()) {
    const std::string path = Item("services", config.services.size());
    config.services.push_back(ReadService(service, path, violations));
  }
  Violations all = CheckSupported(message);
  AppendUnlessCovered(all, std::move(violations));
  return all;
}

Violations FromProtoAndValidate(const v1::Config& message, ServicesConfig& config) {
  Violations violations = FromProto(message, config);
  AppendUnlessCovered(violations, Validate(config));
  return violations;
}

v1::AdminState ToProto(AdminState state) {
  return WriteEnum(kAdminStates, state);
}

v1::Backend ToProto(const Backend& backend) {
  v1::Backend message;
  message.set_address(backend.address.ToString());
  message.set_weight(backend.weight);
  message.set_name(backend.name);
  message.mutable_labels()->insert(backend.labels.begin(), backend.labels.end());
  if (backend.state) message.set_state(ToProto(*backend.state));
  return message;
}

v1::Service ToProto(const Service& service) {
  v1::Service message;
  message.set_name(service.name);
  message.set_address(PrefixText(service.prefix));
  message.set_protocol(WriteEnum(kProtocols, service.protocol));
  for (const PortRange& ports : service.ports) {
    v1::PortRange* range = message.add_ports();
    range->set_first(ports.first);
    range->set_last(ports.last);
  }
  message.set_pool(service.pool);
  message.set_encapsulation(WriteEnum(kEncapsulations, service.encapsulation));
  message.set_hash(WriteEnum(kHashKinds, service.hash));
  message.set_on_no_backend(WriteEnum(kOnNoBackends, service.on_no_backend));
  WriteDuration(service.idle_timeout.tcp, *message.mutable_idle_timeout()->mutable_tcp());
  WriteDuration(service.idle_timeout.udp, *message.mutable_idle_timeout()->mutable_udp());
  if (service.icmp_echo) message.set_icmp_echo(WriteEnum(kIcmpEchos, *service.icmp_echo));
  message.set_fragments(WriteEnum(kFragments, service.fragments));
  message.set_tracking(WriteEnum(kTrackings, service.tracking));
  if (service.outer_source_prefix) {
    message.set_outer_source_prefix(PrefixText(*service.outer_source_prefix));
  }
  const bool gue = service.encapsulation == Encapsulation::kGue;
  if (gue || service.gue_udp_checksum != GueUdpChecksum::kComputed) {
    message.set_gue_udp_checksum(WriteEnum(kGueUdpChecksums, service.gue_udp_checksum));
  }
  for (const net::IpPrefix& prefix : service.deny) message.add_deny(PrefixText(prefix));
  message.mutable_rate_limit()->set_per_source(service.rate_limit.per_source);
  message.mutable_rate_limit()->set_total(service.rate_limit.total);
  return message;
}

v1::Config ToProto(const ServicesConfig& config) {
  v1::Config message;
  message.mutable_hash()->set_seed(config.hash.seed);
  for (const Pool& pool : config.pools) {
    v1::Pool* out = message.add_pools();
    out->set_name(pool.name);
    out->set_table_size(pool.table_size);
    WriteDuration(pool.transition, *out->mutable_transition());
    for (const Backend& backend : pool.backends) *out->add_backends() = ToProto(backend);
  }
  for (const Service& service : config.services) *message.add_services() = ToProto(service);
  return message;
}

}  // namespace penstock::config

// What the fleet forwards, as plain values. The same content as penstock.v1.Config, with addresses
// parsed and defaults filled in; what each value may be is checked by validate.h.

#ifndef PENSTOCK_CONFIG_SERVICES_CONFIG_H_
#define PENSTOCK_CONFIG_SERVICES_CONFIG_H_

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "penstock/net/address.h"

namespace penstock::config {

// What the operator wants of a backend, whatever its health.
enum class AdminState : uint8_t {
  kActive,    // takes new flows
  kDraining,  // keeps its flows and takes no new ones
  kDisabled,  // gets no packets at all; its flows are chosen anew
};

enum class Protocol : uint8_t { kTcp, kUdp };

// How packets reach the backend.
enum class Encapsulation : uint8_t {
  kIpip,
  kGre,
  kGue,
  kL2,  // the same packet to the backend's MAC; backends on a port's own segment only
};

// Who answers a ping of the virtual address.
enum class IcmpEcho : uint8_t {
  kReply,    // the balancer
  kForward,  // a backend
  kDrop,     // nobody
};

// UDP checksum of GUE when the outer header is IPv6; over IPv4 it is always zero.
enum class GueUdpChecksum : uint8_t { kComputed, kZero };

// What selects the slot of the pool's table. Flows are tracked by the 5-tuple whatever this says.
enum class HashKind : uint8_t {
  kFiveTuple,
  kSourceAddress,      // source address and VIP
  kSourceAddressPort,  // source address, source port and VIP
};

// When no backend of the pool is usable for new flows.
enum class OnNoBackend : uint8_t {
  kDrop,
  kUseAll,  // all active backends with a weight, whatever their health; else the draining ones
};

// What happens to IP fragments.
enum class Fragments : uint8_t {
  kSteer,  // all of a datagram follow its first one
  kDrop,
};

// Which flows are remembered.
enum class Tracking : uint8_t {
  kFull,            // every flow
  kTransitionOnly,  // only those of slots that changed hands lately
  kNone,            // none: the table alone decides
};

inline constexpr uint32_t kDefaultTableSize = 65537;
inline constexpr uint32_t kMaxTableSize = 5000011;
inline constexpr uint32_t kDefaultWeight = 100;
// The sum of the weights of a full pool still fits 32 bits.
inline constexpr uint32_t kMaxWeight = 65535;
inline constexpr uint32_t kMaxBackendsPerPool = 65534;
inline constexpr std::size_t kMaxDenyPerService = 1000;
inline constexpr std::chrono::seconds kMaxTransition{std::chrono::hours{24}};
// New flows a second.
inline constexpr uint32_t kMaxRate = 100'000'000;
inline constexpr std::chrono::seconds kMinIdleTimeout{1};
// Flow ages are 16-bit counts of seconds.
inline constexpr std::chrono::seconds kMaxIdleTimeout{std::chrono::hours{8}};

// A server that takes wrapped packets.
struct Backend {
  // Identifies the backend inside its pool. Its family is that of the outer header, and may differ
  // from the service's.
  net::IpAddress address{};

  // Share of new flows relative to the pool's other backends, 0 to kMaxWeight. 0: no new flows.
  uint32_t weight = kDefaultWeight;

  // Optional; unique in the pool when not empty.
  std::string name{};

  // Notes for people and dashboards; forwarding does not look at them.
  std::map<std::string, std::string> labels{};

  // nullopt: an apply leaves the present state alone, and a new backend starts active.
  std::optional<AdminState> state{};

  friend bool operator==(const Backend&, const Backend&) = default;
};

// A set of backends with one lookup table, used by any number of services.
struct Pool {
  // Unique and stable.
  std::string name{};

  // Slots of the lookup table: a prime, at least the number of backends.
  uint32_t table_size = kDefaultTableSize;

  // How long a slot that changed hands remembers its previous owner, 0 to kMaxTransition. 0:
  // adding, removing and re-weighting backends leaves no previous owners.
  std::chrono::seconds transition = std::chrono::minutes{5};

  // In the order of the file, which has no meaning: equal sets are equal pools for forwarding.
  std::vector<Backend> backends{};

  friend bool operator==(const Pool&, const Pool&) = default;
};

// Times without a packet after which a flow is forgotten.
struct IdleTimeout {
  std::chrono::seconds tcp = std::chrono::minutes{15};
  std::chrono::seconds udp{30};

  friend bool operator==(const IdleTimeout&, const IdleTimeout&) = default;
};

// New flows a second, each 0 (no limit) to kMaxRate. Counted in whole seconds; every worker of a
// host has an equal share of both. What is above is dropped.
struct RateLimit {
  // From one source address; an IPv6 source is its /64.
  uint32_t per_source = 0;

  // From all sources together.
  uint32_t total = 0;

  friend bool operator==(const RateLimit&, const RateLimit&) = default;
};

// Destination ports in host order, both ends included, 1 <= first <= last.
struct PortRange {
  uint16_t first = 0;
  uint16_t last = 0;

  friend auto operator<=>(const PortRange&, const PortRange&) = default;
};

// Virtual addresses, protocol and ports, and what happens to packets for them.
struct Service {
  // Unique and stable.
  std::string name{};

  // The virtual addresses (VIP), host bits zero; of full length for a single address.
  net::IpPrefix prefix{};

  Protocol protocol = Protocol::kTcp;

  // Empty: every port. Among the services of one prefix and protocol an exact port is there once,
  // ranges are disjoint, and one service has every port; the exact port wins over the range, the
  // range over every port.
  std::vector<PortRange> ports{};

  // Name of a pool of the same configuration.
  std::string pool{};

  Encapsulation encapsulation = Encapsulation::kIpip;

  HashKind hash = HashKind::kFiveTuple;

  OnNoBackend on_no_backend = OnNoBackend::kDrop;

  IdleTimeout idle_timeout{};

  // nullopt: what another service of the same prefix says; else reply. See EchoPolicies in
  // validate.h.
  std::optional<IcmpEcho> icmp_echo{};

  Fragments fragments = Fragments::kSteer;

  Tracking tracking = Tracking::kFull;

  // Where each flow's own outer source address comes from; nullopt: the port's address.
  std::optional<net::IpPrefix> outer_source_prefix{};

  GueUdpChecksum gue_udp_checksum = GueUdpChecksum::kComputed;

  // Sources whose packets are dropped: distinct prefixes of the family of `prefix`, host bits zero.
  std::vector<net::IpPrefix> deny{};

  // With protocol udp only together with tracking kFull: a UDP flow is known by its entry.
  RateLimit rate_limit{};

  friend bool operator==(const Service&, const Service&) = default;
};

// What has to be equal on every host for the same packet to reach the same backend.
struct Hash {
  // Key of the flow hash; secret. Any text up to 255 bytes; empty is legal and warned about.
  std::string seed{};

  friend bool operator==(const Hash&, const Hash&) = default;
};

// The whole desired configuration. Without pools and services it is legal.
struct ServicesConfig {
  Hash hash{};
  std::vector<Pool> pools{};
  std::vector<Service> services{};

  friend bool operator==(const ServicesConfig&, const ServicesConfig&) = default;
};

}  // namespace penstock::config

#endif  // PENSTOCK_CONFIG_SERVICES_CONFIG_H_

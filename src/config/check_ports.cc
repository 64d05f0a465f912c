#include <algorithm>
#include <compare>
#include <optional>
#include <span>

#include "config/names.h"
#include "config/rules.h"
#include "config/schema.h"
#include "config/text.h"

namespace penstock::config {
namespace {

enum class Kind : uint8_t { kExact, kRange, kEvery };

// Where a claim is written: "services[0].ports[1]"; of every port, "services[0].ports".
struct Place {
  std::size_t service = 0;
  std::size_t item = 0;

  friend auto operator<=>(const Place&, const Place&) = default;
};

// What one entry of a service's ports lays claim to. Claims of different kinds do not clash: the
// exact port wins over the range, the range over every port.
struct Claim {
  // 0; with a prefix that cannot be, the service's position + 1: it clashes with itself alone.
  std::size_t alone = 0;
  net::IpPrefix prefix{};
  Protocol protocol{};
  Kind kind{};
  PortRange range{};
  Place place{};

  friend auto operator<=>(const Claim&, const Claim&) = default;
};

std::string PathOf(const Claim& claim) {
  const std::string ports = ServicePath(claim.place.service, "ports");
  return claim.kind == Kind::kEvery ? ports : Item(ports, claim.place.item);
}

bool Clashes(const Claim& a, const Claim& b) {
  return a.alone == b.alone && a.prefix == b.prefix && a.protocol == b.protocol &&
         a.kind == b.kind && b.range.first <= a.range.last;
}

std::string Reason(const Claim& first) {
  switch (first.kind) {
    case Kind::kExact:
      return "is the same as " + PathOf(first);
    case Kind::kRange:
      return Concat("has ports in common with ", PathOf(first), ", ", first.range.first, "-",
                    first.range.last);
    case Kind::kEvery:
      break;
  }
  return "is every port, the same as " + PathOf(first);
}

// What is wrong with the range itself.
std::optional<std::string> RangeProblem(const PortRange& range) {
  if (range.first == 0 || range.last == 0) return "0 is not in 1..65535";
  if (range.first > range.last) return "begins after its end";
  return std::nullopt;
}

void AddClaims(const Service& service, std::size_t index, std::vector<Claim>& claims,
               Violations& violations) {
  Claim claim{.alone = VipProblem(service.prefix) ? index + 1 : 0,
              .prefix = service.prefix,
              .protocol = service.protocol,
              .place = {index, 0}};
  if (service.ports.empty()) {
    claim.kind = Kind::kEvery;
    claims.push_back(claim);
  }
  for (std::size_t i = 0; i < service.ports.size(); ++i) {
    claim.range = service.ports[i];
    claim.place.item = i;
    claim.kind = claim.range.first == claim.range.last ? Kind::kExact : Kind::kRange;
    if (auto problem = RangeProblem(claim.range)) {
      violations.push_back({Item(ServicePath(index, "ports"), i), *std::move(problem)});
    } else {
      claims.push_back(claim);
    }
  }
}

}  // namespace

void CheckPorts(const ServicesConfig& config, Violations& violations) {
  std::vector<Claim> claims;
  for (std::size_t i = 0; i < config.services.size(); ++i) {
    AddClaims(config.services[i], i, claims, violations);
  }
  std::ranges::sort(claims);
  // Of those that begin before the present one, the one that reaches farthest.
  const Claim* reach = nullptr;
  for (const Claim& claim : claims) {
    const bool clashes = reach != nullptr && Clashes(*reach, claim);
    if (clashes) {
      const auto& [first, second] = std::minmax(
          *reach, claim, [](const Claim& a, const Claim& b) { return a.place < b.place; });
      violations.push_back({PathOf(second), Reason(first)});
    }
    if (!clashes || claim.range.last > reach->range.last) reach = &claim;
  }
}

}  // namespace penstock::config

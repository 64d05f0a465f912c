#include <algorithm>
#include <array>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_join.h"
#include "config/names.h"
#include "config/schema.h"
#include "config/text.h"
#include "penstock/config/validate.h"

namespace penstock::config {
namespace {

constexpr std::size_t kMaxTextBytes = 255;
constexpr std::size_t kMaxLabels = 64;
constexpr uint32_t kAdvisedSlotsPerBackend = 100;

using AddressBytes = std::array<uint8_t, 17>;

// For hashing: family and bytes.
AddressBytes Key(const net::IpAddress& address) {
  AddressBytes key{};
  key[0] = static_cast<uint8_t>(address.family);
  std::copy(address.bytes.begin(), address.bytes.end(), key.begin() + 1);
  return key;
}

class ServicesValidator {
 public:
  explicit ServicesValidator(const ServicesConfig& config) : config_(config) {}

  Violations Run() {
    if (config_.hash.seed.size() > kMaxTextBytes) {
      Add("hash.seed", Concat("is longer than ", kMaxTextBytes, " bytes"));
    }
    for (std::size_t i = 0; i < config_.pools.size(); ++i) {
      CheckPool(config_.pools[i], Item("pools", i));
    }
    for (std::size_t i = 0; i < config_.services.size(); ++i) {
      CheckService(config_.services[i], Item("services", i));
    }
    return std::move(violations_);
  }

 private:
  using PortKey = std::tuple<AddressBytes, Protocol, uint16_t>;

  void Add(std::string path, std::string reason) {
    violations_.push_back({std::move(path), std::move(reason)});
  }

  // Whether `name` is good and new.
  bool CheckName(const std::string& name, const std::string& path,
                 UniqueValues<std::string>& unique) {
    if (const auto problem = NameProblem(name)) {
      Add(path, *problem);
      return false;
    }
    return unique.Add(name, path, violations_);
  }

  void CheckPool(const Pool& pool, const std::string& path) {
    if (CheckName(pool.name, Below(path, "name"), pool_names_)) known_pools_.push_back(pool.name);
    CheckTableSize(pool, Below(path, "table_size"));
    if (pool.backends.size() > kMaxBackendsPerPool) {
      Add(Below(path, "backends"),
          Concat(pool.backends.size(), " backends are more than ", kMaxBackendsPerPool));
    }
    UniqueValues<std::string> names;
    UniqueValues<AddressBytes> addresses;
    for (std::size_t i = 0; i < pool.backends.size(); ++i) {
      const Backend& backend = pool.backends[i];
      const std::string below = Item(Below(path, "backends"), i);
      if (!backend.name.empty()) CheckName(backend.name, Below(below, "name"), names);
      CheckBackend(backend, below);
      if (!backend.address.IsUnspecified()) {
        addresses.Add(Key(backend.address), Below(below, "address"), violations_);
      }
    }
  }

  void CheckTableSize(const Pool& pool, const std::string& path) {
    const uint32_t size = pool.table_size;
    if (size < 2 || size > kMaxTableSize) {
      return Add(path, Concat(size, " is not a prime from 2 to ", kMaxTableSize));
    }
    if (!IsPrime(size)) {
      uint32_t next = size;
      while (!IsPrime(next)) ++next;  // kMaxTableSize is one
      return Add(path, Concat(size, " is not a prime; the next one is ", next));
    }
    if (size < pool.backends.size()) {
      Add(path, Concat(size, " is below the number of backends, ", pool.backends.size()));
    }
  }

  void CheckBackend(const Backend& backend, const std::string& path) {
    if (const auto problem = AddressProblem(backend.address)) Add(Below(path, "address"), *problem);
    backend_paths_.try_emplace(Key(backend.address), path);
    if (backend.weight > kMaxWeight) {
      Add(Below(path, "weight"), Concat(backend.weight, " is not in 0..", kMaxWeight));
    }
    const std::string labels = Below(path, "labels");
    if (backend.labels.size() > kMaxLabels) {
      Add(labels, Concat(backend.labels.size(), " labels are more than ", kMaxLabels));
    }
    for (const auto& [key, value] : backend.labels) {
      if (const auto problem = NameProblem(key)) Add(Below(labels, key), "the key " + *problem);
      if (value.size() > kMaxTextBytes) {
        Add(Below(labels, key), Concat("is longer than ", kMaxTextBytes, " bytes"));
      }
    }
  }

  void CheckService(const Service& service, const std::string& path) {
    CheckName(service.name, Below(path, "name"), service_names_);
    CheckPoolOf(service, Below(path, "pool"));
    CheckVip(service, Below(path, "address"));
    CheckPorts(service, Below(path, "ports"));
    const std::string idle = Below(path, "idle_timeout");
    CheckIdle(service.idle_timeout.tcp, Below(idle, "tcp"));
    CheckIdle(service.idle_timeout.udp, Below(idle, "udp"));
  }

  void CheckPoolOf(const Service& service, const std::string& path) {
    if (service.pool.empty()) return Add(path, "is required");
    if (pool_names_.Contains(service.pool)) return;
    constexpr std::ptrdiff_t kShown = 10;
    std::string reason = Concat("there is no pool ", QuoteShort(service.pool));
    if (const auto nearest = Nearest(service.pool, known_pools_)) {
      ConcatTo(reason, "; did you mean \"", *nearest, "\"?");
    } else if (!known_pools_.empty()) {
      const auto shown = known_pools_.begin() + std::min(std::ssize(known_pools_), kShown);
      ConcatTo(reason, "; known: ", absl::StrJoin(known_pools_.begin(), shown, ", "),
               shown == known_pools_.end() ? "" : ", ...");
    }
    Add(path, std::move(reason));
  }

  void CheckVip(const Service& service, const std::string& path) {
    if (const auto problem = AddressProblem(service.address)) return Add(path, *problem);
    const auto backend = backend_paths_.find(Key(service.address));
    if (backend == backend_paths_.end()) return;
    // The wrapped packet would come straight back as one for the VIP.
    Add(path, Concat(service.address.ToString(), " is also the backend ", backend->second));
  }

  void CheckPorts(const Service& service, const std::string& path) {
    if (service.ports.empty()) Add(path, "is required");
    for (std::size_t i = 0; i < service.ports.size(); ++i) {
      const uint16_t port = service.ports[i];
      if (port == 0) {
        Add(Item(path, i), "0 is not in 1..65535");
      } else if (!service.address.IsUnspecified()) {
        ports_.Add({Key(service.address), service.protocol, port}, Item(path, i), violations_);
      }
    }
  }

  void CheckIdle(std::chrono::seconds timeout, const std::string& path) {
    if (timeout < kMinIdleTimeout || timeout > kMaxIdleTimeout) Add(path, "is not in 1s..8h");
  }

  const ServicesConfig& config_;
  Violations violations_;
  UniqueValues<std::string> pool_names_;
  std::vector<std::string> known_pools_;
  UniqueValues<std::string> service_names_;
  UniqueValues<PortKey> ports_;
  absl::flat_hash_map<AddressBytes, std::string> backend_paths_;
};

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

}  // namespace

bool IsPrime(uint32_t number) {
  if (number < 4) return number >= 2;
  if (number % 2 == 0) return false;
  for (uint64_t divisor = 3; divisor * divisor <= number; divisor += 2) {
    if (number % divisor == 0) return false;
  }
  return true;
}

Violations Validate(const ServicesConfig& config) {
  return ServicesValidator(config).Run();
}

Violations Warnings(const ServicesConfig& config) {
  Violations warnings;
  if (config.hash.seed.empty()) {
    warnings.push_back({"hash.seed", "is empty: clients can aim their flows at one backend"});
  }
  for (std::size_t i = 0; i < config.pools.size(); ++i) {
    WarnAboutPool(config.pools[i], Item("pools", i), warnings);
  }
  return warnings;
}

}  // namespace penstock::config

#include <algorithm>
#include <array>

#include "config/names.h"
#include "config/rules.h"
#include "config/schema.h"
#include "config/text.h"
#include "penstock/config/validate.h"

namespace penstock::config {
namespace {

constexpr std::size_t kMaxTextBytes = 255;
constexpr std::size_t kMaxLabels = 64;

using AddressBytes = std::array<uint8_t, 17>;

// For hashing: family and bytes.
AddressBytes Key(const net::IpAddress& address) {
  AddressBytes key{};
  key[0] = static_cast<uint8_t>(address.family);
  std::copy(address.bytes.begin(), address.bytes.end(), key.begin() + 1);
  return key;
}

class PoolsValidator {
 public:
  explicit PoolsValidator(Violations& violations) : violations_(violations) {}

  void CheckPool(const Pool& pool, const std::string& path) {
    CheckName(pool.name, Below(path, "name"), pool_names_);
    CheckTableSize(pool, Below(path, "table_size"));
    if (pool.transition < std::chrono::seconds{0} || pool.transition > kMaxTransition) {
      Add(Below(path, "transition"), "is not in 0s..24h");
    }
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

 private:
  void Add(std::string path, std::string reason) {
    violations_.push_back({std::move(path), std::move(reason)});
  }

  void CheckName(const std::string& name, const std::string& path,
                 UniqueValues<std::string>& unique) {
    if (const auto problem = NameProblem(name)) return Add(path, *problem);
    unique.Add(name, path, violations_);
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

  Violations& violations_;
  UniqueValues<std::string> pool_names_;
};

}  // namespace

bool IsPrime(uint32_t number) {
  if (number < 4) return number >= 2;
  if (number % 2 == 0) return false;
  for (uint64_t divisor = 3; divisor * divisor <= number; divisor += 2) {
    if (number % divisor == 0) return false;
  }
  return true;
}

void CheckPools(const ServicesConfig& config, Violations& violations) {
  PoolsValidator validator(violations);
  for (std::size_t i = 0; i < config.pools.size(); ++i) {
    validator.CheckPool(config.pools[i], Item("pools", i));
  }
}

}  // namespace penstock::config

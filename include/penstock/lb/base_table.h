// Who owns which slot by configuration alone: the Maglev table over addresses and weights, whatever
// the states.

#ifndef PENSTOCK_LB_BASE_TABLE_H_
#define PENSTOCK_LB_BASE_TABLE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "penstock/lb/flow_key.h"
#include "penstock/lb/maglev.h"
#include "penstock/net/address.h"

namespace penstock::lb {

struct WeightedAddress {
  net::IpAddress address;
  uint32_t weight = 100;

  friend bool operator==(const WeightedAddress&, const WeightedAddress&) = default;
};

// Immutable. Thread safety: any thread. Shared by the tables of all generations in which the pool
// has these members.
class BaseTable {
 public:
  struct Spec {
    std::vector<WeightedAddress> members;  // in canonical order: by address; unique
    uint32_t table_size = 65537;           // prime
    HashKey key;

    friend bool operator==(const Spec&, const Spec&) = default;
  };

  // REQUIRES: spec.table_size prime, <= kMaxTableSize, >= number of members; <= kMaxMembers
  // members.
  [[nodiscard]] static std::shared_ptr<const BaseTable> Build(Spec spec);

  [[nodiscard]] const Spec& spec() const { return spec_; }
  [[nodiscard]] const std::vector<WeightedAddress>& members() const { return spec_.members; }
  // Index into members(); kNoMember if all weights are 0.
  [[nodiscard]] MemberIndex owner(uint32_t slot) const { return owners_[slot]; }
  // By slot.
  [[nodiscard]] const std::vector<MemberIndex>& owners() const { return owners_; }
  // Slots of one can be compared with those of the other.
  [[nodiscard]] bool Comparable(const BaseTable& other) const {
    return spec_.table_size == other.spec_.table_size && spec_.key == other.spec_.key;
  }

 private:
  BaseTable(Spec spec, std::vector<MemberIndex> owners)
      : spec_(std::move(spec)), owners_(std::move(owners)) {}

  const Spec spec_;
  const std::vector<MemberIndex> owners_;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_BASE_TABLE_H_

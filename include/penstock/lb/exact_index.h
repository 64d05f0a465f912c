// An immutable-after-build hash index from exact keys to small numbers, one probe in most cases.

#ifndef PENSTOCK_LB_EXACT_INDEX_H_
#define PENSTOCK_LB_EXACT_INDEX_H_

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "penstock/lb/flow_key.h"

namespace penstock::lb {

// Open addressing with linear probing, at most a quarter full. `Key` has no padding.
template <typename Key>
class ExactIndex {
 public:
  static constexpr uint32_t kAbsent = UINT32_MAX;

  ExactIndex() = default;
  // Room for `capacity` keys.
  ExactIndex(std::size_t capacity, const HashKey& secret)
      : secret_(secret), cells_(std::bit_ceil(capacity * 4 + 4)) {}

  // REQUIRES: fewer than `capacity` keys so far; value != kAbsent. A key that is there keeps its
  // first value.
  void Insert(const Key& key, uint32_t value) {
    Cell& cell = cells_[Position(key)];
    if (cell.value == kAbsent) cell = {key, value};
  }
  // The key's value, or kAbsent.
  [[nodiscard]] uint32_t Find(const Key& key) const {
    return cells_.empty() ? kAbsent : cells_[Position(key)].value;
  }

 private:
  struct Cell {
    Key key;
    uint32_t value = kAbsent;
  };
  // The cell that holds the key, or the empty one where it would go.
  [[nodiscard]] std::size_t Position(const Key& key) const {
    const std::size_t mask = cells_.size() - 1;
    std::size_t at = HashFlow(key, secret_).slot_bits() & mask;
    while (cells_[at].value != kAbsent && !(cells_[at].key == key)) at = (at + 1) & mask;
    return at;
  }

  HashKey secret_;
  std::vector<Cell> cells_;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_EXACT_INDEX_H_

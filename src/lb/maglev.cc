#include "penstock/lb/maglev.h"

#include <algorithm>
#include <bit>

namespace penstock::lb {
namespace {

// Which slots are taken, a bit each: 8 KB for 65,537 slots, so that probing stays in the L1 cache.
class SlotSet {
 public:
  explicit SlotSet(uint32_t size) : words_((size + 63) / 64) {}
  [[nodiscard]] bool Has(uint32_t slot) const {
    return (words_[slot >> 6] >> (slot & 63) & 1) != 0;
  }
  void Add(uint32_t slot) { words_[slot >> 6] |= uint64_t{1} << (slot & 63); }

 private:
  std::vector<uint64_t> words_;
};

// Time of turn k >= 1 of weight w, (2k+1)/(2w), scaled by the total weight: about one turn a unit.
uint64_t TurnTime(uint64_t k, uint64_t weight, uint64_t total_weight) {
  return (2 * k + 1) * total_weight / (2 * weight);
}

// Whose turn it is, turn after turn, until every slot has one. Turn 0 of every backend comes first.
// Counting sort by time: a backend has at most one turn in a unit, so ties are in list order when
// backends are visited in list order.
std::vector<MemberIndex> OrderTurns(std::span<const MaglevEntry> entries, uint32_t table_size) {
  uint64_t total_weight = 0;
  std::vector<MemberIndex> turns;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    total_weight += entries[i].weight;
    if (entries[i].weight > 0) turns.push_back(static_cast<MemberIndex>(i));
  }
  const std::size_t first = turns.size();
  // By this time at least table_size turns have come: each backend is at most 1.5 behind its share.
  const uint64_t end = table_size + 2 * first + 2;
  std::vector<uint32_t> starts(end + 1, 0);
  const auto visit = [&](auto&& take) {
    for (const MemberIndex i : std::span(turns).first(first)) {
      uint64_t time = 0;
      for (uint64_t k = 1; (time = TurnTime(k, entries[i].weight, total_weight)) < end; ++k) {
        take(i, time);
      }
    }
  };
  visit([&](MemberIndex, uint64_t time) { ++starts[time + 1]; });
  for (std::size_t t = 1; t <= end; ++t) starts[t] += starts[t - 1];
  std::vector<MemberIndex> sorted(starts[end]);
  visit([&](MemberIndex i, uint64_t time) { sorted[starts[time]++] = i; });
  turns.insert(turns.end(), sorted.begin(), sorted.end());
  turns.resize(table_size, kNoMember);
  return turns;
}

}  // namespace

std::vector<MemberIndex> BuildMaglev(std::span<const MaglevEntry> entries, uint32_t table_size) {
  std::vector<MemberIndex> table(table_size, kNoMember);
  const bool any = std::any_of(entries.begin(), entries.end(),
                               [](const MaglevEntry& e) { return e.weight > 0; });
  if (!any) return table;
  std::vector<uint32_t> position(entries.size());
  std::transform(entries.begin(), entries.end(), position.begin(),
                 [](const MaglevEntry& e) { return e.offset; });
  SlotSet taken(table_size);
  for (const MemberIndex i : OrderTurns(entries, table_size)) {
    // The next free slot of its permutation. Adding modulo M visits all slots, as M is prime.
    uint32_t slot = position[i];
    const auto advance = [&] {
      slot += entries[i].skip;
      if (slot >= table_size) slot -= table_size;
    };
    while (taken.Has(slot)) advance();
    taken.Add(slot);
    table[slot] = i;
    advance();
    position[i] = slot;
  }
  return table;
}

}  // namespace penstock::lb

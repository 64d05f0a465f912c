#include "penstock/lb/base_table.h"

#include "lb/address_bytes.h"

namespace penstock::lb {
namespace {

// Salts that keep the uses of one key apart; stand_ins.cc has the third.
constexpr uint64_t kOffsetSalt = 1;
constexpr uint64_t kSkipSalt = 2;

}  // namespace

std::shared_ptr<const BaseTable> BaseTable::Build(Spec spec) {
  const uint32_t size = spec.table_size;
  std::vector<MaglevEntry> entries;
  entries.reserve(spec.members.size());
  for (const WeightedAddress& m : spec.members) {
    // Section 3.4: offset = h1 mod M, skip = h2 mod (M - 1) + 1.
    const uint64_t offset = HashBytes(BytesOf(m.address), kOffsetSalt, spec.key) % size;
    const uint64_t skip = HashBytes(BytesOf(m.address), kSkipSalt, spec.key) % (size - 1) + 1;
    entries.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(skip), m.weight});
  }
  std::vector<MemberIndex> owners = BuildMaglev(entries, size);
  return std::shared_ptr<const BaseTable>(new BaseTable(std::move(spec), std::move(owners)));
}

}  // namespace penstock::lb

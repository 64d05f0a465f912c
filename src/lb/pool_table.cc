#include "penstock/lb/pool_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "lb/rendezvous.h"

namespace penstock::lb {
namespace {

// Salts that keep the uses of one key apart.
constexpr uint64_t kOffsetSalt = 1;
constexpr uint64_t kSkipSalt = 2;
constexpr uint64_t kRendezvousSalt = 3;

// A stand-in is looked for this many times in the base table before rendezvous decides.
constexpr int kStandInProbes = 64;

std::string_view BytesOf(const net::IpAddress& address) {
  return {reinterpret_cast<const char*>(address.bytes.data()),
          static_cast<std::size_t>(address.size())};
}

bool TakesNewFlows(const PoolMember& m) {
  return m.state == AdminState::kActive && m.healthy && m.weight > 0;
}

bool SameBase(const PoolTable::Spec& a, const PoolTable::Spec& b) {
  return a.table_size == b.table_size && a.key == b.key &&
         std::equal(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
                    [](const PoolMember& x, const PoolMember& y) {
                      return x.address == y.address && x.weight == y.weight;
                    });
}

// Finds stand-ins for the owners that take no new flows. A pure function of slot, base table and
// who is usable: when the owner comes back, so does the slot.
class StandIns {
 public:
  StandIns(const PoolTable::Spec& spec, const std::vector<MemberIndex>& base,
           const std::vector<uint8_t>& usable)
      : spec_(spec), base_(base), usable_(usable) {
    for (std::size_t i = 0; i < spec.members.size(); ++i) {
      if (usable[i] == 0) continue;
      candidates_.push_back(static_cast<MemberIndex>(i));
      hashes_.push_back(HashBytes(BytesOf(spec.members[i].address), kRendezvousSalt, spec.key));
    }
  }

  [[nodiscard]] MemberIndex For(uint32_t slot) const {
    if (candidates_.empty()) return kNoMember;
    uint64_t hash = Mix(slot ^ spec_.key.words[4], spec_.key.words[5]);
    for (int probe = 0; probe < kStandInProbes; ++probe) {
      hash = Mix(hash ^ spec_.key.words[0], spec_.key.words[1]);
      const auto position = static_cast<uint32_t>(((hash >> 32) * spec_.table_size) >> 32);
      if (usable_[base_[position]] != 0) return base_[position];
    }
    return Rendezvous(slot);
  }

 private:
  [[nodiscard]] MemberIndex Rendezvous(uint32_t slot) const {
    Bid best;
    MemberIndex winner = candidates_.front();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const uint64_t u = Mix(hashes_[i] ^ spec_.key.words[2], slot ^ spec_.key.words[3]);
      const Bid bid{NegativeLog2(u), spec_.members[candidates_[i]].weight};
      if (!bid.Beats(best)) continue;
      best = bid;
      winner = candidates_[i];
    }
    return winner;
  }

  const PoolTable::Spec& spec_;
  const std::vector<MemberIndex>& base_;
  const std::vector<uint8_t>& usable_;
  std::vector<MemberIndex> candidates_;
  std::vector<uint64_t> hashes_;  // of candidates' addresses
};

}  // namespace

std::shared_ptr<const PoolTable> PoolTable::Build(Spec spec, const PoolTable* former) {
  std::sort(spec.members.begin(), spec.members.end(),
            [](const PoolMember& a, const PoolMember& b) { return a.address < b.address; });
  std::shared_ptr<PoolTable> table(new PoolTable(std::move(spec)));
  table->ChooseUsable();
  table->BuildBase(former);
  table->FillSlots();
  table->ComputeDigest();
  return table;
}

void PoolTable::ChooseUsable() {
  const auto& members = spec_.members;
  const auto choose = [&](auto&& accepts) {
    usable_.assign(members.size(), 0);
    bool any = false;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].weight == 0 || !accepts(members[i])) continue;
      usable_[i] = 1;
      any = true;
    }
    return any;
  };
  if (choose(TakesNewFlows) || spec_.on_no_backend == OnNoBackend::kDrop) return;
  // Fail open: those that should work whatever their checks say, else those that are leaving.
  if (choose([](const PoolMember& m) { return m.state == AdminState::kActive; })) return;
  choose([](const PoolMember& m) { return m.state == AdminState::kDraining && m.healthy; });
}

void PoolTable::BuildBase(const PoolTable* former) {
  if (former != nullptr && SameBase(former->spec_, spec_)) {
    base_ = former->base_;
    return;
  }
  const uint32_t size = spec_.table_size;
  std::vector<MaglevEntry> entries;
  entries.reserve(spec_.members.size());
  for (const PoolMember& m : spec_.members) {
    // Section 3.4: offset = h1 mod M, skip = h2 mod (M - 1) + 1.
    const uint64_t offset = HashBytes(BytesOf(m.address), kOffsetSalt, spec_.key) % size;
    const uint64_t skip = HashBytes(BytesOf(m.address), kSkipSalt, spec_.key) % (size - 1) + 1;
    entries.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(skip), m.weight});
  }
  base_ = std::make_shared<const std::vector<MemberIndex>>(BuildMaglev(entries, size));
}

void PoolTable::FillSlots() {
  const StandIns stand_ins(spec_, *base_, usable_);
  slots_.resize(spec_.table_size);
  slot_counts_.assign(spec_.members.size(), 0);
  for (uint32_t i = 0; i < spec_.table_size; ++i) {
    const MemberIndex owner = (*base_)[i];
    if (owner == kNoMember) continue;
    Slot& slot = slots_[i];
    slot.current = usable_[owner] != 0 ? owner : stand_ins.For(i);
    // It has lost the slot for new flows and still serves those it has.
    const bool serves = spec_.members[owner].state != AdminState::kDisabled;
    if (slot.current != owner && serves) slot.previous = owner;
    if (slot.current != kNoMember) ++slot_counts_[slot.current];
  }
}

ShareErrors PoolTable::share_errors() const {
  uint64_t total_weight = 0;
  for (std::size_t i = 0; i < usable_.size(); ++i) {
    if (usable_[i] != 0) total_weight += spec_.members[i].weight;
  }
  ShareErrors errors;
  double squares = 0;
  int count = 0;
  for (std::size_t i = 0; i < usable_.size(); ++i) {
    if (usable_[i] == 0) continue;
    const double quota = static_cast<double>(spec_.members[i].weight) * spec_.table_size /
                         static_cast<double>(total_weight);
    const double ratio = slot_counts_[i] / quota;
    errors.max = std::max(errors.max, std::abs(ratio - 1));
    errors.largest_ratio = std::max(errors.largest_ratio, ratio);
    squares += (ratio - 1) * (ratio - 1);
    ++count;
  }
  if (count > 0) errors.rms = std::sqrt(squares / count);
  return errors;
}

void PoolTable::ComputeDigest() {
  // Under a key that everybody knows: a digest is for comparing hosts, and hosts with different
  // seeds differ by their slots.
  const HashKey key = HashKey::FromSeed("digest");
  uint64_t digest = spec_.table_size;
  const auto add = [&digest](uint64_t word) {
    digest = Mix(digest ^ 0x9E3779B97F4A7C15, word ^ 0xD1B54A32D192ED03) + 0x8BB84B93962EACC9;
  };
  for (const PoolMember& m : spec_.members) {
    add(static_cast<uint64_t>(m.address.family));
    add(HashBytes(BytesOf(m.address), m.weight, key));
  }
  for (const Slot& slot : slots_) add(static_cast<uint64_t>(slot.current) << 16 | slot.previous);
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016lx", digest);
  digest_ = text.data();
}

}  // namespace penstock::lb

#include "penstock/lb/pool_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "lb/address_bytes.h"
#include "lb/long_time_owners.h"
#include "lb/stand_ins.h"

namespace penstock::lb {
namespace {

bool TakesNewFlows(const PoolMember& m) {
  return m.state == AdminState::kActive && m.healthy && m.weight > 0;
}

BaseTable::Spec BaseOf(const PoolTable::Spec& spec) {
  BaseTable::Spec base{.members = {}, .table_size = spec.table_size, .key = spec.key};
  base.members.reserve(spec.members.size());
  for (const PoolMember& m : spec.members) base.members.push_back({m.address, m.weight});
  return base;
}

}  // namespace

std::shared_ptr<const PoolTable> PoolTable::Build(Spec spec, const PoolTable* former) {
  std::sort(spec.members.begin(), spec.members.end(),
            [](const PoolMember& a, const PoolMember& b) { return a.address < b.address; });
  std::shared_ptr<PoolTable> table(new PoolTable(std::move(spec)));
  table->ChooseUsable();
  table->TakeBase(former);
  table->FillSlots();
  table->ComputeDigest();
  // The past has had its say; its base tables need not live as long as this one.
  Eras& eras = table->spec_.eras;
  if (!eras.empty()) eras.erase(eras.begin(), eras.end() - 1);
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

void PoolTable::TakeBase(const PoolTable* former) {
  if (!spec_.eras.empty()) {
    base_ = spec_.eras.back().base;
    return;
  }
  BaseTable::Spec spec = BaseOf(spec_);
  const bool same = former != nullptr && former->base_->spec() == spec;
  base_ = same ? former->base_ : BaseTable::Build(std::move(spec));
}

void PoolTable::FillSlots() {
  const StandIns stand_ins(*base_, usable_);
  const LongTimeOwners history = FindLongTimeOwners(spec_.eras, spec_.transition, spec_.now);
  valid_until_ = history.valid_until;
  slots_.resize(spec_.table_size);
  slot_counts_.assign(spec_.members.size(), 0);
  for (uint32_t i = 0; i < spec_.table_size; ++i) {
    const MemberIndex owner = base_->owner(i);
    const bool steps_aside = owner != kNoMember && usable_[owner] == 0;
    slots_[i] = MakeSlot(owner, steps_aside ? stand_ins.For(i) : owner,
                         history.by_slot.empty() ? kNoMember : history.by_slot[i]);
    if (slots_[i].current != kNoMember) ++slot_counts_[slots_[i].current];
  }
}

// `owner`: by configuration; `current`: who takes the new flows.
Slot PoolTable::MakeSlot(MemberIndex owner, MemberIndex current,
                         MemberIndex long_time_owner) const {
  const auto serves = [this](MemberIndex m) {
    return m != kNoMember && spec_.members[m].state != AdminState::kDisabled;
  };
  // It has lost the slot for new flows and still serves those it has: more of them than somebody
  // who lost it to a change before.
  if (current != owner && serves(owner)) return {current, owner};
  if (current != long_time_owner && serves(long_time_owner)) return {current, long_time_owner};
  return {current, kNoMember};
}

bool PoolTable::IsOf(const Spec& spec) const {
  const auto begin = [](const Eras& eras) {
    return eras.empty() ? std::chrono::sys_seconds{} : eras.back().since;
  };
  return spec_.members == spec.members && spec_.table_size == spec.table_size &&
         spec_.key == spec.key && spec_.on_no_backend == spec.on_no_backend &&
         spec_.transition == spec.transition && spec_.eras.empty() == spec.eras.empty() &&
         begin(spec_.eras) == begin(spec.eras) && spec.now < valid_until_;
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

#include "lb/long_time_owners.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace penstock::lb {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

// An earlier member that is not in the pool any more, or was away since.
constexpr MemberIndex kGone = kNoMember - 1;
static_assert(kMaxMembers <= kGone);

// An unbroken time in which one backend owned a slot.
struct Tenure {
  MemberIndex owner = kNoMember;  // of the present's members; kNoMember: nobody
  sys_seconds begin{};
  sys_seconds end{};

  [[nodiscard]] seconds length() const { return owner == kNoMember ? seconds(0) : end - begin; }
};

// One earlier era, seen from the present.
struct Earlier {
  const MemberIndex* owners = nullptr;  // by slot
  std::vector<MemberIndex> present;     // by the era's member: index in the present, or kGone
  sys_seconds since;

  [[nodiscard]] MemberIndex OwnerOf(uint32_t slot) const {
    const MemberIndex owner = owners[slot];
    return owner == kNoMember ? kNoMember : present[owner];
  }
};

// Maps the members of `era` to those of the present. `stayed`, by member of the present: whether it
// has been there in all eras after this one; updated.
Earlier LookBack(const Era& era, const BaseTable& now, std::vector<uint8_t>& stayed) {
  Earlier earlier{.owners = era.base->owners().data(), .present = {}, .since = era.since};
  earlier.present.assign(era.base->members().size(), kGone);
  std::size_t then = 0;
  for (std::size_t m = 0; m < now.members().size(); ++m) {
    const net::IpAddress& address = now.members()[m].address;
    const auto& members = era.base->members();
    while (then < members.size() && members[then].address < address) ++then;
    if (then == members.size() || members[then].address != address) {
      stayed[m] = 0;
    } else if (stayed[m] != 0) {
      earlier.present[then] = static_cast<MemberIndex>(m);
    }
  }
  return earlier;
}

// Looks at the tenures of one slot, from the present one backwards, and keeps what decides.
class Search {
 public:
  explicit Search(seconds transition) : transition_(transition) {}

  // True once older tenures cannot change the answer.
  bool Consider(const Tenure& tenure) {
    if (count_++ == 0) {
      present_ = tenure;
      // One who has held it that long: what was before has ended long ago.
      return tenure.owner != kNoMember && tenure.length() >= transition_;
    }
    if (tenure.owner == kNoMember) return false;
    if (tenure.length() >= transition_) {
      long_ = tenure;
      return true;
    }
    if (IsOpen(tenure) && tenure.length() > longest_.length()) longest_ = tenure;
    return false;
  }

  // The slot's long-time owner, if it is not the present one. `birth`: of the pool.
  [[nodiscard]] MemberIndex Decide(sys_seconds birth, sys_seconds& valid_until) const {
    if (count_ < 2) return kNoMember;
    if (long_.owner != kNoMember) {
      if (!IsOpen(long_) || long_.owner == present_.owner) return kNoMember;
      valid_until = std::min(valid_until, long_.end + transition_);
      return long_.owner;
    }
    const sys_seconds grown_up = birth + kRememberedTransitions * transition_;
    if (present_.end >= grown_up || longest_.length() <= present_.length()) return kNoMember;
    valid_until = std::min({valid_until, longest_.end + transition_, grown_up});
    if (present_.owner != kNoMember) {
      valid_until = std::min(valid_until, present_.begin + longest_.length());
    }
    return longest_.owner == present_.owner ? kNoMember : longest_.owner;
  }

 private:
  // Lost less than a transition ago.
  [[nodiscard]] bool IsOpen(const Tenure& t) const { return present_.end - t.end < transition_; }

  seconds transition_;
  int count_ = 0;   // of tenures considered
  Tenure present_;  // its end is now
  Tenure long_;     // the newest of at least a transition
  Tenure longest_;  // of the shorter ones that are open; the newer of equals
};

// Tenures of one slot, newest first, handed to `take` until that returns true.
template <typename Take>
void ForEachTenure(uint32_t slot, const std::vector<Earlier>& newest_first, Tenure tenure,
                   Take&& take) {
  for (const Earlier& era : newest_first) {
    MemberIndex owner = era.OwnerOf(slot);
    // The flows of one who is gone were chosen anew when it went: the time is its successor's.
    if (owner == kGone) owner = tenure.owner;
    if (owner != tenure.owner) {
      if (take(tenure)) return;
      tenure = {owner, era.since, tenure.begin};
    }
    tenure.begin = era.since;
  }
  take(tenure);
}

}  // namespace

LongTimeOwners FindLongTimeOwners(const Eras& eras, seconds transition, sys_seconds now) {
  LongTimeOwners found;
  if (eras.size() < 2) return found;
  const Era& present = eras.back();
  now = std::max(now, present.since);
  std::vector<uint8_t> stayed(present.base->members().size(), 1);
  std::vector<Earlier> newest_first;
  for (auto era = eras.rbegin() + 1; era != eras.rend(); ++era) {
    Earlier earlier = LookBack(*era, *present.base, stayed);
    // Replaced within its first second: nobody had time to begin a flow.
    const bool held = era->since < (era - 1)->since;
    if (held) newest_first.push_back(std::move(earlier));
  }
  if (newest_first.empty()) return found;
  for (uint32_t slot = 0; slot < present.base->spec().table_size; ++slot) {
    Search search(transition);
    ForEachTenure(slot, newest_first, {present.base->owner(slot), present.since, now},
                  [&search](const Tenure& tenure) { return search.Consider(tenure); });
    const MemberIndex owner = search.Decide(eras.front().since, found.valid_until);
    if (owner == kNoMember) continue;
    if (found.by_slot.empty()) found.by_slot.assign(present.base->spec().table_size, kNoMember);
    found.by_slot[slot] = owner;
  }
  return found;
}

}  // namespace penstock::lb

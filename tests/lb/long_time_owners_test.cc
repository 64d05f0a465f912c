#include "lb/long_time_owners.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/lb/eras.h"

namespace penstock::lb {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr seconds kTransition{300};

// One backend owns all 31 slots; the others are there with weight 0.
std::shared_ptr<const BaseTable> OwnedBy(std::size_t owner, std::size_t backends = 4) {
  std::vector<WeightedAddress> members;
  for (std::size_t n = 0; n < backends; ++n) {
    members.push_back({BackendAddress(n), n == owner ? 100U : 0U});
  }
  return BaseWith(std::move(members), 31);
}

// The long-time owner of slots whose owners were `owners`, each from that second on.
MemberIndex PreviousOf(const std::vector<std::pair<std::size_t, int64_t>>& owners, int64_t now) {
  Eras eras;
  for (const auto& [owner, since] : owners) eras.push_back({OwnedBy(owner), At(since)});
  const LongTimeOwners found = FindLongTimeOwners(eras, kTransition, At(now));
  return found.by_slot.empty() ? kNoMember : found.by_slot[7];
}

constexpr std::size_t kA = 0;
constexpr std::size_t kB = 1;
constexpr std::size_t kC = 2;
constexpr std::size_t kNobody = 9;

TEST(LongTimeOwners, OneThatHeldATransitionIsRememberedForATransition) {
  EXPECT_EQ(PreviousOf({{kA, 0}, {kB, 300}}, 300), kA);
  EXPECT_EQ(PreviousOf({{kA, 0}, {kB, 300}}, 599), kA);
  EXPECT_EQ(PreviousOf({{kA, 0}, {kB, 300}}, 600), kNoMember);
}

TEST(LongTimeOwners, ShorterTenuresDoNotOverwrite) {
  EXPECT_EQ(PreviousOf({{kA, 0}, {kB, 1000}, {kC, 1200}}, 1250), kA);
  EXPECT_EQ(PreviousOf({{kA, 0}, {kB, 1000}, {kC, 1200}}, 1300), kNoMember);
  EXPECT_EQ(PreviousOf({{kA, 0}, {kB, 1000}, {kC, 1300}}, 1301), kB);
}

TEST(LongTimeOwners, OneThatIsBackIsPresent) {
  EXPECT_EQ(PreviousOf({{kA, 0}, {kB, 1000}, {kA, 1100}}, 1150), kNoMember);
  EXPECT_EQ(PreviousOf({{kA, 0}, {kB, 1000}, {kA, 1100}, {kC, 1150}}, 1200), kA);
}

// Expect: who held it longest, the present owner included, in the first two transitions of a pool.
TEST(LongTimeOwners, InAYoungPoolTheLongestTenureCounts) {
  EXPECT_EQ(PreviousOf({{kA, 0}, {kB, 100}}, 199), kA);
  EXPECT_EQ(PreviousOf({{kA, 0}, {kB, 100}}, 200), kNoMember);
  EXPECT_EQ(PreviousOf({{kA, 0}, {kB, 50}, {kC, 150}}, 200), kB);
  EXPECT_EQ(PreviousOf({{kA, 0}, {kB, 290}, {kC, 500}}, 599), kB);
  EXPECT_EQ(PreviousOf({{kA, 0}, {kB, 290}, {kC, 500}}, 600), kNoMember);
}

TEST(LongTimeOwners, NobodyIsNotRememberedButWhoWasBefore) {
  EXPECT_EQ(PreviousOf({{kA, 0}, {kNobody, 1000}}, 1100), kA);
  EXPECT_EQ(PreviousOf({{kA, 0}, {kNobody, 1000}, {kB, 1100}}, 1200), kA);
  EXPECT_EQ(PreviousOf({{kNobody, 0}, {kB, 1000}}, 1100), kNoMember);
}

TEST(LongTimeOwners, TimeOfARemovedBackendIsItsSuccessors) {
  Eras eras = {{OwnedBy(kA), At(0)},
               {BaseWith({{BackendAddress(kB), 100}, {BackendAddress(kC), 0}}, 31), At(1000)},
               {BaseWith({{BackendAddress(kB), 0}, {BackendAddress(kC), 100}}, 31), At(1010)}};
  LongTimeOwners found = FindLongTimeOwners(eras, kTransition, At(1100));
  ASSERT_FALSE(found.by_slot.empty());
  EXPECT_EQ(found.by_slot[0], 0);  // B, whose flows began in ten seconds or came from A
  // Expect: coming back makes a new backend of it, whose flows were B's since.
  eras.push_back({OwnedBy(kA, 3), At(1020)});
  found = FindLongTimeOwners(eras, kTransition, At(1100));
  EXPECT_EQ(found.by_slot[0], kB);
}

// The rules of docs/CONSISTENCY.md, second by second.
class Definition {
 public:
  Definition(const Eras& eras, seconds transition, sys_seconds now)
      : eras_(eras), transition_(transition), now_(now) {}

  MemberIndex PreviousOf(uint32_t slot) const {
    const std::vector<MemberIndex> owners = OwnersBySecond(slot);
    const MemberIndex present = eras_.back().base->owner(slot);
    const auto transition = static_cast<std::size_t>(transition_.count());
    std::size_t present_length = 0;
    std::size_t end = owners.size();
    while (end > 0 && owners[end - 1] == present) --end, ++present_length;
    if (present == kNoMember) present_length = 0;
    if (present_length >= transition) return kNoMember;
    MemberIndex longest = kNoMember;
    std::size_t longest_length = 0;
    while (end > 0) {
      std::size_t begin = end;
      while (begin > 0 && owners[begin - 1] == owners[end - 1]) --begin;
      const MemberIndex owner = owners[end - 1];
      const bool open = owners.size() - end < transition;
      if (owner != kNoMember && end - begin >= transition) {
        return open && owner != present ? owner : kNoMember;
      }
      if (owner != kNoMember && open && end - begin > longest_length) {
        longest = owner;
        longest_length = end - begin;
      }
      end = begin;
    }
    const bool young = owners.size() < 2 * transition;
    return young && longest_length > present_length && longest != present ? longest : kNoMember;
  }

 private:
  // From birth to now; of members of the present. A second of one who is gone belongs to the next.
  std::vector<MemberIndex> OwnersBySecond(uint32_t slot) const {
    std::vector<MemberIndex> owners;
    MemberIndex successor = eras_.back().base->owner(slot);
    for (sys_seconds second = now_ - seconds(1); second >= eras_.front().since;
         second -= seconds(1)) {
      std::size_t era = eras_.size() - 1;
      while (eras_[era].since > second) --era;
      const MemberIndex then = eras_[era].base->owner(slot);
      if (then == kNoMember) {
        successor = kNoMember;
      } else if (StayedSince(era, eras_[era].base->members()[then].address)) {
        successor = IndexIn(eras_.size() - 1, eras_[era].base->members()[then].address);
      }
      owners.push_back(successor);
    }
    std::reverse(owners.begin(), owners.end());
    return owners;
  }
  MemberIndex IndexIn(std::size_t era, const net::IpAddress& address) const {
    const auto& members = eras_[era].base->members();
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].address == address) return static_cast<MemberIndex>(i);
    }
    return kNoMember;
  }
  bool StayedSince(std::size_t era, const net::IpAddress& address) const {
    for (; era < eras_.size(); ++era) {
      if (IndexIn(era, address) == kNoMember) return false;
    }
    return true;
  }

  const Eras& eras_;
  seconds transition_;
  sys_seconds now_;
};

std::shared_ptr<const BaseTable> RandomBase(std::mt19937_64& random, uint32_t size) {
  std::vector<WeightedAddress> members;
  for (std::size_t n = 0; n < 5; ++n) {
    if (random() % 4 == 0) continue;
    members.push_back({BackendAddress(n), static_cast<uint32_t>(random() % 3)});
  }
  return BaseWith(std::move(members), size);
}

Eras RandomEras(std::mt19937_64& random, seconds transition, uint32_t size, int64_t& second) {
  Eras eras;
  const std::size_t changes = random() % 12 + 1;
  for (std::size_t i = 0; i < changes; ++i) {
    eras = Succeed(std::move(eras), {RandomBase(random, size), At(second)}, transition);
    second += static_cast<int64_t>(random() % 4 == 0 ? random() % 25 : random() % 6);
  }
  return eras;
}

std::vector<MemberIndex> OwnersAt(const Eras& eras, seconds transition, sys_seconds now) {
  const uint32_t size = eras.back().base->spec().table_size;
  std::vector<MemberIndex> owners = FindLongTimeOwners(eras, transition, now).by_slot;
  if (owners.empty()) owners.assign(size, kNoMember);
  return owners;
}

TEST(LongTimeOwners, AgreeWithTheDefinition) {
  std::mt19937_64 random(7);
  constexpr seconds kShort{10};
  int remembered = 0;
  int with_owner = 0;
  for (int round = 0; round < 1500; ++round) {
    int64_t second = 100;
    const Eras eras = RandomEras(random, kShort, 31, second);
    sys_seconds valid_until{};
    std::vector<MemberIndex> before;
    for (sys_seconds now = eras.back().since; now <= At(second + 25); now += seconds(1)) {
      const Definition definition(eras, kShort, now);
      const std::vector<MemberIndex> owners = OwnersAt(eras, kShort, now);
      for (uint32_t slot = 0; slot < owners.size(); ++slot) {
        ASSERT_EQ(owners[slot], definition.PreviousOf(slot))
            << "round " << round << " slot " << slot;
        with_owner += owners[slot] != kNoMember;
      }
      // Expect: nothing changes before it is said to, and what is forgotten does not matter.
      if (now < valid_until) {
        ASSERT_EQ(owners, before) << "round " << round;
      }
      before = owners;
      valid_until = FindLongTimeOwners(eras, kShort, now).valid_until;
      ASSERT_GT(valid_until, now);
      const Eras rest = Remembered(eras, kShort, now);
      remembered += rest.size() < eras.size();
      ASSERT_EQ(OwnersAt(rest, kShort, now), owners) << "round " << round;
    }
  }
  EXPECT_GT(with_owner, 100000);
  EXPECT_GT(remembered, 1000);
}

}  // namespace
}  // namespace penstock::lb

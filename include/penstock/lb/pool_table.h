// Who owns which slot of a pool: the base table, stand-ins for those who take no new flows, and the
// previous owner that mid-stream packets without an entry go to (docs/CONSISTENCY.md).

#ifndef PENSTOCK_LB_POOL_TABLE_H_
#define PENSTOCK_LB_POOL_TABLE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/lb/base_table.h"
#include "penstock/lb/era.h"
#include "penstock/lb/flow_key.h"
#include "penstock/lb/maglev.h"
#include "penstock/net/address.h"

namespace penstock::lb {

enum class AdminState : uint8_t { kActive, kDraining, kDisabled };
enum class OnNoBackend : uint8_t { kDrop, kUseAll };

// One configured backend of a pool.
struct PoolMember {
  net::IpAddress address;
  uint32_t weight = 100;  // 0 takes no new flows
  AdminState state = AdminState::kActive;
  bool healthy = true;

  friend bool operator==(const PoolMember&, const PoolMember&) = default;
};

// Owners of a slot, as indices into PoolTable::members(). kNoMember: nobody.
struct Slot {
  MemberIndex current = kNoMember;   // gets new flows
  MemberIndex previous = kNoMember;  // if set: gets mid-stream packets that no entry knows

  // Whom a TCP packet in mid-stream that has no entry goes to.
  [[nodiscard]] MemberIndex mid_stream() const {
    return previous != kNoMember ? previous : current;
  }
  friend bool operator==(const Slot&, const Slot&) = default;
};
static_assert(sizeof(Slot) == 4);

// How well the shares of new flows follow the weights.
struct ShareErrors {
  double max = 0;  // largest |share / quota - 1| over the members that take new flows
  double rms = 0;
  double largest_ratio = 0;  // largest share / quota
};

// Immutable. Thread safety: any thread.
// A pure function of the set of members, table size and key, and of the eras, which are
// configurations and the times of their changes: never of list order, ids or the host.
class PoolTable {
 public:
  struct Spec {
    std::vector<PoolMember> members;  // any order; addresses unique
    uint32_t table_size = 65537;      // prime
    OnNoBackend on_no_backend = OnNoBackend::kDrop;
    HashKey key;

    // The last one is of these very members, size and key, and lends its base table. Empty: nothing
    // is known of the past.
    Eras eras;
    // How long a slot that changed hands with members or weights remembers who held it.
    std::chrono::seconds transition{300};
    std::chrono::sys_seconds now{};
  };

  // Builds the table. Without eras `former`, if given, lends its base table when the same members,
  // weights, size and key make it up, so that a change of state costs no Maglev build.
  // REQUIRES: spec.table_size prime, <= kMaxTableSize, >= number of members; <= kMaxMembers
  // members.
  [[nodiscard]] static std::shared_ptr<const PoolTable> Build(Spec spec,
                                                              const PoolTable* former = nullptr);

  // In canonical order: by address.
  [[nodiscard]] const std::vector<PoolMember>& members() const { return spec_.members; }
  [[nodiscard]] uint32_t table_size() const { return spec_.table_size; }
  [[nodiscard]] const Slot& slot(uint32_t index) const { return slots_[index]; }
  // The slot of 32 hash bits: multiply and shift instead of a division.
  [[nodiscard]] uint32_t SlotIndex(uint32_t slot_bits) const {
    return static_cast<uint32_t>((static_cast<uint64_t>(slot_bits) * spec_.table_size) >> 32);
  }
  [[nodiscard]] const Slot& Lookup(uint32_t slot_bits) const {
    return slots_[SlotIndex(slot_bits)];
  }

  // Owner of a slot by configuration alone, whatever the states. kNoMember if all weights are 0.
  [[nodiscard]] MemberIndex base_owner(uint32_t index) const { return base_->owner(index); }
  [[nodiscard]] const std::shared_ptr<const BaseTable>& base() const { return base_; }
  // From this second on the passing of time alone may make another table of the same Spec. max():
  // never.
  [[nodiscard]] std::chrono::sys_seconds valid_until() const { return valid_until_; }
  // Whether Build(spec) would give an equal table.
  // REQUIRES: spec.members in canonical order.
  [[nodiscard]] bool IsOf(const Spec& spec) const;
  // Slots whose current owner is member `m`.
  [[nodiscard]] uint32_t SlotsOf(MemberIndex m) const { return slot_counts_[m]; }
  [[nodiscard]] bool takes_new_flows(MemberIndex m) const { return usable_[m] != 0; }
  [[nodiscard]] ShareErrors share_errors() const;
  // 16 hexadecimal digits over members, weights, size and both columns. Hosts with the same
  // configuration, health and times of changes have the same.
  [[nodiscard]] const std::string& digest() const { return digest_; }

 private:
  explicit PoolTable(Spec spec) : spec_(std::move(spec)) {}
  void ChooseUsable();
  void TakeBase(const PoolTable* former);
  void FillSlots();
  [[nodiscard]] Slot MakeSlot(MemberIndex owner, MemberIndex current,
                              MemberIndex long_time_owner) const;
  void ComputeDigest();

  Spec spec_;
  std::vector<uint8_t> usable_;  // by member: takes new flows, after on_no_backend had its say
  std::shared_ptr<const BaseTable> base_;
  std::chrono::sys_seconds valid_until_ = std::chrono::sys_seconds::max();
  std::vector<Slot> slots_;
  std::vector<uint32_t> slot_counts_;
  std::string digest_;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_POOL_TABLE_H_

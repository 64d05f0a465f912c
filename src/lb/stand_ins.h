// Who takes the new flows of a slot whose owner takes none.

#ifndef PENSTOCK_LB_STAND_INS_H_
#define PENSTOCK_LB_STAND_INS_H_

#include <cstdint>
#include <vector>

#include "penstock/lb/base_table.h"

namespace penstock::lb {

// A pure function of slot, base table and who is usable: when the owner comes back, so does the
// slot, and nobody else's slot moves.
class StandIns {
 public:
  // `usable`: by member of `base`, not 0 if it takes new flows. Both outlive this.
  StandIns(const BaseTable& base, const std::vector<uint8_t>& usable);

  // kNoMember if nobody is usable.
  [[nodiscard]] MemberIndex For(uint32_t slot) const;

 private:
  [[nodiscard]] MemberIndex Rendezvous(uint32_t slot) const;

  const BaseTable& base_;
  const std::vector<uint8_t>& usable_;
  std::vector<MemberIndex> candidates_;
  std::vector<uint64_t> hashes_;  // of candidates' addresses
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_STAND_INS_H_

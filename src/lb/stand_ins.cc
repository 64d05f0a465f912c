#include "lb/stand_ins.h"

#include "lb/address_bytes.h"
#include "lb/rendezvous.h"

namespace penstock::lb {
namespace {

constexpr uint64_t kRendezvousSalt = 3;

// A stand-in is looked for this many times in the base table before rendezvous decides.
constexpr int kProbes = 64;

}  // namespace

StandIns::StandIns(const BaseTable& base, const std::vector<uint8_t>& usable)
    : base_(base), usable_(usable) {
  for (std::size_t i = 0; i < usable.size(); ++i) {
    if (usable[i] == 0) continue;
    candidates_.push_back(static_cast<MemberIndex>(i));
    hashes_.push_back(
        HashBytes(BytesOf(base.members()[i].address), kRendezvousSalt, base.spec().key));
  }
}

MemberIndex StandIns::For(uint32_t slot) const {
  if (candidates_.empty()) return kNoMember;
  const auto& words = base_.spec().key.words;
  uint64_t hash = Mix(slot ^ words[4], words[5]);
  for (int probe = 0; probe < kProbes; ++probe) {
    hash = Mix(hash ^ words[0], words[1]);
    const auto position = static_cast<uint32_t>(((hash >> 32) * base_.spec().table_size) >> 32);
    const MemberIndex owner = base_.owner(position);
    if (usable_[owner] != 0) return owner;
  }
  return Rendezvous(slot);
}

MemberIndex StandIns::Rendezvous(uint32_t slot) const {
  const auto& words = base_.spec().key.words;
  Bid best;
  MemberIndex winner = candidates_.front();
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const uint64_t u = Mix(hashes_[i] ^ words[2], slot ^ words[3]);
    const Bid bid{NegativeLog2(u), base_.members()[candidates_[i]].weight};
    if (!bid.Beats(best)) continue;
    best = bid;
    winner = candidates_[i];
  }
  return winner;
}

}  // namespace penstock::lb

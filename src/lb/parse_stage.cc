#include <array>

#include "lb/packet_key.h"
#include "penstock/lb/pipeline.h"

namespace penstock::lb {
namespace {

// By net::ParseStatus. ARP, ICMP and later fragments are provisional: LocalStage, IcmpStage and
// FragmentStage look into them. Other protocols go on to where it is known whether they are for a
// VIP.
constexpr std::array kVerdictOfStatus = {
    Verdict::kForward,
    Verdict::kAnswerArp,
    Verdict::kAnswerEcho,
    Verdict::kDropTruncated,
    Verdict::kDropVlanDepth,
    Verdict::kDropUnknownEtherType,
    Verdict::kDropMalformedIpv4,
    Verdict::kDropIpv4Checksum,
    Verdict::kDropMalformedIpv6,
    Verdict::kDropIpv6Extension,
    Verdict::kDropTtlZero,
    Verdict::kHold,
    Verdict::kDropFragment,
    Verdict::kDropTinyFragment,
    Verdict::kDropMalformedFragment,
    Verdict::kDropMalformedTransport,
    Verdict::kForward,
};
static_assert(kVerdictOfStatus.size() ==
              static_cast<std::size_t>(net::ParseStatus::kUnknownProtocol) + 1);
static_assert(kVerdictOfStatus[static_cast<std::size_t>(net::ParseStatus::kTtlZero)] ==
              Verdict::kDropTtlZero);

}  // namespace

void ParseStage(PacketBurst& burst) {
  burst.has_fragments = false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(burst.count); ++i) {
    if ((burst.flags[i] & (kMultiSegment | kSharedBuffer)) != 0) {
      const bool spread = (burst.flags[i] & kMultiSegment) != 0;
      burst.verdict[i] = spread ? Verdict::kDropMultiSegment : Verdict::kDropSharedBuffer;
      continue;
    }
    const bool verified = (burst.flags[i] & kChecksumVerified) != 0;
    net::PacketView& view = burst.view[i];
    const auto status = net::ParseFrame({burst.data[i], burst.length[i]}, verified, view);
    burst.verdict[i] = kVerdictOfStatus[static_cast<std::size_t>(status)];
    if (burst.verdict[i] != Verdict::kForward && burst.verdict[i] != Verdict::kHold) continue;
    FillKey(burst.data[i] + view.l3_offset, view, burst.key[i]);
    if (view.fragment == net::FragmentKind::kNone) continue;
    burst.has_fragments = true;
    if (view.fragment == net::FragmentKind::kFirst) burst.flags[i] |= kFirstFragment;
  }
}

}  // namespace penstock::lb

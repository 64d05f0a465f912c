#include <array>
#include <cstring>

#include "penstock/lb/pipeline.h"
#include "penstock/net/wire.h"

namespace penstock::lb {
namespace {

// By net::ParseStatus. ARP and ICMPv6 are provisional: LocalStage looks into them.
constexpr std::array kVerdictOfStatus = {
    Verdict::kForward,
    Verdict::kAnswerArp,
    Verdict::kDropIcmp,
    Verdict::kDropTruncated,
    Verdict::kDropVlan,
    Verdict::kDropUnknownEtherType,
    Verdict::kDropMalformedIpv4,
    Verdict::kDropIpv4Checksum,
    Verdict::kDropMalformedIpv6,
    Verdict::kDropIpv6Extension,
    Verdict::kDropTtlZero,
    Verdict::kDropFragment,
    Verdict::kDropMalformedTransport,
    Verdict::kDropUnknownProtocol,
};
static_assert(kVerdictOfStatus.size() ==
              static_cast<std::size_t>(net::ParseStatus::kUnknownProtocol) + 1);
static_assert(kVerdictOfStatus[static_cast<std::size_t>(net::ParseStatus::kTtlZero)] ==
              Verdict::kDropTtlZero);

Verdict VerdictOf(net::ParseStatus status, const net::PacketView& view) {
  if (status == net::ParseStatus::kIcmp && view.family == net::Family::kIpv6) {
    return Verdict::kAnswerNdp;
  }
  return kVerdictOfStatus[static_cast<std::size_t>(status)];
}

// The key without its service, which ClassifyStage finds.
void FillKey(const uint8_t* l3, const net::PacketView& view, FlowKey& key) {
  if (view.family == net::Family::kIpv4) {
    const auto ip = net::Load<net::Ipv4Header>(l3);
    key.v4 = {.source = ip.source.raw(),
              .destination = ip.destination.raw(),
              .source_port = view.source_port,
              .destination_port = view.destination_port,
              .service = ServiceAndProtocol::Of(kNoId, view.protocol)};
    return;
  }
  const auto ip = net::Load<net::Ipv6Header>(l3);
  key.v6 = {.source = ip.source,
            .destination = ip.destination,
            .source_port = view.source_port,
            .destination_port = view.destination_port,
            .service = ServiceAndProtocol::Of(kNoId, view.protocol)};
}

}  // namespace

void ParseStage(PacketBurst& burst) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(burst.count); ++i) {
    if ((burst.flags[i] & kMultiSegment) != 0) {
      burst.verdict[i] = Verdict::kDropMultiSegment;
      continue;
    }
    const bool verified = (burst.flags[i] & kChecksumVerified) != 0;
    net::PacketView& view = burst.view[i];
    const auto status = net::ParseFrame({burst.data[i], burst.length[i]}, verified, view);
    burst.verdict[i] = VerdictOf(status, view);
    if (burst.verdict[i] == Verdict::kForward) {
      FillKey(burst.data[i] + view.l3_offset, view, burst.key[i]);
    }
  }
}

}  // namespace penstock::lb

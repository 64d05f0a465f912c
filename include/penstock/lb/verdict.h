// What became of a packet. One table holds value, name and kind, and sizes the counters: a drop
// without a name and a counter does not compile.

#ifndef PENSTOCK_LB_VERDICT_H_
#define PENSTOCK_LB_VERDICT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace penstock::lb {

enum class Verdict : uint8_t {
  kForward,        // wrapped, or still on its way through the stages
  kAnswerArp,      // turned into our ARP reply
  kAnswerNdp,      // turned into our neighbor advertisement
  kLearnNeighbor,  // an ARP or NDP message we only read
  kDropTruncated,
  kDropMultiSegment,
  kDropNotOurMac,
  kDropVlan,
  kDropUnknownEtherType,
  kDropMalformedIpv4,
  kDropIpv4Checksum,
  kDropMalformedIpv6,
  kDropIpv6Extension,
  kDropTtlZero,
  kDropFragment,
  kDropMalformedTransport,
  kDropUnknownProtocol,
  kDropMalformedNeighbor,
  kDropIcmp,
  kDropNotVip,
  kDropNoService,
  kDropLoop,
  kDropNoBackend,
  kDropTooBig,
  kDropNoHeadroom,
  kDropNoNeighbor,
  kDropTxFull,
  kCount
};

inline constexpr std::size_t kVerdictCount = static_cast<std::size_t>(Verdict::kCount);

// The terms of the identity received = forwarded + answered + dropped.
enum class VerdictKind : uint8_t { kForwarded, kAnswered, kDropped };

struct VerdictInfo {
  Verdict verdict;
  VerdictKind kind;
  std::string_view name;  // as counters, logs and tests spell it
  std::string_view help;  // one sentence for operators
};

// Indexed by Verdict.
inline constexpr std::array<VerdictInfo, kVerdictCount> kVerdicts = {{
    {Verdict::kForward, VerdictKind::kForwarded, "forwarded",
     "Wrapped and taken by the transmit queue."},
    {Verdict::kAnswerArp, VerdictKind::kAnswered, "answered_arp",
     "ARP requests for an address of the port, answered."},
    {Verdict::kAnswerNdp, VerdictKind::kAnswered, "answered_ndp",
     "Neighbor solicitations for an address of the port, answered."},
    {Verdict::kLearnNeighbor, VerdictKind::kAnswered, "learned_neighbor",
     "ARP and NDP messages read for the gateways' addresses, or about other hosts."},
    {Verdict::kDropTruncated, VerdictKind::kDropped, "drop_truncated",
     "Shorter than an Ethernet header."},
    {Verdict::kDropMultiSegment, VerdictKind::kDropped, "drop_multi_segment",
     "Spread over several receive buffers."},
    {Verdict::kDropNotOurMac, VerdictKind::kDropped, "drop_not_our_mac",
     "Addressed to another station's MAC address, or IP in a broadcast or multicast frame."},
    {Verdict::kDropVlan, VerdictKind::kDropped, "drop_vlan", "VLAN-tagged."},
    {Verdict::kDropUnknownEtherType, VerdictKind::kDropped, "drop_unknown_ethertype",
     "Neither IPv4, IPv6 nor ARP."},
    {Verdict::kDropMalformedIpv4, VerdictKind::kDropped, "drop_malformed_ipv4",
     "IPv4 version, header length or total length wrong, or the frame cut short."},
    {Verdict::kDropIpv4Checksum, VerdictKind::kDropped, "drop_ipv4_checksum",
     "IPv4 header checksum wrong."},
    {Verdict::kDropMalformedIpv6, VerdictKind::kDropped, "drop_malformed_ipv6",
     "IPv6 version or payload length wrong, or the frame cut short."},
    {Verdict::kDropIpv6Extension, VerdictKind::kDropped, "drop_ipv6_extension",
     "IPv6 extension headers cut, too many or too long."},
    {Verdict::kDropTtlZero, VerdictKind::kDropped, "drop_ttl_zero", "TTL or hop limit zero."},
    {Verdict::kDropFragment, VerdictKind::kDropped, "drop_fragment", "Part of a datagram."},
    {Verdict::kDropMalformedTransport, VerdictKind::kDropped, "drop_malformed_transport",
     "No room for the TCP or UDP header in the packet, or a TCP data offset that lies."},
    {Verdict::kDropUnknownProtocol, VerdictKind::kDropped, "drop_unknown_protocol",
     "Neither TCP, UDP nor ICMP."},
    {Verdict::kDropMalformedNeighbor, VerdictKind::kDropped, "drop_malformed_neighbor",
     "ARP or NDP that its own specification says to discard."},
    {Verdict::kDropIcmp, VerdictKind::kDropped, "drop_icmp",
     "ICMP that is not neighbor discovery."},
    {Verdict::kDropNotVip, VerdictKind::kDropped, "drop_not_vip",
     "Addressed to no VIP of the configuration."},
    {Verdict::kDropNoService, VerdictKind::kDropped, "drop_no_service",
     "Addressed to a VIP, at a protocol and port without a service."},
    {Verdict::kDropLoop, VerdictKind::kDropped, "drop_loop",
     "Sent by one of our own addresses or by the chosen backend."},
    {Verdict::kDropNoBackend, VerdictKind::kDropped, "drop_no_backend",
     "No backend of the pool is usable."},
    {Verdict::kDropTooBig, VerdictKind::kDropped, "drop_too_big",
     "Larger than the port's MTU once wrapped."},
    {Verdict::kDropNoHeadroom, VerdictKind::kDropped, "drop_no_headroom",
     "No room in the buffer for the outer header."},
    {Verdict::kDropNoNeighbor, VerdictKind::kDropped, "drop_no_neighbor",
     "The gateway's MAC address is not known."},
    {Verdict::kDropTxFull, VerdictKind::kDropped, "drop_tx_full",
     "Not taken by the transmit queue."},
}};

// Proves at compile time that entry i describes verdict i and has a name.
consteval bool VerdictTableIsOrdered() {
  for (std::size_t i = 0; i < kVerdictCount; ++i) {
    if (static_cast<std::size_t>(kVerdicts[i].verdict) != i || kVerdicts[i].name.empty()) {
      return false;
    }
  }
  return true;
}
static_assert(VerdictTableIsOrdered());

[[nodiscard]] constexpr const VerdictInfo& InfoOf(Verdict v) {
  return kVerdicts[static_cast<std::size_t>(v)];
}

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_VERDICT_H_

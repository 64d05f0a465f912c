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
  kAnswerEcho,     // turned into our echo reply; before IcmpStage, any ICMP
  kAnswerTooBig,   // turned into our ICMP "too big"
  kLearnNeighbor,  // an ARP or NDP message we only read
  kLearnPathMtu,   // an ICMP error of the fabric about a packet that we wrapped
  kHold,           // a later fragment that waits for its first one (HeldPackets)
  kDropTruncated,
  kDropMultiSegment,
  kDropSharedBuffer,
  kDropNotOurMac,
  kDropVlanDepth,
  kDropUnknownEtherType,
  kDropMalformedIpv4,
  kDropIpv4Checksum,
  kDropMalformedIpv6,
  kDropIpv6Extension,
  kDropTtlZero,
  kDropTinyFragment,
  kDropMalformedFragment,
  kDropFragment,
  kDropFragmentOverflow,
  kDropFragmentTimeout,
  kDropMalformedTransport,
  kDropMalformedNeighbor,
  kDropIcmpMalformed,
  kDropIcmpType,
  kDropIcmpNoService,
  kDropEchoPolicy,
  kDropEchoLimited,
  kDropNotVip,
  kDropMartianSource,
  kDropNoService,
  kDropDenied,
  kDropLoop,
  kDropNoBackend,
  kDropRateLimited,
  kDropTooBig,
  kDropTooBigLimited,
  kDropNoBuffer,
  kDropNoHeadroom,
  kDropNoNeighbor,
  kDropTxFull,
  kCount
};

inline constexpr std::size_t kVerdictCount = static_cast<std::size_t>(Verdict::kCount);

// The terms of the identity received = forwarded + answered + held + dropped. Held packets are a
// gauge: they end under another verdict later.
enum class VerdictKind : uint8_t { kForwarded, kAnswered, kHeld, kDropped };

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
    {Verdict::kAnswerEcho, VerdictKind::kAnswered, "answered_echo",
     "Echo requests for a VIP or an address of the port, answered."},
    {Verdict::kAnswerTooBig, VerdictKind::kAnswered, "answered_too_big",
     "Larger than the MTU once wrapped, answered with ICMP \"too big\"."},
    {Verdict::kLearnNeighbor, VerdictKind::kAnswered, "learned_neighbor",
     "ARP and NDP messages read for the addresses in them, or about other hosts."},
    {Verdict::kLearnPathMtu, VerdictKind::kAnswered, "learned_path_mtu",
     "ICMP errors of the fabric that tell a smaller MTU on the way to a backend."},
    {Verdict::kHold, VerdictKind::kHeld, "held",
     "Later fragments that wait for their datagram's first one, now."},
    {Verdict::kDropTruncated, VerdictKind::kDropped, "drop_truncated",
     "Shorter than an Ethernet header and its VLAN tags."},
    {Verdict::kDropMultiSegment, VerdictKind::kDropped, "drop_multi_segment",
     "Spread over several receive buffers."},
    {Verdict::kDropSharedBuffer, VerdictKind::kDropped, "drop_shared_buffer",
     "In a receive buffer that somebody else may read too."},
    {Verdict::kDropNotOurMac, VerdictKind::kDropped, "drop_not_our_mac",
     "Addressed to another station's MAC address, or IP in a broadcast or multicast frame."},
    {Verdict::kDropVlanDepth, VerdictKind::kDropped, "drop_vlan_depth", "More than two VLAN tags."},
    {Verdict::kDropUnknownEtherType, VerdictKind::kDropped, "drop_unknown_ethertype",
     "Neither IPv4, IPv6 nor ARP."},
    {Verdict::kDropMalformedIpv4, VerdictKind::kDropped, "drop_malformed_ipv4",
     "IPv4 version, header length or total length wrong, or the frame cut short."},
    {Verdict::kDropIpv4Checksum, VerdictKind::kDropped, "drop_ipv4_checksum",
     "IPv4 header checksum wrong."},
    {Verdict::kDropMalformedIpv6, VerdictKind::kDropped, "drop_malformed_ipv6",
     "IPv6 version or payload length wrong, or the frame cut short."},
    {Verdict::kDropIpv6Extension, VerdictKind::kDropped, "drop_ipv6_extension",
     "IPv6 extension headers cut, too many, too long, or with nothing behind them."},
    {Verdict::kDropTtlZero, VerdictKind::kDropped, "drop_ttl_zero", "TTL or hop limit zero."},
    {Verdict::kDropTinyFragment, VerdictKind::kDropped, "drop_tiny_fragment",
     "A fragment that hides ports or TCP flags."},
    {Verdict::kDropMalformedFragment, VerdictKind::kDropped, "drop_malformed_fragment",
     "A fragment that fits no datagram: beyond 65,535 bytes, not whole units, or nested."},
    {Verdict::kDropFragment, VerdictKind::kDropped, "drop_fragment",
     "Fragments of ICMP, and of services that say fragments: drop."},
    {Verdict::kDropFragmentOverflow, VerdictKind::kDropped, "drop_fragment_overflow",
     "Later fragments for which there was no room to wait for the first one."},
    {Verdict::kDropFragmentTimeout, VerdictKind::kDropped, "drop_fragment_timeout",
     "Later fragments whose datagram's first one did not come in time."},
    {Verdict::kDropMalformedTransport, VerdictKind::kDropped, "drop_malformed_transport",
     "No room for the TCP or UDP header in the packet, or a TCP data offset that lies."},
    {Verdict::kDropMalformedNeighbor, VerdictKind::kDropped, "drop_malformed_neighbor",
     "ARP or NDP that its own specification says to discard."},
    {Verdict::kDropIcmpMalformed, VerdictKind::kDropped, "drop_icmp_malformed",
     "ICMP cut short, with a checksum that is wrong, or quoting what cannot be a packet."},
    {Verdict::kDropIcmpType, VerdictKind::kDropped, "drop_icmp_type",
     "ICMP of a type that concerns neither flows nor reachability."},
    {Verdict::kDropIcmpNoService, VerdictKind::kDropped, "drop_icmp_no_service",
     "ICMP errors about packets that no service, and no tunnel of ours, has sent."},
    {Verdict::kDropEchoPolicy, VerdictKind::kDropped, "drop_echo_policy",
     "Echo requests for a VIP whose services say icmp_echo: drop."},
    {Verdict::kDropEchoLimited, VerdictKind::kDropped, "drop_echo_limited",
     "Echo requests above the rate of ICMP of our own making."},
    {Verdict::kDropNotVip, VerdictKind::kDropped, "drop_not_vip",
     "Addressed to no VIP of the configuration."},
    {Verdict::kDropMartianSource, VerdictKind::kDropped, "drop_martian_source",
     "From a source address that no host can have, or from the VIP itself."},
    {Verdict::kDropNoService, VerdictKind::kDropped, "drop_no_service",
     "Addressed to a VIP, at a protocol and port without a service."},
    {Verdict::kDropDenied, VerdictKind::kDropped, "drop_denied",
     "From a source that the service denies."},
    {Verdict::kDropLoop, VerdictKind::kDropped, "drop_loop",
     "Sent by one of our own addresses or by the chosen backend, or a tunnel packet for a VIP."},
    {Verdict::kDropNoBackend, VerdictKind::kDropped, "drop_no_backend",
     "No backend of the pool is usable."},
    {Verdict::kDropRateLimited, VerdictKind::kDropped, "drop_rate_limited",
     "New flows above the service's rate_limit, in all or of one source."},
    {Verdict::kDropTooBig, VerdictKind::kDropped, "drop_too_big",
     "Larger than the MTU once wrapped, and not to be answered."},
    {Verdict::kDropTooBigLimited, VerdictKind::kDropped, "drop_too_big_limited",
     "Larger than the MTU once wrapped, above the rate of ICMP of our own making."},
    {Verdict::kDropNoBuffer, VerdictKind::kDropped, "drop_no_buffer",
     "Larger than the MTU once wrapped, and no buffers for its fragments."},
    {Verdict::kDropNoHeadroom, VerdictKind::kDropped, "drop_no_headroom",
     "No room in the buffer for the headers in front."},
    {Verdict::kDropNoNeighbor, VerdictKind::kDropped, "drop_no_neighbor",
     "The MAC address of the gateway, or of an l2 backend, is not known."},
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

// Packets with such a verdict are sent through their egress port.
[[nodiscard]] constexpr bool IsSent(Verdict v) {
  return v <= Verdict::kAnswerTooBig;
}

[[nodiscard]] constexpr const VerdictInfo& InfoOf(Verdict v) {
  return kVerdicts[static_cast<std::size_t>(v)];
}

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_VERDICT_H_

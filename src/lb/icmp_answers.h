// ICMP of our own making, written over the packet that it answers.

#ifndef PENSTOCK_LB_ICMP_ANSWERS_H_
#define PENSTOCK_LB_ICMP_ANSWERS_H_

#include <cstdint>
#include <span>

#include "penstock/lb/pipeline.h"

namespace penstock::lb {

// The packet's ICMP message. REQUIRES: the packet is ICMP.
[[nodiscard]] std::span<const uint8_t> IcmpMessageOf(const PacketBurst& burst, std::size_t i);

// True if the checksum over the packet's ICMP message is right.
[[nodiscard]] bool IcmpChecksumHolds(const PacketBurst& burst, std::size_t i);

// Turns an echo request into its reply, to the gateway of the port that it came through (RFC 1122
// section 3.2.2.6, RFC 4443 section 4.2). REQUIRES: a whole ICMP header at view.l4_offset.
// Returns kAnswerEcho, or why there is no answer.
[[nodiscard]] Verdict AnswerEcho(const ForwardContext& context, PacketBurst& burst, std::size_t i);

// Turns a packet of more than `mtu` bytes into ICMP "too big" for its sender, from its destination
// (RFC 1191 section 4, RFC 4443 section 3.2). Returns kAnswerTooBig, or why there is no answer.
[[nodiscard]] Verdict AnswerTooBig(const ForwardContext& context, PacketBurst& burst, std::size_t i,
                                   std::size_t mtu);

// kForward if this packet's sender may be answered, else why not; `limited` if by the rate.
[[nodiscard]] Verdict MayAnswer(const ForwardContext& context, const PacketBurst& burst,
                                std::size_t i, Verdict limited);

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_ICMP_ANSWERS_H_

#include "lb/icmp_answers.h"

#include <algorithm>
#include <string_view>

#include "lb/link.h"
#include "lb/packet_key.h"
#include "penstock/net/checksum.h"

namespace penstock::lb {
namespace {

constexpr uint8_t kHopLimit = 64;
// RFC 1812 section 4.3.2.5: errors have precedence "internetwork control".
constexpr uint8_t kErrorTos = 0xC0;
// RFC 1812 section 4.3.2.3: an IPv4 error is at most 576 bytes long; RFC 4443 section 3.2: an IPv6
// error at most the minimum MTU.
constexpr std::size_t kMaxError4 = 576;
constexpr std::size_t kMaxError6 = 1280;
constexpr uint8_t kDscpMask = 0xFC;

const uint8_t* IpOf(const PacketBurst& burst, std::size_t i) {
  return burst.data[i] + burst.view[i].l3_offset;
}

// Each writes the ICMP message of `size` bytes at `message`, whose header is `icmp`, with its
// checksum and an IP header in front, from `received`'s destination to its source.
void WriteMessage4(const net::Ipv4Header& received, uint8_t tos, net::IcmpHeader icmp,
                   uint8_t* message, std::size_t size) {
  net::Ipv4Header ip;
  ip.tos = tos;
  ip.total_length = base::be16_t(static_cast<uint16_t>(net::kIpv4Size + size));
  ip.fragment = base::be16_t(net::kIpv4DontFragment);  // with ID 0: atomic (RFC 6864 section 4.1)
  ip.ttl = kHopLimit;
  ip.protocol = net::kProtocolIcmp;
  ip.source = received.destination;
  ip.destination = received.source;
  ip.checksum = net::Ipv4Checksum(ip);
  net::Store(message - net::kIpv4Size, ip);
  icmp.checksum = base::be16_t(0);
  net::Store(message, icmp);
  icmp.checksum = net::FoldChecksum(net::SumBytes({message, size}));
  net::Store(message, icmp);
}

void WriteMessage6(const net::Ipv6Header& received, uint8_t traffic_class, net::IcmpHeader icmp,
                   uint8_t* message, std::size_t size) {
  net::Ipv6Header ip;
  ip.version_class_label = base::be32_t(6U << 28 | static_cast<uint32_t>(traffic_class) << 20);
  ip.payload_length = base::be16_t(static_cast<uint16_t>(size));
  ip.next_header = net::kProtocolIcmpv6;
  ip.hop_limit = kHopLimit;
  ip.source = received.destination;
  ip.destination = received.source;
  net::Store(message - net::kIpv6Size, ip);
  icmp.checksum = base::be16_t(0);
  net::Store(message, icmp);
  icmp.checksum = net::Ipv6UpperChecksum(ip, net::kProtocolIcmpv6, {message, size});
  net::Store(message, icmp);
}

// An answer of `size` bytes at `message`, which may lie over the packet that it answers.
struct Answer {
  uint8_t* message;
  std::size_t size;
  net::IcmpHeader icmp;
  uint8_t traffic_class;
};

// Writes and sends it to the gateway. `answered`, or why it cannot be sent.
Verdict Send(const ForwardContext& context, PacketBurst& burst, std::size_t i, const Answer& answer,
             Verdict answered) {
  const bool v4 = burst.view[i].family == net::Family::kIpv4;
  const std::size_t ip_size = v4 ? net::kIpv4Size : net::kIpv6Size;
  const std::size_t link = LinkSize(context.neighbors.vlan(burst.port));
  // A request larger than the port's own MTU came by a link that carries more.
  if (ip_size + answer.size > context.services.port_mtu(burst.port)) return Verdict::kDropTooBig;
  if (RoomBefore(burst, i, answer.message) < ip_size + link) return Verdict::kDropNoHeadroom;
  const auto gateway = context.neighbors.NextHop(burst.port, burst.view[i].family);
  if (!gateway) return Verdict::kDropNoNeighbor;
  if (v4) {
    const auto received = net::Load<net::Ipv4Header>(IpOf(burst, i));
    WriteMessage4(received, answer.traffic_class, answer.icmp, answer.message, answer.size);
  } else {
    const auto received = net::Load<net::Ipv6Header>(IpOf(burst, i));
    WriteMessage6(received, answer.traffic_class, answer.icmp, answer.message, answer.size);
  }
  SendFrom(burst, i, answer.message - ip_size, ip_size + answer.size, context.neighbors, burst.port,
           *gateway, v4 ? net::kEtherTypeIpv4 : net::kEtherTypeIpv6);
  return answered;
}

}  // namespace

std::span<const uint8_t> IcmpMessageOf(const PacketBurst& burst, std::size_t i) {
  const net::PacketView& view = burst.view[i];
  return {burst.data[i] + view.l4_offset,
          static_cast<std::size_t>(view.l3_offset + view.ip_length - view.l4_offset)};
}

bool IcmpChecksumHolds(const PacketBurst& burst, std::size_t i) {
  const auto message = IcmpMessageOf(burst, i);
  if (burst.view[i].family == net::Family::kIpv4) {
    return net::FoldChecksum(net::SumBytes(message)).raw() == 0;
  }
  const auto ip = net::Load<net::Ipv6Header>(IpOf(burst, i));
  return net::Ipv6UpperChecksum(ip, net::kProtocolIcmpv6, message).raw() == 0;
}

Verdict MayAnswer(const ForwardContext& context, const PacketBurst& burst, std::size_t i,
                  Verdict limited) {
  const net::IpAddress source = PacketSource(burst, i);
  // RFC 1122 section 3.2.2: nothing is sent to what may be many.
  if (context.services.IsBroadcast(source)) return Verdict::kDropMartianSource;
  // One IPv6 host has a /64 of addresses to send from.
  const std::string_view bytes(reinterpret_cast<const char*>(source.bytes.data()),
                               source.IsV4() ? 4 : 8);
  const uint64_t hash = HashBytes(bytes, /*salt=*/0, context.services.key());
  const bool known = (burst.flags[i] & kKnownFlow) != 0;
  return context.icmp.Allow(hash, known, context.now) ? Verdict::kForward : limited;
}

Verdict AnswerEcho(const ForwardContext& context, PacketBurst& burst, std::size_t i) {
  const net::PacketView& view = burst.view[i];
  uint8_t* message = burst.data[i] + view.l4_offset;
  auto icmp = net::Load<net::IcmpHeader>(message);
  icmp.type = view.family == net::Family::kIpv4 ? net::kIcmpEchoReply : net::kIcmpv6EchoReply;
  const Answer answer{message, IcmpMessageOf(burst, i).size(), icmp,
                      static_cast<uint8_t>(view.traffic_class & kDscpMask)};
  return Send(context, burst, i, answer, Verdict::kAnswerEcho);
}

Verdict AnswerTooBig(const ForwardContext& context, PacketBurst& burst, std::size_t i,
                     std::size_t mtu) {
  const net::PacketView& view = burst.view[i];
  const bool v4 = view.family == net::Family::kIpv4;
  net::IcmpHeader icmp;
  icmp.type = v4 ? net::kIcmpUnreachable : net::kIcmpv6PacketTooBig;
  icmp.code = v4 ? net::kIcmpFragmentationNeeded : 0;
  // RFC 8200 section 5: every IPv6 link takes 1280 bytes, and hosts believe no less.
  icmp.rest = base::be32_t(static_cast<uint32_t>(v4 ? mtu : std::max(mtu, kMaxError6)));
  // The quote stays where the packet lies; the headers go in front of it.
  const std::size_t headers = (v4 ? net::kIpv4Size : net::kIpv6Size) + sizeof(icmp);
  const std::size_t quoted =
      std::min<std::size_t>(view.ip_length, (v4 ? kMaxError4 : kMaxError6) - headers);
  uint8_t* quote = burst.data[i] + view.l3_offset;
  if (RoomBefore(burst, i, quote) < sizeof(icmp)) return Verdict::kDropNoHeadroom;
  const Answer answer{quote - sizeof(icmp), sizeof(icmp) + quoted, icmp,
                      v4 ? kErrorTos : uint8_t{0}};
  return Send(context, burst, i, answer, Verdict::kAnswerTooBig);
}

}  // namespace penstock::lb

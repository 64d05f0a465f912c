// Datagrams cut into fragments, as a host or an IPv4 router would.

#ifndef PENSTOCK_TESTS_SUPPORT_FRAGMENTS_H_
#define PENSTOCK_TESTS_SUPPORT_FRAGMENTS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/support/frame.h"

namespace penstock::testing {

// The frames of one packet's fragments, first one first, each with at most `piece` bytes of the
// packet's payload. REQUIRES: piece a multiple of 8; no options.
inline std::vector<Bytes> FragmentFrames(const PacketSpec& spec, std::size_t piece, uint16_t id) {
  const bool v4 = Ip(spec.destination).IsV4();
  const Bytes packet = v4 ? Ipv4Packet(spec) : Ipv6Packet(spec);
  const std::size_t header = v4 ? net::kIpv4Size : net::kIpv6Size;
  const std::size_t total = packet.size() - header;
  std::vector<Bytes> frames;
  for (std::size_t at = 0; at < total; at += piece) {
    const std::size_t size = std::min(piece, total - at);
    const bool more = at + size < total;
    Bytes part(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(header));
    if (v4) {
      auto ip = net::Load<net::Ipv4Header>(part.data());
      ip.total_length = base::be16_t(static_cast<uint16_t>(header + size));
      ip.id = base::be16_t(id);
      ip.fragment =
          base::be16_t(static_cast<uint16_t>((more ? net::kIpv4MoreFragments : 0) | at / 8));
      ip.checksum = net::Ipv4Checksum(ip);
      net::Store(part.data(), ip);
    } else {
      auto ip = net::Load<net::Ipv6Header>(part.data());
      ip.payload_length = base::be16_t(static_cast<uint16_t>(8 + size));
      ip.next_header = net::kProtocolFragment;
      net::Store(part.data(), ip);
      Append(part, std::array<uint8_t, 2>{spec.protocol, 0});
      Append(part, base::be16_t(static_cast<uint16_t>(at | (more ? 1 : 0))));
      Append(part, base::be32_t(id));
    }
    AppendBytes(part, packet.data() + header + at, size);
    frames.push_back(Ethernet(v4 ? net::kEtherTypeIpv4 : net::kEtherTypeIpv6, part,
                              spec.ethernet_source, spec.ethernet_destination));
  }
  return frames;
}

}  // namespace penstock::testing

#endif  // PENSTOCK_TESTS_SUPPORT_FRAGMENTS_H_

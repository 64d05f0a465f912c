#include "penstock/net/checksum.h"

namespace penstock::net {

uint64_t SumBytes(std::span<const uint8_t> bytes, uint64_t sum) {
  const uint8_t* p = bytes.data();
  std::size_t left = bytes.size();
  // 32-bit words into 64 bits: no carry is lost, and folding is congruent modulo 2^16 - 1.
  for (; left >= 4; left -= 4, p += 4) sum += Load<uint32_t>(p);
  if (left >= 2) {
    sum += Load<uint16_t>(p);
    p += 2;
    left -= 2;
  }
  if (left == 1) sum += base::be16_t(static_cast<uint16_t>(*p << 8)).raw();
  return sum;
}

base::be16_t FoldChecksum(uint64_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return base::be16_t::FromRaw(static_cast<uint16_t>(~sum));
}

base::be16_t Ipv4Checksum(const Ipv4Header& header) {
  Ipv4Header zeroed = header;
  zeroed.checksum = base::be16_t(0);
  return FoldChecksum(SumBytes({reinterpret_cast<const uint8_t*>(&zeroed), sizeof(zeroed)}));
}

bool Ipv4ChecksumHolds(std::span<const uint8_t> header) {
  return FoldChecksum(SumBytes(header)).raw() == 0;
}

base::be16_t Ipv6UpperChecksum(const Ipv6Header& ip, uint8_t next_header,
                               std::span<const uint8_t> message) {
  uint64_t sum = SumBytes(ip.source);
  sum = SumBytes(ip.destination, sum);
  sum += base::be32_t(static_cast<uint32_t>(message.size())).raw();
  sum += base::be32_t(next_header).raw();
  return FoldChecksum(SumBytes(message, sum));
}

}  // namespace penstock::net

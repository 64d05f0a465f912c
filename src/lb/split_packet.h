// An IPv4 packet cut into fragments (RFC 791 section 3.2).

#ifndef PENSTOCK_LB_SPLIT_PACKET_H_
#define PENSTOCK_LB_SPLIT_PACKET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/net/wire.h"

namespace penstock::lb {

// How a packet is cut: the first fragment stays where the packet is, the others are written
// elsewhere.
class SplitPacket {
 public:
  // REQUIRES: a whole IPv4 packet with a header that the parser has let pass, longer than `room`;
  // room >= 128: the longest header and some payload.
  SplitPacket(std::span<uint8_t> packet, std::size_t room);

  // Fragments, the first one included.
  [[nodiscard]] std::size_t count() const { return count_; }
  // Bytes of fragment `n`, header included.
  [[nodiscard]] std::size_t SizeOf(std::size_t n) const;
  // Writes fragment n >= 1. REQUIRES: SizeOf(n) bytes at `to`; CutFirst has not been called.
  void Write(std::size_t n, uint8_t* to) const;
  // Makes the packet its first fragment, in place.
  void CutFirst();

 private:
  // First byte of fragment n's payload in the packet's payload, and bytes of it.
  [[nodiscard]] std::size_t PayloadStart(std::size_t n) const;
  [[nodiscard]] std::size_t PayloadSize(std::size_t n) const;
  void CopyOptions();
  // The fragment field of fragment n: the packet's own offset and flags count.
  [[nodiscard]] base::be16_t FragmentField(std::size_t n) const;

  std::span<uint8_t> packet_;
  net::Ipv4Header header_;
  std::size_t header_size_;  // of the packet and its first fragment
  std::size_t payload_size_;
  std::array<uint8_t, 40> copied_options_{};
  std::size_t copied_size_ = 0;  // padded to a multiple of 4
  std::size_t first_payload_;
  std::size_t later_payload_;
  std::size_t count_;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_SPLIT_PACKET_H_

#include "lb/split_packet.h"

#include <algorithm>
#include <cstring>

#include "penstock/net/checksum.h"

namespace penstock::lb {
namespace {

// RFC 791 section 3.1.
constexpr uint8_t kEndOfOptions = 0;
constexpr uint8_t kNoOperation = 1;
constexpr uint8_t kCopiedFlag = 0x80;

constexpr uint16_t kReservedFlag = 0x8000;
constexpr std::size_t kUnit = 8;  // of fragment offsets, bytes

std::size_t RoundDown(std::size_t size) {
  return size / kUnit * kUnit;
}

// Over a header whose checksum field is zero.
void WriteHeaderChecksum(uint8_t* header, std::size_t size) {
  const base::be16_t sum = net::FoldChecksum(net::SumBytes({header, size}));
  net::Store(header + offsetof(net::Ipv4Header, checksum), sum);
}

}  // namespace

SplitPacket::SplitPacket(std::span<uint8_t> packet, std::size_t room)
    : packet_(packet),
      header_(net::Load<net::Ipv4Header>(packet.data())),
      header_size_((header_.version_ihl & 0x0FU) * 4U),
      payload_size_(packet.size() - header_size_) {
  CopyOptions();
  first_payload_ = RoundDown(room - header_size_);
  later_payload_ = RoundDown(room - net::kIpv4Size - copied_size_);
  const std::size_t rest = payload_size_ - first_payload_;
  count_ = 1 + (rest + later_payload_ - 1) / later_payload_;
}

// RFC 791 section 3.1: options with the copied flag go into all fragments. An option that lies
// about its length ends the list; what comes behind it could not be read by anybody.
void SplitPacket::CopyOptions() {
  const uint8_t* option = packet_.data() + net::kIpv4Size;
  const uint8_t* end = packet_.data() + header_size_;
  while (option < end && *option != kEndOfOptions) {
    if (*option == kNoOperation) {
      ++option;
      continue;
    }
    const std::size_t left = static_cast<std::size_t>(end - option);
    if (left < 2 || option[1] < 2 || option[1] > left) break;
    if ((*option & kCopiedFlag) != 0) {
      std::memcpy(copied_options_.data() + copied_size_, option, option[1]);
      copied_size_ += option[1];
    }
    option += option[1];
  }
  copied_size_ = (copied_size_ + 3) / 4 * 4;  // zero bytes end the list
}

std::size_t SplitPacket::PayloadStart(std::size_t n) const {
  return n == 0 ? 0 : first_payload_ + (n - 1) * later_payload_;
}

std::size_t SplitPacket::PayloadSize(std::size_t n) const {
  return n == 0 ? first_payload_ : std::min(later_payload_, payload_size_ - PayloadStart(n));
}

std::size_t SplitPacket::SizeOf(std::size_t n) const {
  return (n == 0 ? header_size_ : net::kIpv4Size + copied_size_) + PayloadSize(n);
}

base::be16_t SplitPacket::FragmentField(std::size_t n) const {
  const uint16_t field = header_.fragment.value();
  const std::size_t offset = (field & net::kIpv4OffsetMask) + PayloadStart(n) / kUnit;
  const bool more = n + 1 < count_ || (field & net::kIpv4MoreFragments) != 0;
  std::size_t flags = field & kReservedFlag;  // means nothing, and is the sender's
  if (more) flags |= net::kIpv4MoreFragments;
  return base::be16_t(static_cast<uint16_t>(flags | offset));
}

void SplitPacket::Write(std::size_t n, uint8_t* to) const {
  const std::size_t size = net::kIpv4Size + copied_size_;
  net::Ipv4Header ip = header_;
  ip.version_ihl = static_cast<uint8_t>(0x40 | size / 4);
  ip.total_length = base::be16_t(static_cast<uint16_t>(SizeOf(n)));
  ip.fragment = FragmentField(n);
  ip.checksum = base::be16_t(0);
  net::Store(to, ip);
  std::memcpy(to + net::kIpv4Size, copied_options_.data(), copied_size_);
  WriteHeaderChecksum(to, size);
  std::memcpy(to + size, packet_.data() + header_size_ + PayloadStart(n), PayloadSize(n));
}

void SplitPacket::CutFirst() {
  net::Ipv4Header ip = header_;
  ip.total_length = base::be16_t(static_cast<uint16_t>(SizeOf(0)));
  ip.fragment = FragmentField(0);
  ip.checksum = base::be16_t(0);
  net::Store(packet_.data(), ip);
  WriteHeaderChecksum(packet_.data(), header_size_);
}

}  // namespace penstock::lb

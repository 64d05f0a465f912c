// Packets by the hundred thousand from sources that nobody has, without an allocation.

#ifndef PENSTOCK_TESTS_LB_FLOOD_H_
#define PENSTOCK_TESTS_LB_FLOOD_H_

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "penstock/lb/pipeline.h"
#include "tests/support/icmp.h"

namespace penstock::lb {

// kFirstFragments: of UDP; kLaterFragments: of datagrams whose first one never comes.
enum class FloodKind { kSyn, kAck, kUdp, kIcmpError, kFirstFragments, kLaterFragments };

// IPv4, to the fixture's VIP at port 80 unless `destination_port` says otherwise. Sources are in
// 11.0.0.0/8.
class Flood {
 public:
  Flood(FloodKind kind, uint32_t seed, uint16_t destination_port = 80)
      : kind_(kind), random_(seed) {
    testing::PacketSpec spec;
    spec.destination_port = destination_port;
    spec.tcp_flags = kind == FloodKind::kSyn ? net::kTcpSyn : net::kTcpAck;
    if (kind != FloodKind::kSyn && kind != FloodKind::kAck) spec.protocol = net::kProtocolUdp;
    spec.payload = 8;
    if (kind == FloodKind::kFirstFragments) spec.fragment = net::kIpv4MoreFragments;
    if (kind == FloodKind::kLaterFragments) spec.fragment = 2;
    const testing::Bytes frame = kind == FloodKind::kIcmpError
                                     ? testing::IcmpFrame({.body = testing::AnswerOf(spec)})
                                     : testing::Frame(spec);
    std::copy(frame.begin(), frame.end(), frame_.begin());
    size_ = frame.size();
  }

  [[nodiscard]] FloodKind kind() const { return kind_; }

  // Sends so many packets in bursts and returns how many of them were to be forwarded.
  std::size_t Send(const ForwardContext& context, std::size_t packets) {
    std::size_t forwarded = 0;
    for (std::size_t sent = 0; sent < packets; sent += kBurstSize) {
      burst_.count = static_cast<int>(std::min<std::size_t>(kBurstSize, packets - sent));
      burst_.port = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(burst_.count); ++i) Fill(i);
      ForwardBurst(context, burst_);
      forwarded += static_cast<std::size_t>(std::count(
          burst_.verdict.begin(), burst_.verdict.begin() + burst_.count, Verdict::kForward));
    }
    return forwarded;
  }

 private:
  static constexpr std::size_t kHeadroom = 128;
  static constexpr std::size_t kIp = net::kEthernetSize;

  void Fill(std::size_t i) {
    const uint64_t bits = random_();
    const std::array<uint8_t, 4> source = {11, static_cast<uint8_t>(bits),
                                           static_cast<uint8_t>(bits >> 8),
                                           static_cast<uint8_t>(bits >> 16)};
    const std::array<uint8_t, 2> port = {static_cast<uint8_t>(bits >> 24),
                                         static_cast<uint8_t>(bits >> 32)};
    std::size_t ip = kIp;
    if (kind_ == FloodKind::kIcmpError) ip += net::kIpv4Size + sizeof(net::IcmpHeader);
    // What the VIP sent has the client as destination.
    const std::size_t client = kind_ == FloodKind::kIcmpError ? 1 : 0;
    std::copy(source.begin(), source.end(), &frame_[ip + 12 + client * 4]);
    std::copy(port.begin(), port.end(), &frame_[ip + net::kIpv4Size + client * 2]);
    std::copy_n(frame_.begin(), size_, buffers_[i].begin() + kHeadroom);
    burst_.data[i] = buffers_[i].data() + kHeadroom;
    burst_.length[i] = static_cast<uint16_t>(size_);
    burst_.headroom[i] = kHeadroom;
    burst_.tailroom[i] = static_cast<uint16_t>(buffers_[i].size() - kHeadroom - size_);
    burst_.flags[i] = kChecksumVerified;
  }

  FloodKind kind_;
  std::mt19937_64 random_;
  std::array<uint8_t, 128> frame_{};
  std::size_t size_ = 0;
  std::array<std::array<uint8_t, 320>, kBurstSize> buffers_{};
  PacketBurst burst_;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_TESTS_LB_FLOOD_H_

#include "dpdk/buffer.h"

#include <gtest/gtest.h>
#include <rte_mbuf.h>

#include <array>
#include <cstddef>

namespace penstock::dpdk {
namespace {

constexpr uint16_t kRoom = 2048;

// A buffer with a frame of 100 bytes, as a device hands it over.
class Received : public ::testing::Test {
 protected:
  Received() {
    buffer_.buf_addr = bytes_.data();
    buffer_.buf_len = kRoom;
    buffer_.data_off = 128;
    buffer_.data_len = 100;
    buffer_.pkt_len = 100;
    buffer_.nb_segs = 1;
    rte_mbuf_refcnt_set(&buffer_, 1);
  }
  uint8_t Flags() {
    FillFromBuffer(buffer_, burst_, 0);
    return burst_.flags[0];
  }

  std::array<uint8_t, kRoom> bytes_{};
  // By hand: a struct that ends in an array of nothing is no member.
  alignas(rte_mbuf) std::array<std::byte, sizeof(rte_mbuf)> storage_{};
  rte_mbuf& buffer_ = *reinterpret_cast<rte_mbuf*>(storage_.data());
  lb::PacketBurst burst_;
};

TEST_F(Received, IsDescribed) {
  EXPECT_EQ(Flags(), 0);
  EXPECT_EQ(burst_.data[0], bytes_.data() + 128);
  EXPECT_EQ(burst_.length[0], 100);
  EXPECT_EQ(burst_.headroom[0], 128);
  EXPECT_EQ(burst_.tailroom[0], kRoom - 128 - 100);
}

// D06: a chain of buffers is never taken for one; nor is one that others may read written to.
TEST_F(Received, D06_ChainsAndSharedBuffersAreMarked) {
  buffer_.nb_segs = 2;
  EXPECT_EQ(Flags(), lb::kMultiSegment);
  buffer_.nb_segs = 1;
  buffer_.pkt_len = 200;
  EXPECT_EQ(Flags(), lb::kMultiSegment);
  buffer_.pkt_len = 100;
  rte_mbuf_refcnt_set(&buffer_, 2);
  EXPECT_EQ(Flags(), lb::kSharedBuffer);
  rte_mbuf_refcnt_set(&buffer_, 1);
  buffer_.ol_flags = RTE_MBUF_F_EXTERNAL;
  EXPECT_EQ(Flags(), lb::kSharedBuffer);
}

TEST_F(Received, OnlyAGoodChecksumIsBelieved) {
  buffer_.ol_flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD;
  EXPECT_EQ(Flags(), lb::kChecksumVerified);
  for (const uint64_t flag : {RTE_MBUF_F_RX_IP_CKSUM_BAD, RTE_MBUF_F_RX_IP_CKSUM_NONE,
                              RTE_MBUF_F_RX_L4_CKSUM_GOOD, RTE_MBUF_F_RX_L4_CKSUM_BAD}) {
    buffer_.ol_flags = flag;
    EXPECT_EQ(Flags(), 0);
  }
}

// E08: nothing that the receive side noted is taken for a request to the transmitting device, with
// whatever offloads that has: the outer checksum is in the packet.
TEST_F(Received, E08_OffloadRequestsAreResetBeforeSending) {
  buffer_.ol_flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_RSS_HASH |
                     RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM | RTE_MBUF_F_TX_TUNNEL_IPIP |
                     RTE_MBUF_F_TX_TCP_SEG;
  buffer_.tx_offload = UINT64_MAX;
  buffer_.packet_type = 0x111;
  buffer_.vlan_tci = 7;
  FillFromBuffer(buffer_, burst_, 0);
  burst_.data[0] -= 20;
  burst_.length[0] = 120;
  WriteToBuffer(burst_, 0, buffer_);
  EXPECT_EQ(buffer_.ol_flags, 0U);
  EXPECT_EQ(buffer_.tx_offload, 0U);
  EXPECT_EQ(buffer_.packet_type, 0U);
  EXPECT_EQ(buffer_.vlan_tci, 0);
  EXPECT_EQ(buffer_.data_off, 108);
  EXPECT_EQ(buffer_.data_len, 120);
  EXPECT_EQ(buffer_.pkt_len, 120U);
}

}  // namespace
}  // namespace penstock::dpdk

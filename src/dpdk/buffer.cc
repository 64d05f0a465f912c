#include "dpdk/buffer.h"

#include <rte_mbuf.h>

namespace penstock::dpdk {

void FillFromBuffer(const rte_mbuf& buffer, lb::PacketBurst& burst, std::size_t i) {
  burst.data[i] = rte_pktmbuf_mtod(&buffer, uint8_t*);
  burst.length[i] = buffer.data_len;
  burst.headroom[i] = buffer.data_off;
  burst.tailroom[i] = rte_pktmbuf_tailroom(&buffer);
  const bool whole = buffer.nb_segs == 1 && buffer.pkt_len == buffer.data_len;
  const bool shared = rte_mbuf_refcnt_read(&buffer) != 1 || !RTE_MBUF_DIRECT(&buffer);
  const bool verified =
      (buffer.ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_GOOD;
  burst.flags[i] =
      static_cast<uint8_t>((whole ? 0 : lb::kMultiSegment) | (shared ? lb::kSharedBuffer : 0) |
                           (verified ? lb::kChecksumVerified : 0));
}

void WriteToBuffer(const lb::PacketBurst& burst, std::size_t i, rte_mbuf& buffer) {
  buffer.data_off =
      static_cast<uint16_t>(burst.data[i] - static_cast<const uint8_t*>(buffer.buf_addr));
  buffer.data_len = burst.length[i];
  buffer.pkt_len = burst.length[i];
  buffer.ol_flags &= RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
  buffer.tx_offload = 0;
  buffer.packet_type = 0;
  buffer.vlan_tci = 0;
  buffer.vlan_tci_outer = 0;
}

}  // namespace penstock::dpdk

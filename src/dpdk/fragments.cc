#include "dpdk/fragments.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>

namespace penstock::dpdk {

Fragments::Fragments(rte_mempool* pool)
    : pool_(pool),
      room_(static_cast<std::size_t>(rte_pktmbuf_data_room_size(pool)) - RTE_PKTMBUF_HEADROOM) {}

Fragments::~Fragments() {
  for (std::size_t i = added_; i < added_ + reserved_; ++i) rte_pktmbuf_free(buffers_[i]);
}

bool Fragments::Reserve(std::size_t count, std::size_t size) {
  if (size > room_ || added_ + count > kMaxFrames) return false;
  if (count <= reserved_) return true;
  const auto missing = static_cast<unsigned>(count - reserved_);
  if (rte_pktmbuf_alloc_bulk(pool_, &buffers_[added_ + reserved_], missing) != 0) return false;
  reserved_ = count;
  return true;
}

uint8_t* Fragments::Add(uint8_t port, std::size_t size) {
  rte_mbuf* buffer = buffers_[added_];
  port_[added_++] = port;
  --reserved_;
  buffer->data_len = static_cast<uint16_t>(size);
  buffer->pkt_len = static_cast<uint32_t>(size);
  return rte_pktmbuf_mtod(buffer, uint8_t*);
}

void Fragments::Send(uint8_t port, uint16_t id, uint16_t queue, lb::PortCounters& counters) {
  std::array<rte_mbuf*, kMaxFrames> batch;
  uint16_t wanted = 0;
  for (std::size_t i = 0; i < added_; ++i) {
    if (port_[i] == port) batch[wanted++] = buffers_[i];
  }
  std::array<uint16_t, kMaxFrames> bytes;  // a buffer that was taken is not ours to read
  for (uint16_t i = 0; i < wanted; ++i) bytes[i] = batch[i]->data_len;
  const uint16_t sent = wanted == 0 ? 0 : rte_eth_tx_burst(id, queue, batch.data(), wanted);
  for (uint16_t i = 0; i < sent; ++i) counters.transmitted_bytes.Add(bytes[i]);
  counters.transmitted_packets.Add(sent);
  counters.own_packets.Add(sent);
  counters.own_tx_full.Add(static_cast<uint64_t>(wanted - sent));
  if (sent < wanted) rte_pktmbuf_free_bulk(&batch[sent], wanted - sent);
}

}  // namespace penstock::dpdk

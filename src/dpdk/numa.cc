#include "dpdk/numa.h"

#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <spdlog/fmt/fmt.h>

namespace penstock::dpdk {

std::vector<std::string> NumaMismatches(const std::vector<NumaPlace>& workers,
                                        const std::vector<NumaPlace>& ports) {
  std::vector<std::string> sentences;
  for (const NumaPlace& port : ports) {
    std::vector<std::string> far;
    for (const NumaPlace& worker : workers) {
      if (port.node >= 0 && worker.node != port.node) far.push_back(worker.name);
    }
    if (far.empty()) continue;
    sentences.push_back(fmt::format(
        "port {} is on NUMA node {} and {} not: each packet crosses between nodes; choose "
        "dataplane.workers among the cores of that node (`lscpu -e=CPU,NODE`)",
        port.name, port.node,
        fmt::format("{} {}", fmt::join(far, ", "), far.size() == 1 ? "is" : "are")));
  }
  return sentences;
}

PacketPool CreatePacketPool(const std::string& name, uint32_t buffers, uint32_t cache,
                            uint16_t room, int node) {
  PacketPool created;
  created.pool = rte_pktmbuf_pool_create(name.c_str(), buffers, cache, 0, room, node);
  if (created.pool != nullptr || node == SOCKET_ID_ANY) return created;
  created.pool = rte_pktmbuf_pool_create(name.c_str(), buffers, cache, 0, room, SOCKET_ID_ANY);
  created.is_near = false;
  return created;
}

}  // namespace penstock::dpdk

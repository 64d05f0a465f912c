// What should lie near what on hosts with several NUMA nodes, and what is said when it does not.

#ifndef PENSTOCK_DPDK_NUMA_H_
#define PENSTOCK_DPDK_NUMA_H_

#include <cstdint>
#include <string>
#include <vector>

struct rte_mempool;

namespace penstock::dpdk {

// A worker or port. A device that is nowhere in particular has node -1.
struct NumaPlace {
  std::string name;
  int node = -1;
};

// One sentence for each port that some workers are not on the node of; it names these and the way
// out.
[[nodiscard]] std::vector<std::string> NumaMismatches(const std::vector<NumaPlace>& workers,
                                                      const std::vector<NumaPlace>& ports);

struct PacketPool {
  rte_mempool* pool = nullptr;  // null: there is no room for it anywhere
  bool is_near = true;          // on the wanted node, or no node was wanted
};

// A pool of `buffers` packet buffers of `room` bytes, with a cache of `cache` for each worker: on
// the node if that has memory of ours, else on any. `name` is unique in the process.
[[nodiscard]] PacketPool CreatePacketPool(const std::string& name, uint32_t buffers, uint32_t cache,
                                          uint16_t room, int node);

}  // namespace penstock::dpdk

#endif  // PENSTOCK_DPDK_NUMA_H_

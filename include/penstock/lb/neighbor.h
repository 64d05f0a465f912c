// One station on a port's segment whose MAC address has to be known: a gateway or an l2 backend.

#ifndef PENSTOCK_LB_NEIGHBOR_H_
#define PENSTOCK_LB_NEIGHBOR_H_

#include <atomic>
#include <cstdint>
#include <optional>

#include "penstock/base/clock.h"
#include "penstock/net/address.h"

namespace penstock::lb {

// Thread safety: mac and Learn from any worker; IsDue from one thread.
class Neighbor {
 public:
  Neighbor() = default;
  // Its MAC address is given: it is neither asked for nor learned.
  explicit Neighbor(const net::MacAddress& fixed);

  // nullopt while it is not known.
  [[nodiscard]] std::optional<net::MacAddress> mac() const;
  void Learn(const net::MacAddress& mac, base::Tick now);
  // Whether to ask for it at `now`: each second while it is not known, now and then while it is;
  // three unanswered requests in a row forget it. Keeps the asker's books.
  [[nodiscard]] bool IsDue(base::Tick now);

 private:
  bool fixed_ = false;
  std::atomic<uint64_t> word_ = 0;  // MAC address and a bit; 0: unknown. Workers write and read.
  std::atomic<base::Tick> confirmed_ = 0;  // last answer. Workers write, the asker reads.
  // The asker's own.
  base::Tick next_probe_ = 0;
  int unanswered_ = 0;
};

// A neighbor of one generation that is not a gateway.
struct WatchedNeighbor {
  net::IpAddress address;
  net::IpAddress ask_from;  // our address in its network
  uint8_t port = 0;
  Neighbor* state = nullptr;  // outlives the generation
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_NEIGHBOR_H_

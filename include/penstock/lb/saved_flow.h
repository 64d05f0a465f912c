// Tracked flows by name, so that they outlive the ids of one run of the daemon.

#ifndef PENSTOCK_LB_SAVED_FLOW_H_
#define PENSTOCK_LB_SAVED_FLOW_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/net/address.h"

namespace penstock::lb {

// A backend as the configuration knows it.
struct SavedBackend {
  std::string pool;
  net::IpAddress address;

  friend bool operator==(const SavedBackend&, const SavedBackend&) = default;
};

// 52 bytes, for there may be millions.
struct SavedFlow {
  net::IpAddress source;       // the client
  net::IpAddress destination;  // the VIP; of the same family
  uint16_t source_port = 0;    // host order
  uint16_t destination_port = 0;
  uint8_t protocol = 0;       // IP protocol number
  bool confirmed = false;     // see docs/CONSISTENCY.md
  uint32_t service = 0;       // index in SavedFlows::services
  uint32_t backend = 0;       // index in SavedFlows::backends
  uint32_t idle_seconds = 0;  // since the flow's last packet, at SavedFlows::time

  friend bool operator==(const SavedFlow&, const SavedFlow&) = default;
};
static_assert(sizeof(SavedFlow) == 52);

struct SavedFlows {
  std::chrono::sys_seconds time{};    // when they were saved
  std::vector<std::string> services;  // names
  std::vector<SavedBackend> backends;
  std::vector<SavedFlow> flows;  // in any order

  friend bool operator==(const SavedFlows&, const SavedFlows&) = default;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_SAVED_FLOW_H_

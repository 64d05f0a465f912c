// Up to 32 packets on their way through the stages, as a structure of arrays.

#ifndef PENSTOCK_LB_BURST_H_
#define PENSTOCK_LB_BURST_H_

#include <array>
#include <cstdint>
#include <type_traits>

#include "penstock/lb/flow_key.h"
#include "penstock/lb/verdict.h"
#include "penstock/net/parser.h"

namespace penstock::lb {

inline constexpr int kBurstSize = 32;

// Bits of PacketBurst::flags.
inline constexpr uint8_t kMultiSegment = 1;      // `length` bytes at `data` are not the whole frame
inline constexpr uint8_t kChecksumVerified = 2;  // the device has checked the IPv4 header checksum
inline constexpr uint8_t kSharedBuffer = 4;      // others may read it: nothing may be written there
inline constexpr uint8_t kKnownFlow = 8;  // set by SelectStage: an entry that has lasted decided
inline constexpr uint8_t kFirstFragment = 16;  // set by ParseStage
inline constexpr uint8_t kLastTry = 32;        // in: a held packet that waits no longer

union FlowKey {
  FlowKey4 v4;
  FlowKey6 v6;
  FlowKey() : v6{} {}
};

// Index i is packet i in every array. The caller fills the first group, ForwardBurst the rest.
// Plain pointers into packet memory; the caller keeps the buffers they belong to.
struct PacketBurst {
  int count = 0;                              // packets, <= kBurstSize
  uint8_t port = 0;                           // the port they came from
  bool has_fragments = false;                 // set by ParseStage
  std::array<uint8_t*, kBurstSize> data;      // in: frame received; out: frame to send
  std::array<uint16_t, kBurstSize> length;    // in: bytes received; out: bytes to send
  std::array<uint16_t, kBurstSize> headroom;  // in: writable bytes in front of `data`
  std::array<uint16_t, kBurstSize> tailroom;  // in: writable bytes behind data + length
  std::array<uint8_t, kBurstSize> flags;

  std::array<Verdict, kBurstSize>
      verdict;  // kForward and kAnswer*: send through egress_port; kHold: try again
  std::array<uint8_t, kBurstSize> egress_port;

  // Between the stages.
  std::array<net::PacketView, kBurstSize> view;
  std::array<FlowKey, kBurstSize> key;
  std::array<FlowHash, kBurstSize> hash;
  std::array<ServiceId, kBurstSize> service;
  std::array<BackendId, kBurstSize> backend;
  std::array<int8_t, kBurstSize> way;  // in the flow table's bucket; -1: no entry
};
static_assert(std::is_trivially_copyable_v<PacketBurst>);

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_BURST_H_

// A flow's exact identity and its hash.

#ifndef PENSTOCK_LB_FLOW_KEY_H_
#define PENSTOCK_LB_FLOW_KEY_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "penstock/base/byte_order.h"

namespace penstock::lb {

// 24-bit identities, unique among all that flow entries may still name. 0 names nothing, so that an
// empty entry can never be a destination.
using BackendId = uint32_t;
using ServiceId = uint32_t;
inline constexpr uint32_t kNoId = 0;
inline constexpr uint32_t kMaxId = (1U << 24) - 1;

// A service's 24-bit id and the IP protocol in one word.
struct ServiceAndProtocol {
  uint32_t word = 0;

  static constexpr ServiceAndProtocol Of(ServiceId service, uint8_t protocol) {
    return {(service << 8) | protocol};
  }
  [[nodiscard]] constexpr ServiceId service() const { return word >> 8; }
  [[nodiscard]] constexpr uint8_t protocol() const { return static_cast<uint8_t>(word); }
  friend constexpr bool operator==(ServiceAndProtocol, ServiceAndProtocol) = default;
};

// The client's side comes first: source is the client, destination the VIP.
struct FlowKey4 {
  uint32_t source = 0;       // network order
  uint32_t destination = 0;  // network order
  base::be16_t source_port;
  base::be16_t destination_port;
  ServiceAndProtocol service;

  friend bool operator==(const FlowKey4&, const FlowKey4&) = default;
};
static_assert(sizeof(FlowKey4) == 16 && std::is_trivially_copyable_v<FlowKey4>);
static_assert(std::has_unique_object_representations_v<FlowKey4>);  // no padding to hash or compare

struct FlowKey6 {
  std::array<uint8_t, 16> source{};
  std::array<uint8_t, 16> destination{};
  base::be16_t source_port;
  base::be16_t destination_port;
  ServiceAndProtocol service;

  friend bool operator==(const FlowKey6&, const FlowKey6&) = default;
};
static_assert(sizeof(FlowKey6) == 40 && std::is_trivially_copyable_v<FlowKey6>);
static_assert(std::has_unique_object_representations_v<FlowKey6>);

// The fleet's secret, expanded. Equal seeds give equal keys on every host; without the seed, nobody
// can aim flows at one slot or one bucket.
struct HashKey {
  std::array<uint64_t, 6> words{};

  [[nodiscard]] static HashKey FromSeed(std::string_view seed);
  friend bool operator==(const HashKey&, const HashKey&) = default;
};

// 64 bits to 64 bits through a full 128-bit product.
[[nodiscard]] inline uint64_t Mix(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// The bits of a flow hash, in disjoint parts: bits 0..23 choose the flow table's bucket, 24..31 are
// its tag, 32..63 choose the pool's slot. None of it depends on the host or on ids.
struct FlowHash {
  uint64_t bits = 0;

  [[nodiscard]] uint32_t bucket_bits() const { return static_cast<uint32_t>(bits) & 0xFFFFFF; }
  [[nodiscard]] uint8_t tag() const { return static_cast<uint8_t>(bits >> 24); }
  [[nodiscard]] uint32_t slot_bits() const { return static_cast<uint32_t>(bits >> 32); }
  friend bool operator==(FlowHash, FlowHash) = default;
};

// Hash of addresses, ports and protocol (the service id is left out: it differs between hosts).
[[nodiscard]] inline FlowHash HashFlow(const FlowKey4& key, const HashKey& secret) {
  const auto& k = secret.words;
  const uint64_t addresses = key.source | static_cast<uint64_t>(key.destination) << 32;
  const uint64_t ports = static_cast<uint64_t>(key.source_port.raw()) |
                         static_cast<uint64_t>(key.destination_port.raw()) << 16 |
                         static_cast<uint64_t>(key.service.protocol()) << 32;
  return {Mix(Mix(addresses ^ k[0], ports ^ k[1]) ^ k[2], k[3])};
}
[[nodiscard]] inline FlowHash HashFlow(const FlowKey6& key, const HashKey& secret) {
  const auto& k = secret.words;
  std::array<uint64_t, 4> w;
  std::memcpy(w.data(), key.source.data(), 16);
  std::memcpy(w.data() + 2, key.destination.data(), 16);
  const uint64_t ports = static_cast<uint64_t>(key.source_port.raw()) |
                         static_cast<uint64_t>(key.destination_port.raw()) << 16 |
                         static_cast<uint64_t>(key.service.protocol()) << 32;
  const uint64_t source = Mix(w[0] ^ k[0], w[1] ^ k[1]);
  const uint64_t destination = Mix(w[2] ^ k[2], w[3] ^ k[3]);
  return {Mix(Mix(source ^ k[4], destination ^ ports ^ k[5]) ^ k[2], k[3])};
}

// Which parts of a flow choose its slot (only the slot, never the key).
enum class SlotHash : uint8_t { kFiveTuple, kSourceAddress, kSourceAddressPort };

// The 32 bits that choose the slot of a flow whose full hash is `hash`.
[[nodiscard]] uint32_t SlotBits(const FlowKey4& key, FlowHash hash, SlotHash kind,
                                const HashKey& secret);
[[nodiscard]] uint32_t SlotBits(const FlowKey6& key, FlowHash hash, SlotHash kind,
                                const HashKey& secret);

// Hash of any bytes under the same secret: permutations and stand-ins. Not for the packet path.
[[nodiscard]] uint64_t HashBytes(std::string_view bytes, uint64_t salt, const HashKey& secret);

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_FLOW_KEY_H_

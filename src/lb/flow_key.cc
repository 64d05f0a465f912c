#include "penstock/lb/flow_key.h"

#include <algorithm>

namespace penstock::lb {
namespace {

// Digits of pi: constants that nobody chose.
constexpr HashKey kPublicKey = {{0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0,
                                 0x082EFA98EC4E6C89, 0x452821E638D01377, 0xBE5466CF34E90C6C}};

// Keeps of a key what `kind` looks at.
template <typename Key>
uint32_t SlotBitsOf(Key key, FlowHash hash, SlotHash kind, const HashKey& secret) {
  if (kind == SlotHash::kFiveTuple) return hash.slot_bits();
  key.destination_port = base::be16_t(0);
  key.service = {};
  if (kind == SlotHash::kSourceAddress) key.source_port = base::be16_t(0);
  return HashFlow(key, secret).slot_bits();
}

}  // namespace

HashKey HashKey::FromSeed(std::string_view seed) {
  HashKey key;
  for (std::size_t i = 0; i < key.words.size(); ++i) key.words[i] = HashBytes(seed, i, kPublicKey);
  return key;
}

uint32_t SlotBits(const FlowKey4& key, FlowHash hash, SlotHash kind, const HashKey& secret) {
  return SlotBitsOf(key, hash, kind, secret);
}

uint32_t SlotBits(const FlowKey6& key, FlowHash hash, SlotHash kind, const HashKey& secret) {
  return SlotBitsOf(key, hash, kind, secret);
}

uint64_t HashBytes(std::string_view bytes, uint64_t salt, const HashKey& secret) {
  const auto& k = secret.words;
  uint64_t hash = Mix(bytes.size() ^ k[0], salt ^ k[1]);
  while (!bytes.empty()) {
    uint64_t word = 0;
    const std::size_t size = std::min(bytes.size(), sizeof(word));
    std::memcpy(&word, bytes.data(), size);
    hash = Mix(hash ^ k[2], word ^ k[3]) + k[4];
    bytes.remove_prefix(size);
  }
  return Mix(hash ^ k[5], k[2]);
}

}  // namespace penstock::lb

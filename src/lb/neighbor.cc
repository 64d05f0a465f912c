#include "penstock/lb/neighbor.h"

#include <cstring>

namespace penstock::lb {
namespace {

// A known neighbor is asked again after this long without an answer, by unicast (RFC 1122 2.3.2.1).
constexpr base::Tick kProbeAfter = 15;
constexpr int kMaxUnanswered = 3;

constexpr uint64_t kKnown = uint64_t{1} << 63;

uint64_t Pack(const net::MacAddress& mac) {
  uint64_t word = 0;
  std::memcpy(&word, mac.bytes.data(), mac.bytes.size());
  return word | kKnown;
}

}  // namespace

Neighbor::Neighbor(const net::MacAddress& fixed) : fixed_(true), word_(Pack(fixed)) {}

std::optional<net::MacAddress> Neighbor::mac() const {
  const uint64_t word = word_.load(std::memory_order_relaxed);
  if (word == 0) return std::nullopt;
  net::MacAddress mac;
  std::memcpy(mac.bytes.data(), &word, mac.bytes.size());
  return mac;
}

void Neighbor::Learn(const net::MacAddress& mac, base::Tick now) {
  if (fixed_) return;
  // In this order: who sees the address sees that it is fresh.
  confirmed_.store(now, std::memory_order_relaxed);
  word_.store(Pack(mac), std::memory_order_release);
}

bool Neighbor::IsDue(base::Tick now) {
  if (fixed_ || now < next_probe_) return false;
  uint64_t word = word_.load(std::memory_order_acquire);
  const auto is_fresh = [&] {
    return confirmed_.load(std::memory_order_relaxed) + kProbeAfter > now;
  };
  const bool known = word != 0;
  if (known && is_fresh()) {
    unanswered_ = 0;
    return false;
  }
  if (known && unanswered_++ >= kMaxUnanswered) {
    // A worker that learns it anew at this very moment is heard with the next answer.
    word_.compare_exchange_strong(word, 0, std::memory_order_relaxed);
  }
  next_probe_ = now + 1;
  return true;
}

}  // namespace penstock::lb

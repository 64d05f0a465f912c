#include "penstock/lb/new_flow_limiter.h"

#include <cstring>

namespace penstock::lb {
namespace {

uint64_t Hash(uint64_t source, ServiceId service, const HashKey& secret) {
  const auto& k = secret.words;
  return Mix(Mix(source ^ k[4], service ^ k[5]) ^ k[2], k[3]);
}

}  // namespace

uint64_t HashSource(const FlowKey4& key, const HashKey& secret) {
  return Hash(key.source, key.service.service(), secret);
}

uint64_t HashSource(const FlowKey6& key, const HashKey& secret) {
  uint64_t network = 0;  // RFC 4291 section 2.5.4: a host has all of its /64
  std::memcpy(&network, key.source.data(), sizeof(network));
  return Hash(network, key.service.service(), secret);
}

NewFlowLimiter::NewFlowLimiter(uint32_t workers)
    : workers_(workers), sources_(std::make_unique<std::array<Bucket, kBuckets>>()) {}

bool NewFlowLimiter::Allow(const NewFlowRate& rate, NewFlowWindow& service, uint64_t source_hash,
                           base::Tick now) {
  if (service.tick != now) service = {.tick = now, .used = 0};
  if (rate.total != 0 && service.used >= ShareOf(rate.total)) return false;
  // What a source is refused takes nothing from the others.
  if (rate.per_source != 0 && !AllowSource(ShareOf(rate.per_source), source_hash, now)) {
    return false;
  }
  if (rate.total != 0) ++service.used;
  return true;
}

uint32_t NewFlowLimiter::ShareOf(uint32_t limit) const {
  return (limit - 1) / workers_ + 1;
}

bool NewFlowLimiter::AllowSource(uint32_t share, uint64_t source_hash, base::Tick now) {
  Bucket& bucket = (*sources_)[source_hash % kBuckets];
  const auto mark = static_cast<uint32_t>(source_hash >> 32);
  for (Source& source : bucket) {
    // Ways are filled from the front: behind one of a past second there is none of this one.
    if (source.tick != now) source = {.mark = mark, .tick = now, .used = 0};
    if (source.mark != mark) continue;
    if (source.used >= share) return false;
    ++source.used;
    return true;
  }
  LeastUsed(bucket, source_hash) = {.mark = mark, .tick = now, .used = 1};
  return true;
}

// Among equals each source begins elsewhere, so that it is not always the latest that goes.
NewFlowLimiter::Source& NewFlowLimiter::LeastUsed(Bucket& bucket, uint64_t source_hash) {
  const std::size_t first = source_hash / kBuckets % kWays;
  Source* least = &bucket[first];
  for (std::size_t n = 1; n < kWays; ++n) {
    Source& source = bucket[(first + n) % kWays];
    if (source.used < least->used) least = &source;
  }
  return *least;
}

}  // namespace penstock::lb

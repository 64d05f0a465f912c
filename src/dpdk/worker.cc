#include "dpdk/worker.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "dpdk/buffer.h"
#include "penstock/base/clock.h"

namespace penstock::dpdk {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kHousekeepingInterval = std::chrono::milliseconds(1);
// A pass of the sweep over a flow table takes about this long.
constexpr nanoseconds kSweepTime = std::chrono::seconds(1);
// After a pause the sweep does not make up for more than this in one go: packets wait for it.
constexpr nanoseconds kMaxSweepDebt = std::chrono::milliseconds(2);
constexpr uint64_t kMillion = 1'000'000;

}  // namespace

Worker::Worker(Options options, const Shared& shared, std::unique_ptr<lb::FlowTable> flows)
    : options_(std::move(options)),
      snapshots_(shared.snapshots),
      neighbors_(shared.neighbors),
      shared_fragments_(shared.fragments),
      flows_(std::move(flows)),
      icmp_(options_.icmp_rate),
      new_flows_(options_.workers),
      fragments_(options_.fragment_pool),
      counters_(options_.ports.size()) {
  progress_.heartbeat.Set(static_cast<uint64_t>(base::SinceStart().count()));
}

Worker::~Worker() = default;

void Worker::Run() {
  snapshots_.Register(options_.index);
  while (!stop_.load(std::memory_order_relaxed)) {
    const bool found = Iterate();
    snapshots_.Quiescent(options_.index);
    if (!found && options_.idle_sleep.count() > 0) Rest();
  }
  GiveUpHeld();
  snapshots_.Unregister(options_.index);
}

// Returns whether there were packets on any port.
bool Worker::Iterate() {
  const nanoseconds now = base::SinceStart();
  const lb::ForwardContext context{.services = snapshots_.Read(),
                                   .flows = *flows_,
                                   .neighbors = neighbors_,
                                   .flow_counters = flow_counters_,
                                   .icmp = icmp_,
                                   .new_flows = new_flows_,
                                   .extra = fragments_,
                                   .fragments = shared_fragments_,
                                   .worker = options_.index,
                                   .now = base::ToTick(now),
                                   .peers = peers_};
  bool found = false;
  for (uint8_t port = 0; port < options_.ports.size(); ++port) {
    if (!Receive(port)) continue;
    found = true;
    lb::ForwardBurst(context, burst_);
    if (burst_.has_fragments) HoldFragments(now);
    Transmit();
    CountVerdicts(port);
  }
  if (!held_.empty() && now - retried_ >= Held::kRetryInterval) RetryHeld(context, now);
  AccountBusy(found, now);
  Housekeep(context, now);
  return found;
}

bool Worker::Receive(uint8_t port) {
  const uint16_t count =
      rte_eth_rx_burst(options_.ports[port].id, static_cast<uint16_t>(options_.index),
                       buffers_.data(), lb::kBurstSize);
  if (count == 0) return false;
  burst_.count = count;
  burst_.port = port;
  uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i + 1 < count) base::Prefetch(rte_pktmbuf_mtod(buffers_[i + 1], const void*));
    FillFromBuffer(*buffers_[i], burst_, i);
    bytes += buffers_[i]->pkt_len;
  }
  counters_[port].received_packets.Add(count);
  counters_[port].received_bytes.Add(bytes);
  return true;
}

// Keeps what waits for its first fragment.
void Worker::HoldFragments(nanoseconds now) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(burst_.count); ++i) {
    if (burst_.verdict[i] != lb::Verdict::kHold) continue;
    if (!held_.Push({buffers_[i], burst_.port, now})) {
      burst_.verdict[i] = lb::Verdict::kDropFragmentOverflow;
    }
  }
}

// Sends every held packet through the stages again.
void Worker::RetryHeld(const lb::ForwardContext& context, nanoseconds now) {
  retried_ = now;
  Held::Taken taken;
  for (std::size_t left = held_.size(); left > 0;) {
    const std::size_t count = held_.Take(left, taken);
    left -= count;
    burst_.count = static_cast<int>(count);
    burst_.port = taken[0].port;
    for (std::size_t i = 0; i < count; ++i) {
      buffers_[i] = taken[i].buffer;
      FillFromBuffer(*buffers_[i], burst_, i);
      if (taken[i].IsTired(now)) burst_.flags[i] |= lb::kLastTry;
    }
    lb::ForwardBurst(context, burst_);
    KeepHolding(taken);
    Transmit();
    CountReleased();
  }
}

// What still waits goes back to the queue, which has just lost it.
void Worker::KeepHolding(const Held::Taken& taken) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(burst_.count); ++i) {
    if (burst_.verdict[i] == lb::Verdict::kHold && !held_.Push(taken[i])) {
      burst_.verdict[i] = lb::Verdict::kDropFragmentOverflow;
    }
  }
}

// Held packets have been counted as such.
void Worker::CountReleased() {
  lb::PortCounters& counters = counters_[burst_.port];
  for (std::size_t i = 0; i < static_cast<std::size_t>(burst_.count); ++i) {
    if (burst_.verdict[i] != lb::Verdict::kHold) counters.Release(burst_.verdict[i]);
  }
}

// Nobody will come back to them.
void Worker::GiveUpHeld() {
  Held::Taken taken;
  while (const std::size_t count = held_.Take(taken.size(), taken)) {
    for (std::size_t i = 0; i < count; ++i) {
      counters_[taken[i].port].Release(lb::Verdict::kDropFragmentTimeout);
      rte_pktmbuf_free(taken[i].buffer);
    }
  }
}

void Worker::Transmit() {
  for (uint8_t port = 0; port < options_.ports.size(); ++port) TransmitThrough(port);
  FreeUnsent();
  if (!fragments_.empty()) TransmitFragments();
}

void Worker::TransmitFragments() {
  for (uint8_t port = 0; port < options_.ports.size(); ++port) {
    fragments_.Send(port, options_.ports[port].id, static_cast<uint16_t>(options_.index),
                    counters_[port]);
  }
  fragments_.Clear();
}

// Hands the burst's packets for `port` to its queue, once. What that does not take is dropped: a
// worker that waits for a slow link would lose packets of the others.
void Worker::TransmitThrough(uint8_t port) {
  Buffers batch;
  std::array<uint8_t, lb::kBurstSize> packet;  // index into the burst
  uint16_t wanted = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(burst_.count); ++i) {
    if (!lb::IsSent(burst_.verdict[i]) || burst_.egress_port[i] != port) continue;
    WriteToBuffer(burst_, i, *buffers_[i]);
    batch[wanted] = buffers_[i];
    packet[wanted++] = static_cast<uint8_t>(i);
  }
  if (wanted == 0) return;
  const uint16_t sent = rte_eth_tx_burst(
      options_.ports[port].id, static_cast<uint16_t>(options_.index), batch.data(), wanted);
  uint64_t bytes = 0;
  for (uint16_t j = 0; j < sent; ++j) bytes += burst_.length[packet[j]];
  for (uint16_t j = sent; j < wanted; ++j) burst_.verdict[packet[j]] = lb::Verdict::kDropTxFull;
  counters_[port].transmitted_packets.Add(sent);
  counters_[port].transmitted_bytes.Add(bytes);
}

void Worker::FreeUnsent() {
  Buffers unsent;
  unsigned count = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(burst_.count); ++i) {
    const bool kept = lb::IsSent(burst_.verdict[i]) || burst_.verdict[i] == lb::Verdict::kHold;
    if (!kept) unsent[count++] = buffers_[i];
  }
  if (count > 0) rte_pktmbuf_free_bulk(unsent.data(), count);
}

void Worker::CountVerdicts(uint8_t port) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(burst_.count); ++i) {
    counters_[port].Count(burst_.verdict[i]);
  }
}

void Worker::Housekeep(const lb::ForwardContext& context, nanoseconds now) {
  const nanoseconds elapsed = now - housekept_;
  if (elapsed < kHousekeepingInterval) return;
  housekept_ = now;
  const uint64_t buckets = flows_->v4().bucket_count();
  const auto share = static_cast<uint64_t>(std::min(elapsed, kMaxSweepDebt).count());
  const auto due =
      static_cast<uint32_t>(buckets * share / static_cast<uint64_t>(kSweepTime.count()) + 1);
  lb::SweepFlows(context, due);
  if (options_.index == 0) Solicit(context);
  progress_.generation.Set(context.services.generation());
  progress_.heartbeat.Set(static_cast<uint64_t>(now.count()));
}

void Worker::Solicit(const lb::ForwardContext& context) {
  neighbors_.DueSolicitations(context.now, context.services.watched_neighbors(),
                              [this](const lb::Solicitation& due) { SendOwn(due); });
}

void Worker::SendOwn(const lb::Solicitation& solicitation) {
  const PortHandle& port = options_.ports[solicitation.port];
  lb::PortCounters& counters = counters_[solicitation.port];
  rte_mbuf* buffer = rte_pktmbuf_alloc(port.pool);
  if (buffer != nullptr) {
    std::memcpy(rte_pktmbuf_append(buffer, solicitation.size), solicitation.frame.data(),
                solicitation.size);
    if (rte_eth_tx_burst(port.id, static_cast<uint16_t>(options_.index), &buffer, 1) == 1) {
      counters.own_packets.Increment();
      counters.transmitted_packets.Increment();
      counters.transmitted_bytes.Add(solicitation.size);
      return;
    }
  }
  rte_pktmbuf_free(buffer);
  counters.own_tx_full.Increment();
}

void Worker::AccountBusy(bool found, nanoseconds now) {
  ++iterations_;
  if (found) ++busy_iterations_;
  const base::Tick second = base::ToTick(now);
  if (second == busy_second_) return;
  busy_second_ = second;
  progress_.busy.Set(busy_iterations_ * kMillion / iterations_);
  iterations_ = 0;
  busy_iterations_ = 0;
}

// Nobody waits for a worker that sleeps, and it holds no configuration.
void Worker::Rest() {
  snapshots_.Offline(options_.index);
  std::this_thread::sleep_for(options_.idle_sleep);
  snapshots_.Online(options_.index);
}

lb::WorkerStatus Worker::ReadStatus() const {
  const auto heartbeat = nanoseconds(static_cast<int64_t>(progress_.heartbeat.Read()));
  const nanoseconds age = base::SinceStart() - heartbeat;
  lb::WorkerStatus status;
  status.index = options_.index;
  status.core = options_.core;
  status.busy = static_cast<double>(progress_.busy.Read()) / static_cast<double>(kMillion);
  status.heartbeat_age = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::max(age, nanoseconds(0)));  // the worker may have written since
  status.generation = progress_.generation.Read();
  status.v4_flows = flows_->v4().size();
  status.v4_capacity = flows_->v4().capacity();
  status.v6_flows = flows_->v6().size();
  status.v6_capacity = flows_->v6().capacity();
  for (const lb::PortCounters& port : counters_) status.ports.push_back(lb::SumOf(port));
  return status;
}

}  // namespace penstock::dpdk

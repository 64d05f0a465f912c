// Several workers in one thread, each with a flow table and a queue of held packets of its own,
// over the world of fixture.h. Which worker a frame comes to is the test's choice.

#ifndef PENSTOCK_TESTS_LB_WORKERS_H_
#define PENSTOCK_TESTS_LB_WORKERS_H_

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "penstock/lb/held_packets.h"
#include "tests/lb/fixture.h"
#include "tests/support/fragments.h"

namespace penstock::lb {

class Workers : public World {
 protected:
  static constexpr std::size_t kCount = 4;

  Workers() { NewTables(); }

  // Empty tables, as a new process has.
  void NewTables() {
    tables_.clear();
    for (std::size_t i = 0; i < kCount; ++i) {
      tables_.push_back(
          FlowTable::Create({.v4_entries = 4096, .v6_entries = 4096}, FlowTable::AllocateFromHeap));
    }
    for (std::size_t i = 0; i < kCount; ++i) {
      peers_[i].clear();
      for (std::size_t other = 0; other < kCount; ++other) {
        if (other != i) peers_[i].push_back(tables_[other].get());
      }
    }
  }

  // What came of a frame at once; a held one goes into the worker's queue.
  Outcome SendTo(std::size_t worker, const testing::Bytes& frame) {
    const Outcome outcome = Run(worker, frame, false);
    if (outcome.verdict == Verdict::kHold) Hold(worker, frame, Clock());
    return outcome;
  }
  Outcome SendTo(std::size_t worker, const testing::PacketSpec& spec) {
    return SendTo(worker, testing::Frame(spec));
  }
  net::IpAddress BackendAt(std::size_t worker, const testing::Bytes& frame) {
    const Outcome o = SendTo(worker, frame);
    EXPECT_EQ(o.verdict, Verdict::kForward) << InfoOf(o.verdict).name;
    return o.verdict == Verdict::kForward ? OuterDestination(o) : net::IpAddress{};
  }
  net::IpAddress BackendAt(std::size_t worker, const testing::PacketSpec& spec) {
    return BackendAt(worker, testing::Frame(spec));
  }
  // Tries every held packet of the worker once more; what still waits stays.
  std::vector<Outcome> Retry(std::size_t worker) {
    std::vector<Outcome> outcomes;
    typename Held::Taken taken;
    for (std::size_t left = held_[worker].size(); left > 0;) {
      const std::size_t count = held_[worker].Take(left, taken);
      left -= count;
      for (std::size_t i = 0; i < count; ++i) {
        const Outcome outcome = Run(worker, *taken[i].buffer, taken[i].IsTired(Clock()));
        if (outcome.verdict == Verdict::kHold) {
          EXPECT_TRUE(held_[worker].Push(taken[i]));
        } else {
          outcomes.push_back(outcome);
        }
      }
    }
    return outcomes;
  }
  std::size_t HeldAt(std::size_t worker) const { return held_[worker].size(); }

  std::vector<std::unique_ptr<FlowTable>> tables_;

 private:
  using Buffer = std::shared_ptr<testing::Bytes>;
  using Held = HeldPackets<Buffer>;

  std::chrono::nanoseconds Clock() const { return std::chrono::seconds(now_); }
  void Hold(std::size_t worker, const testing::Bytes& frame, std::chrono::nanoseconds since) {
    EXPECT_TRUE(held_[worker].Push({std::make_shared<testing::Bytes>(frame), 0, since}));
  }
  Outcome Run(std::size_t worker, const testing::Bytes& frame, bool last_try) {
    flags_ = last_try ? kLastTry : uint8_t{0};
    const ForwardContext context{
        *services_,    *tables_[worker], neighbors_,  flow_counters_,           icmp_,
        new_flows_,    extra_,           *fragments_, static_cast<int>(worker), now_,
        peers_[worker]};
    const Outcome outcome = SendBurst({frame}, context).front();
    flags_ = 0;
    return outcome;
  }

  std::array<std::vector<const FlowTable*>, kCount> peers_;
  std::array<Held, kCount> held_;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_TESTS_LB_WORKERS_H_

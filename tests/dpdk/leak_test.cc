// Every verdict many times: each packet is counted under its own, and its buffer is back in the
// pool. A verdict without a case here fails the test.

#include <gtest/gtest.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <chrono>
#include <map>
#include <vector>

#include "tests/dpdk/leak_cases.h"
#include "tests/dpdk/ring_rig.h"
#include "tests/dpdk/scene.h"
#include "tests/support/fragments.h"

namespace penstock::dpdk {
namespace {

using lb::Verdict;
using testing::Bytes;

// Of each verdict, unless the machine is so busy that its time is over before; then at least a few.
constexpr uint64_t kPackets = 1'000'000;
constexpr uint64_t kLeastPackets = 20'000;
constexpr std::chrono::milliseconds kTimeOfOne{400};
constexpr std::chrono::seconds kTooLong{30};
constexpr uint64_t kTimeouts = 2048;  // a worker gives up 512 a second
constexpr uint64_t kReversed = 4096;  // packets, two of a datagram
constexpr unsigned kBatch = 512;

// What is fed at once.
using Frames = std::vector<Bytes>;

Frames Batch(const MakeFrame& make) {
  Frames frames;
  for (unsigned i = 0; i < kBatch; ++i) frames.push_back(make(i));
  return frames;
}

class Leaks : public ::testing::Test {
 protected:
  // Room for all that two batches may become.
  Leaks() : rig_(4 * kBatch) { EXPECT_TRUE(rig_.Publish(LeakServices(counters_)).acknowledged); }

  // Has `feed` give batches of the verdict's packets to the worker until the verdict has had its
  // share; then all buffers have to be back. What a rate allows may come with the next second only.
  template <typename FeedBatch>
  void Provoke(Verdict verdict, const FeedBatch& feed) {
    const Counts before = ReadAll();
    const uint64_t none = rig_.Count(verdict);
    uint64_t fed = 0;
    const uint64_t share = verdict == Verdict::kDropFragmentTimeout ? kTimeouts : kPackets;
    const auto start = std::chrono::steady_clock::now();
    const auto lasts = [&] { return std::chrono::steady_clock::now() - start; };
    const auto is_enough = [&] {
      return fed >= share || (fed >= kLeastPackets && lasts() > kTimeOfOne);
    };
    for (; !is_enough() || rig_.Count(verdict) == none; fed += kBatch) {
      feed();
      // While the worker has this batch in hand, the next one is made.
      ASSERT_TRUE(rig_.WaitDone(/*but=*/kBatch)) << lb::InfoOf(verdict).name;
      ASSERT_LT(lasts(), kTooLong) << lb::InfoOf(verdict).name << " does not come about";
    }
    ASSERT_TRUE(rig_.WaitDone()) << lb::InfoOf(verdict).name;
    ExpectOnly(verdict, fed, before);
    ExpectNoBufferInUse(verdict);
  }

  void Run(Verdict verdict) {
    switch (verdict) {
      case Verdict::kHold:
        return FeedReversed();
      case Verdict::kDropMultiSegment:
        return Provoke(verdict, [this] { FeedChains(); });
      case Verdict::kDropSharedBuffer:
        return Provoke(verdict, [this] { FeedShared(); });
      case Verdict::kDropNoHeadroom:
        return Provoke(verdict, [this] { FeedBehind(/*headroom=*/8); });
      case Verdict::kDropNoBuffer:
        return ProvokeNoBuffer();
      case Verdict::kDropTxFull:
        return ProvokeTxFull();
      default:
        break;
    }
    const auto found = cases_.find(verdict);
    ASSERT_NE(found, cases_.end()) << "no case for " << lb::InfoOf(verdict).name;
    const Frames frames = Batch(found->second);
    Provoke(verdict, [&] { Feed(frames); });
  }

 private:
  using Counts = std::array<uint64_t, lb::kVerdictCount>;

  [[nodiscard]] Counts ReadAll() const {
    Counts counts{};
    for (const lb::VerdictInfo& info : lb::kVerdicts) {
      counts[static_cast<std::size_t>(info.verdict)] = rig_.Count(info.verdict);
    }
    return counts;
  }

  // Two verdicts that a rate, or room, tells apart: together.
  static Verdict PartnerOf(Verdict verdict) {
    static const std::map<Verdict, Verdict> kPartners = {
        {Verdict::kAnswerEcho, Verdict::kDropEchoLimited},
        {Verdict::kDropEchoLimited, Verdict::kAnswerEcho},
        {Verdict::kAnswerTooBig, Verdict::kDropTooBigLimited},
        {Verdict::kDropTooBigLimited, Verdict::kAnswerTooBig},
        {Verdict::kDropRateLimited, Verdict::kForward},
        {Verdict::kDropFragmentOverflow, Verdict::kDropFragmentTimeout},
        {Verdict::kDropFragmentTimeout, Verdict::kDropFragmentOverflow}};
    const auto found = kPartners.find(verdict);
    return found == kPartners.end() ? verdict : found->second;
  }

  // That of `fed` packets all got the verdict, or its partner.
  void ExpectOnly(Verdict wanted, uint64_t fed, const Counts& before) {
    const Counts after = ReadAll();
    const Verdict partner = PartnerOf(wanted);
    uint64_t sum = 0;
    for (const lb::VerdictInfo& info : lb::kVerdicts) {
      const auto v = static_cast<std::size_t>(info.verdict);
      const uint64_t grown = after[v] - before[v];
      if (info.verdict == wanted || info.verdict == partner) {
        sum += grown;
      } else {
        EXPECT_EQ(grown, 0U) << info.name << " instead of " << lb::InfoOf(wanted).name;
      }
    }
    EXPECT_EQ(sum, fed) << lb::InfoOf(wanted).name;
  }

  void ExpectNoBufferInUse(Verdict verdict) {
    const uint32_t held = held_;  // by the test itself
    EXPECT_TRUE(testing::Eventually([&] {
      Drain();
      return rig_.BuffersInUse() == held;
    })) << lb::InfoOf(verdict).name
        << ": " << rig_.BuffersInUse() << " buffers are in use";
  }

  void Drain() {
    for (std::size_t port = 0; port < RingRig::kPorts; ++port) rig_.TakeSent(port);
  }

  void Feed(const Frames& frames) {
    Drain();
    rig_.Feed(frames);
  }

  // Datagrams whose first fragment comes last: the others wait for it, and all leave. No more of
  // them than the workers' memory for decisions has room for.
  void FeedReversed() {
    const Counts before = ReadAll();
    const uint64_t batches = kReversed / kBatch;
    for (uint64_t batch = 0; batch < batches; ++batch) {
      Frames later;
      Frames first;
      for (unsigned i = 0; i < kBatch / 2; ++i) {
        const auto id = static_cast<uint16_t>(batch * kBatch + i);
        const auto both = testing::FragmentFrames({.payload = 20}, 24, id);
        first.push_back(both[0]);
        later.push_back(both[1]);
      }
      Feed(later);
      rig_.Feed(first);
      ASSERT_TRUE(rig_.WaitDone());
    }
    EXPECT_EQ(rig_.Count(Verdict::kHold), 0U);
    ExpectOnly(Verdict::kForward, batches * kBatch, before);
    ExpectNoBufferInUse(Verdict::kHold);
  }

  // Each packet in two buffers.
  void FeedChains() {
    const Bytes frame = testing::Frame({});
    std::vector<rte_mbuf*> buffers;
    for (unsigned i = 0; i < kBatch; ++i) {
      buffers.push_back(rig_.Buffer(frame));
      ASSERT_EQ(rte_pktmbuf_chain(buffers.back(), rig_.Buffer(frame)), 0);
    }
    rig_.Feed(buffers);
  }

  // Each buffer is somebody else's as well: ours.
  void FeedShared() {
    const Bytes frame = testing::Frame({});
    std::vector<rte_mbuf*> buffers;
    for (unsigned i = 0; i < kBatch; ++i) {
      buffers.push_back(rig_.Buffer(frame));
      rte_mbuf_refcnt_update(buffers.back(), 1);
    }
    rig_.Feed(buffers);
    ASSERT_TRUE(rig_.WaitDone());
    for (rte_mbuf* buffer : buffers) rte_pktmbuf_free(buffer);
  }

  void FeedBehind(uint16_t headroom) {
    const Bytes frame = testing::Frame({});
    std::vector<rte_mbuf*> buffers;
    for (unsigned i = 0; i < kBatch; ++i) buffers.push_back(rig_.Buffer(frame, headroom));
    rig_.Feed(buffers);
  }

  // The test holds all buffers that there are for fragments.
  void ProvokeNoBuffer() {
    std::vector<void*> taken;
    for (void* one = nullptr; rte_mempool_get(rig_.fragment_pool(), &one) == 0;) {
      taken.push_back(one);
    }
    held_ = static_cast<uint32_t>(taken.size());
    const Frames frames(kBatch, testing::Frame({.payload = kFull}));
    Provoke(Verdict::kDropNoBuffer, [&] { Feed(frames); });
    held_ = 0;
    rte_mempool_put_bulk(rig_.fragment_pool(), taken.data(), static_cast<unsigned>(taken.size()));
  }

  void ProvokeTxFull() {
    const Frames flows = Batch(cases_.at(Verdict::kForward));
    const Frames few(flows.begin() + 1, flows.begin() + 8);
    for (uint64_t full = rig_.Count(Verdict::kDropTxFull);
         rig_.Count(Verdict::kDropTxFull) == full;) {
      rig_.Feed(few);
      ASSERT_TRUE(rig_.WaitDone());
    }
    Provoke(Verdict::kDropTxFull, [&] { rig_.Feed(flows); });
  }

  RingRig rig_;
  std::array<lb::BackendCounters, kLeakPools> counters_;
  const std::map<Verdict, MakeFrame> cases_ = LeakCases();
  uint32_t held_ = 0;
};

TEST_F(Leaks, D08_NoVerdictLeaksABuffer) {
  for (const lb::VerdictInfo& info : lb::kVerdicts) Run(info.verdict);
}

}  // namespace
}  // namespace penstock::dpdk

// Hosts with several NUMA nodes, as far as a host with one can be told of them.

#include "dpdk/numa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "dpdk/eal.h"
#include "tests/dpdk/scene.h"

namespace penstock::dpdk {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kNoSuchNode = 7;

// D02: a node without memory of ours is no reason not to start.
TEST(Numa, D02_ANodeWithoutMemoryIsServedFromAnother) {
  const auto eal = Eal::Start(testing::HostWithPort("net_null0"));
  ASSERT_TRUE(eal.ok()) << eal.status();
  const PacketPool far = CreatePacketPool("far", 1023, 32, 2048, kNoSuchNode);
  ASSERT_NE(far.pool, nullptr);
  EXPECT_FALSE(far.is_near);
  EXPECT_EQ(far.pool->size, 1023U);
  rte_mbuf* buffer = rte_pktmbuf_alloc(far.pool);
  ASSERT_NE(buffer, nullptr);
  rte_pktmbuf_free(buffer);
  const PacketPool any = CreatePacketPool("any", 1023, 32, 2048, SOCKET_ID_ANY);
  ASSERT_NE(any.pool, nullptr);
  EXPECT_TRUE(any.is_near);
  // Expect: what fits nowhere is said, and is no crash.
  EXPECT_EQ(CreatePacketPool("huge", 1U << 24, 32, 2048, kNoSuchNode).pool, nullptr);
}

TEST(Numa, D02_WorkersFarFromAPortAreNamed) {
  const std::vector<NumaPlace> workers = {{"worker 0", 0}, {"worker 1", 1}, {"worker 2", 1}};
  EXPECT_THAT(
      NumaMismatches(workers, {{"uplink", 0}}),
      ElementsAre(AllOf(HasSubstr("port uplink is on NUMA node 0 and worker 1, worker 2 are "
                                  "not"),
                        Not(HasSubstr("worker 0")))));
  EXPECT_THAT(NumaMismatches({{"worker 0", 0}}, {{"a", 0}, {"b", 1}, {"virtual", -1}}),
              ElementsAre(HasSubstr("port b is on NUMA node 1 and worker 0 is not")));
  EXPECT_THAT(NumaMismatches({{"worker 0", 0}}, {{"a", 0}}), IsEmpty());
}

}  // namespace
}  // namespace penstock::dpdk

#include "dpdk/snapshot.h"

#include <rte_rcu_qsbr.h>

#include <cstdlib>
#include <new>
#include <thread>
#include <utility>

namespace penstock::dpdk {
namespace {

// Workers pass a quiescent state every few microseconds; this costs an apply nothing.
constexpr std::chrono::microseconds kCheckInterval{20};

rte_rcu_qsbr* CreateQsbr(int workers) {
  const auto count = static_cast<uint32_t>(workers);
  const std::size_t bytes = rte_rcu_qsbr_get_memsize(count);
  void* memory = std::aligned_alloc(base::kCacheLine, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  auto* qsbr = static_cast<rte_rcu_qsbr*>(memory);
  rte_rcu_qsbr_init(qsbr, count);
  return qsbr;
}

}  // namespace

void SnapshotStore::FreeQsbr::operator()(rte_rcu_qsbr* qsbr) const {
  std::free(qsbr);
}

SnapshotStore::SnapshotStore(int workers, std::shared_ptr<const lb::ServiceTable> initial,
                             std::chrono::milliseconds publish_timeout)
    : current_(initial.get()),
      workers_(workers),
      publish_timeout_(publish_timeout),
      qsbr_(CreateQsbr(workers)),
      owner_(std::move(initial)) {}

SnapshotStore::~SnapshotStore() = default;

lb::PublishResult SnapshotStore::Publish(std::shared_ptr<const lb::ServiceTable> next) {
  FreePassed();
  const lb::ServiceTable* raw = next.get();
  std::shared_ptr<const lb::ServiceTable> former = std::exchange(owner_, std::move(next));
  current_.exchange(raw, std::memory_order_acq_rel);
  // The token comes after the exchange: a worker that reports it has read the new pointer, or will.
  const uint64_t token = rte_rcu_qsbr_start(qsbr_.get());
  retired_.push_back({token, std::move(former)});
  if (!WaitFor(token)) return {false, SilentWorkers(token)};
  retired_.clear();  // earlier tokens are smaller, so they have passed as well
  return {true, {}};
}

bool SnapshotStore::WaitFor(uint64_t token) const {
  const auto deadline = std::chrono::steady_clock::now() + publish_timeout_;
  while (rte_rcu_qsbr_check(qsbr_.get(), token, /*wait=*/false) == 0) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kCheckInterval);
  }
  return true;
}

std::vector<int> SnapshotStore::SilentWorkers(uint64_t token) const {
  std::vector<int> silent;
  for (int worker = 0; worker < workers_; ++worker) {
    // The library tells that someone is late, never who: the same test as in rte_rcu_qsbr_check.
    const uint64_t seen = __atomic_load_n(&qsbr_->qsbr_cnt[worker].cnt, __ATOMIC_ACQUIRE);
    if (seen != __RTE_QSBR_CNT_THR_OFFLINE && seen < token) silent.push_back(worker);
  }
  return silent;
}

void SnapshotStore::FreePassed() {
  std::erase_if(retired_, [this](const Retired& retired) {
    return rte_rcu_qsbr_check(qsbr_.get(), retired.token, /*wait=*/false) != 0;
  });
}

void SnapshotStore::Register(int worker) {
  rte_rcu_qsbr_thread_register(qsbr_.get(), static_cast<unsigned>(worker));
  Online(worker);
}

void SnapshotStore::Unregister(int worker) {
  Offline(worker);
  rte_rcu_qsbr_thread_unregister(qsbr_.get(), static_cast<unsigned>(worker));
}

void SnapshotStore::Quiescent(int worker) {
  rte_rcu_qsbr_quiescent(qsbr_.get(), static_cast<unsigned>(worker));
}

void SnapshotStore::Offline(int worker) {
  rte_rcu_qsbr_thread_offline(qsbr_.get(), static_cast<unsigned>(worker));
}

void SnapshotStore::Online(int worker) {
  rte_rcu_qsbr_thread_online(qsbr_.get(), static_cast<unsigned>(worker));
}

}  // namespace penstock::dpdk

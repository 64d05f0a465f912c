// Other balancers' rules, in as few words as they need.

#include <list>
#include <unordered_map>

#include "bench/churn/rule.h"
#include "penstock/lb/base_table.h"
#include "penstock/lb/flow_key.h"

namespace penstock::bench {
namespace {

const lb::HashKey& Key() {
  static const lb::HashKey key = lb::HashKey::FromSeed("churn");
  return key;
}

uint64_t HashOf(const Packet& packet) {
  const uint64_t word = static_cast<uint64_t>(packet.source) << 16 | packet.port;
  return lb::Mix(lb::Mix(word ^ Key().words[0], Key().words[1]) ^ Key().words[2], Key().words[3]);
}

std::vector<BackendNumber> Usable(const FleetState& state) {
  std::vector<BackendNumber> usable;
  for (const auto& [number, backend] : state.backends()) {
    if (backend.TakesNewFlows()) usable.push_back(number);
  }
  return usable;
}

class HashRule final : public Rule {
 public:
  std::string_view name() const override { return "hash"; }
  void SetPool(const FleetState& state, uint32_t /*second*/) override { usable_ = Usable(state); }
  BackendNumber Send(uint32_t /*host*/, const Packet& packet) override {
    return usable_.empty() ? 0 : usable_[HashOf(packet) % usable_.size()];
  }
  void Reboot(uint32_t /*host*/) override {}
  void Restart(uint32_t /*host*/) override {}

 private:
  std::vector<BackendNumber> usable_;
};

// The table is made of whoever takes new flows, as Katran, GLB and Envoy do on a change of health.
class MaglevRule : public Rule {
 public:
  explicit MaglevRule(uint32_t table_size) : table_size_(table_size) {}
  std::string_view name() const override { return "maglev"; }
  void SetPool(const FleetState& state, uint32_t /*second*/) override {
    lb::BaseTable::Spec spec{.members = {}, .table_size = table_size_, .key = Key()};
    for (const auto& [number, backend] : state.backends()) {
      if (!backend.TakesNewFlows()) continue;
      spec.members.push_back({FleetState::AddressOf(number), backend.weight});
    }
    if (table_ != nullptr && table_->spec() == spec) return;
    table_ = lb::BaseTable::Build(std::move(spec));
  }
  BackendNumber Send(uint32_t /*host*/, const Packet& packet) override { return Pick(packet); }
  void Reboot(uint32_t /*host*/) override {}
  void Restart(uint32_t /*host*/) override {}

 protected:
  [[nodiscard]] BackendNumber Pick(const Packet& packet) const {
    const lb::MemberIndex owner =
        table_->owner(static_cast<uint32_t>(HashOf(packet) % table_size_));
    return owner == lb::kNoMember ? 0 : FleetState::NumberOf(table_->members()[owner].address);
  }

 private:
  const uint32_t table_size_;
  std::shared_ptr<const lb::BaseTable> table_;
};

// Flows by least recent use; the oldest gives way.
class LruTable {
 public:
  explicit LruTable(std::size_t entries) : entries_(entries) {}
  [[nodiscard]] BackendNumber Find(uint64_t flow) {
    const auto found = index_.find(flow);
    if (found == index_.end()) return 0;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->second;
  }
  void Set(uint64_t flow, BackendNumber backend) {
    if (const auto found = index_.find(flow); found != index_.end()) {
      found->second->second = backend;
      order_.splice(order_.begin(), order_, found->second);
      return;
    }
    if (order_.size() == entries_) {
      index_.erase(order_.back().first);
      order_.pop_back();
    }
    order_.emplace_front(flow, backend);
    index_[flow] = order_.begin();
  }
  void Clear() {
    order_.clear();
    index_.clear();
  }

 private:
  using Order = std::list<std::pair<uint64_t, BackendNumber>>;
  const std::size_t entries_;
  Order order_;
  std::unordered_map<uint64_t, Order::iterator> index_;
};

// Katran's: a SYN goes by the table and is recorded; another packet follows its entry, else goes by
// the table and is recorded. An entry outlives its backend's place in the table. (Its limit of
// recorded SYNs a second is left out: it helps tables in floods and nobody else.)
class MaglevLruRule final : public MaglevRule {
 public:
  explicit MaglevLruRule(const RuleOptions& options)
      : MaglevRule(options.table_size), tables_(options.hosts, LruTable(options.entries)) {}
  std::string_view name() const override { return "maglev+lru"; }
  BackendNumber Send(uint32_t host, const Packet& packet) override {
    const uint64_t flow = static_cast<uint64_t>(packet.source) << 16 | packet.port;
    if (!packet.syn) {
      if (const BackendNumber known = tables_[host].Find(flow); known != 0) return known;
    }
    const BackendNumber picked = Pick(packet);
    if (picked != 0) tables_[host].Set(flow, picked);
    return picked;
  }
  void Reboot(uint32_t host) override { tables_[host].Clear(); }

 private:
  std::vector<LruTable> tables_;
};

}  // namespace

std::unique_ptr<Rule> MakeHashRule() {
  return std::make_unique<HashRule>();
}

std::unique_ptr<Rule> MakeMaglevRule(const RuleOptions& options) {
  return std::make_unique<MaglevRule>(options.table_size);
}

std::unique_ptr<Rule> MakeMaglevLruRule(const RuleOptions& options) {
  return std::make_unique<MaglevLruRule>(options);
}

std::vector<std::unique_ptr<Rule>> AllRules(const RuleOptions& options) {
  std::vector<std::unique_ptr<Rule>> rules;
  rules.push_back(MakeHashRule());
  rules.push_back(MakeMaglevRule(options));
  rules.push_back(MakeMaglevLruRule(options));
  rules.push_back(MakePenstockRule(options));
  return rules;
}

}  // namespace penstock::bench

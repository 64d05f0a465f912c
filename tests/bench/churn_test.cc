// The simulation that docs/CONSISTENCY.md quotes: penstock's promises in it, and that the rules it
// is compared with are what they are said to be.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "bench/churn/report.h"

namespace penstock::bench {
namespace {

constexpr uint32_t kClient = 198U << 24 | 18U << 16 | 77;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint32_t kFlows = 500;
#else
constexpr uint32_t kFlows = 2000;
#endif
constexpr RuleOptions kOneHost{.hosts = 1, .entries = 8192, .table_size = 4099};

std::map<std::string, Outcome> Compare(Scenario scenario) {
  scenario.flows = kFlows;
  std::map<std::string, Outcome> outcomes;
  for (const auto& rule :
       AllRules({.hosts = scenario.hosts, .entries = scenario.entries, .table_size = 4099})) {
    outcomes[std::string(rule->name())] = Simulate(scenario, *rule, 7);
  }
  return outcomes;
}

TEST(Churn, ASingleChangeBreaksNoConnection) {
  int scenarios = 0;
  for (const Scenario& scenario : AllScenarios(7, true)) {
    if (!scenario.single_change) continue;
    const auto outcomes = Compare(scenario);
    EXPECT_EQ(outcomes.at("penstock").broken(), 0U) << scenario.name;
    EXPECT_EQ(outcomes.at("penstock").refused, 0U) << scenario.name;
    ++scenarios;
  }
  EXPECT_EQ(scenarios, 7);
}

TEST(Churn, ChangesOfBackendsAndHostsTogetherBreakFewerThanUnderAnyOtherRule) {
  // In the same second. (A minute later the figures of docs/CONSISTENCY.md need their 20,000
  // flows.)
  const std::set<std::string> wanted = {"add+ecmp", "remove+ecmp", "drain+ecmp"};
  std::size_t seen = 0;
  for (const Scenario& scenario : AllScenarios(7, true)) {
    if (!wanted.contains(scenario.name)) continue;
    ++seen;
    const auto outcomes = Compare(scenario);
    for (const char* rule : {"hash", "maglev", "maglev+lru"}) {
      EXPECT_LE(outcomes.at("penstock").broken(), outcomes.at(rule).broken())
          << scenario.name << " " << rule;
    }
  }
  EXPECT_EQ(seen, wanted.size());
}

TEST(Churn, FloodsAndPlannedRestartsBreakNothing) {
  for (const Scenario& scenario : AllScenarios(7, true)) {
    const bool flood = scenario.name.starts_with("flood");
    const bool restart = scenario.name.find("restart") != std::string::npos;
    if (!flood && !restart) continue;
    const auto rule = MakePenstockRule(
        {.hosts = scenario.hosts, .entries = scenario.entries, .table_size = 4099});
    Scenario small = scenario;
    small.flows = kFlows / 2;
    EXPECT_EQ(Simulate(small, *rule, 7).broken(), 0U) << scenario.name;
  }
}

// A plain hash moves nearly every flow when a backend comes; Maglev few; a table of flows none.
TEST(Churn, OtherRulesBreakWhatTheyAreKnownToBreak) {
  for (const Scenario& scenario : AllScenarios(7, true)) {
    if (scenario.name != "add") continue;
    const auto outcomes = Compare(scenario);
    EXPECT_GT(outcomes.at("hash").broken(), 10 * outcomes.at("maglev").broken());
    EXPECT_GT(outcomes.at("maglev").broken(), 0U);
    EXPECT_EQ(outcomes.at("maglev+lru").broken(), 0U);
  }
}

TEST(Churn, EveryRuleKeepsAFlowInAnUnchangedPool) {
  const FleetState state(24);
  for (const auto& rule : AllRules(kOneHost)) {
    rule->SetPool(state, 0);
    std::set<BackendNumber> used;
    for (uint16_t port = 1; port < 500; ++port) {
      const BackendNumber backend = rule->Send(0, {.source = kClient, .port = port, .syn = true});
      ASSERT_NE(state.Find(backend), nullptr) << rule->name();
      EXPECT_EQ(rule->Send(0, {.source = kClient, .port = port}), backend) << rule->name();
      used.insert(backend);
    }
    EXPECT_EQ(used.size(), 24U) << rule->name();
  }
}

TEST(Churn, TheTableOfFlowsForgetsTheOldest) {
  const auto rule = MakeMaglevLruRule({.hosts = 1, .entries = 10, .table_size = 4099});
  FleetState state(24);
  rule->SetPool(state, 0);
  std::map<uint16_t, BackendNumber> before;
  for (uint16_t port = 1; port <= 200; ++port) before[port] = rule->Send(0, {5, port, true});
  ASSERT_TRUE(state.Apply({0, EventKind::kRemove, before[200], 0}));
  rule->SetPool(state, 1);
  EXPECT_EQ(rule->Send(0, {5, 200, false}), before[200]);  // its entry outlives the backend
  rule->Reboot(0);
  EXPECT_NE(rule->Send(0, {5, 200, false}), before[200]);
}

TEST(Churn, ReportsAreDeterministic) {
  const Scenario scenario = AllScenarios(7, true).front();
  const auto report = [&] {
    const auto rule = MakePenstockRule(kOneHost);
    Scenario small = scenario;
    small.flows = 200;
    return ToJson({{small.name, "penstock", Simulate(small, *rule, 3)}}, 3);
  };
  EXPECT_EQ(report(), report());
}

}  // namespace
}  // namespace penstock::bench

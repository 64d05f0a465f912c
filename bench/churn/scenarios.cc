#include "bench/churn/scenarios.h"

#include <algorithm>
#include <random>
#include <utility>

namespace penstock::bench {
namespace {

// The second of the change in scenarios of one: everything has found its place by then, and the
// pool is older than two transitions.
constexpr uint32_t kChange = 700;

Scenario Single(const char* name, const char* about, std::vector<Event> events) {
  return {.name = name,
          .about = about,
          .seconds = kChange + 120,
          .single_change = true,
          .events = std::move(events)};
}

std::vector<Scenario> SingleChanges() {
  return {
      Single("add", "24 backends and one more", {{kChange, EventKind::kAdd, 25, 0}}),
      Single("remove", "one of 24 is removed", {{kChange, EventKind::kRemove, 7, 0}}),
      Single("reweight", "one of 24 from weight 100 to 50", {{kChange, EventKind::kWeight, 7, 50}}),
      Single("drain", "one of 24 is drained", {{kChange, EventKind::kDrain, 7, 0}}),
      Single("undrain", "one that was drained for a minute comes back",
             {{kChange - 60, EventKind::kDrain, 7, 0}, {kChange, EventKind::kUndrain, 7, 0}}),
      Single("fail", "one of 24 fails", {{kChange, EventKind::kFail, 7, 0}}),
      Single("recover", "one that had failed for a minute is well again",
             {{kChange - 60, EventKind::kFail, 7, 0}, {kChange, EventKind::kRecover, 7, 0}}),
  };
}

// Cheetah (NSDI 2020), section 5: a pool that grows and shrinks within a minute.
Scenario Cheetah() {
  Scenario scenario{.name = "cheetah", .about = "24 to 30 to 22 backends in 60 s", .seconds = 180};
  for (uint32_t i = 0; i < 6; ++i) {
    scenario.events.push_back({60 + 4 * i, EventKind::kAdd, 25 + i, 0});
  }
  for (uint32_t i = 0; i < 8; ++i) {
    scenario.events.push_back({90 + 4 * i, EventKind::kRemove, 1 + 3 * i, 0});
  }
  return scenario;
}

// JET (CoNEXT 2020), section 6: 468 backends, 10 updates a minute, tables too small and large
// enough.
Scenario Jet(uint32_t percent, uint32_t flows, uint32_t seed) {
  Scenario scenario{.name = "jet-" + std::to_string(percent),
                    .about = "468 backends, 10 leave and come back a minute, room for " +
                             std::to_string(percent) + " % of the flows",
                    .backends = 468,
                    .flows = flows,
                    .entries = std::size_t{flows} * percent / 100,
                    .seconds = 600};
  std::mt19937 random(seed);
  std::vector<uint32_t> away;
  for (uint32_t second = 60; second < 540; second += 6) {
    if (away.size() >= 5) {
      scenario.events.push_back({second, EventKind::kAdd, away.front(), 0});
      away.erase(away.begin());
      continue;
    }
    uint32_t who = 0;
    do {
      who = 1 + static_cast<uint32_t>(random() % 468);
    } while (std::ranges::find(away, who) != away.end());
    away.push_back(who);
    scenario.events.push_back({second, EventKind::kRemove, who, 0});
  }
  return scenario;
}

Scenario Flood(const char* name, Event change) {
  return {.name = name,
          .about = "SYNs from random sources, 100 times the table in 60 s, and a change",
          .flows = 1000,
          .entries = 8192,
          .seconds = kChange + 120,
          .events = {{kChange - 30, EventKind::kFlood, 0, 8192 * 100 / 60},
                     change,
                     {kChange + 30, EventKind::kFlood, 0, 0}}};
}

// One of four hosts goes, and routers spread its flows over the others.
Scenario Ecmp(std::string name, std::string about, std::vector<Event> before) {
  Scenario scenario{.name = std::move(name),
                    .about = std::move(about),
                    .hosts = 4,
                    .seconds = kChange + 720,
                    .events = std::move(before)};
  return scenario;
}

std::vector<Scenario> EcmpChanges() {
  const Event add{kChange, EventKind::kAdd, 25, 0};
  const Event remove{kChange, EventKind::kRemove, 7, 0};
  const Event drain{kChange, EventKind::kDrain, 7, 0};
  const auto fewer = [](uint32_t after) { return Event{kChange + after, EventKind::kEcmp, 0, 3}; };
  std::vector<Scenario> all = {
      Ecmp("ecmp", "one of 4 hosts leaves", {fewer(0)}),
      Ecmp("add+ecmp", "... in the second of an addition", {add, fewer(0)}),
      Ecmp("add+ecmp-60s", "... a minute after it", {add, fewer(60)}),
      Ecmp("add+ecmp-600s", "... ten minutes after it", {add, fewer(600)}),
      Ecmp("remove+ecmp", "... in the second of a removal", {remove, fewer(0)}),
      Ecmp("remove+ecmp-60s", "... a minute after it", {remove, fewer(60)}),
      Ecmp("remove+ecmp-600s", "... ten minutes after it", {remove, fewer(600)}),
      Ecmp("drain+ecmp", "... in the second of a drain", {drain, fewer(0)}),
      Ecmp("drain+ecmp-60s", "... a minute after it", {drain, fewer(60)}),
      Ecmp("drain+ecmp-600s", "... ten minutes after it", {drain, fewer(600)}),
  };
  return all;
}

std::vector<Scenario> HostChanges() {
  std::vector<Scenario> all;
  const std::pair<const char*, Event> changes[] = {{"add", {kChange, EventKind::kAdd, 25, 0}},
                                                   {"drain", {kChange, EventKind::kDrain, 7, 0}}};
  const std::pair<const char*, EventKind> ends[] = {{"reboot", EventKind::kHostReboot},
                                                    {"restart", EventKind::kHostRestart}};
  for (const auto& [change_name, change] : changes) {
    for (const auto& [end_name, end] : ends) {
      for (const uint32_t after : {60U, 600U}) {
        all.push_back(
            Ecmp(std::string(change_name) + "+" + end_name + "-" + std::to_string(after) + "s",
                 std::string("1 of 4 hosts: ") + end_name + " " + std::to_string(after) +
                     " s after the change",
                 {change, {kChange + after, end, 0, 0}}));
      }
    }
  }
  return all;
}

Scenario Flapping(const char* name, EventKind away, EventKind back) {
  Scenario scenario{.name = name, .about = "one of 24, every 10 s", .seconds = kChange + 240};
  for (uint32_t second = kChange; second < kChange + 120; second += 20) {
    scenario.events.push_back({second, away, 7, 0});
    scenario.events.push_back({second + 10, back, 7, 0});
  }
  return scenario;
}

void Append(std::vector<Scenario>& all, std::vector<Scenario> more) {
  std::ranges::move(more, std::back_inserter(all));
}

}  // namespace

std::vector<Scenario> AllScenarios(uint32_t seed, bool quick) {
  std::vector<Scenario> all = SingleChanges();
  all.push_back(Cheetah());
  const uint32_t jet_flows = quick ? 10'000 : 100'000;
  for (const uint32_t percent : {10U, 50U, 150U}) all.push_back(Jet(percent, jet_flows, seed));
  all.push_back(Flood("flood+drain", {kChange, EventKind::kDrain, 7, 0}));
  all.push_back(Flood("flood+add", {kChange, EventKind::kAdd, 25, 0}));
  all.push_back(Flood("flood+remove", {kChange, EventKind::kRemove, 7, 0}));
  Append(all, EcmpChanges());
  Append(all, HostChanges());
  all.push_back(Flapping("flap-drain", EventKind::kDrain, EventKind::kUndrain));
  all.push_back(Flapping("flap-fail", EventKind::kFail, EventKind::kRecover));
  for (Scenario& scenario : all) {
    if (quick && scenario.flows == 20'000) scenario.flows = 2'000;
  }
  return all;
}

}  // namespace penstock::bench

// churn: how many connections break while backends and balancers come and go, under penstock's
// rules and under others'.

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "bench/churn/report.h"

int main(int argc, char** argv) {
  using namespace penstock::bench;
  uint32_t seed = 1;
  std::string only;
  bool json = false;
  bool quick = false;
  CLI::App app("churn: connections that break while backends and balancers come and go.");
  app.footer("Example:\n  churn --seed 1 --scenario add+ecmp-60s");
  app.add_option("--seed", seed, "Of clients, and of who is changed")->capture_default_str();
  app.add_option("--scenario", only, "Only this one");
  app.add_flag("--json", json, "JSON instead of a table");
  app.add_flag("--quick", quick, "A tenth of the connections");
  CLI11_PARSE(app, argc, argv);
  std::vector<Result> results;
  for (const Scenario& scenario : AllScenarios(seed, quick)) {
    if (!only.empty() && scenario.name != only) continue;
    for (const auto& rule :
         AllRules({.hosts = scenario.hosts, .entries = scenario.entries, .table_size = 65537})) {
      results.push_back(
          {scenario.name, std::string(rule->name()), Simulate(scenario, *rule, seed)});
    }
  }
  if (results.empty()) {
    std::cerr << "churn: no scenario is called " << only << "; there are:";
    for (const Scenario& scenario : AllScenarios(seed, quick)) std::cerr << " " << scenario.name;
    std::cerr << "\n";
    return 2;
  }
  std::cout << (json ? ToJson(results, seed) : ToTable(results));
  return 0;
}

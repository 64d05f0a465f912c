#include "bench/churn/report.h"

#include <array>
#include <cstdio>

namespace penstock::bench {
namespace {

template <typename... Values>
std::string Format(const char* format, Values... values) {
  std::array<char, 400> line{};
  std::snprintf(line.data(), line.size(), format, values...);
  return line.data();
}

}  // namespace

std::string ToTable(const std::vector<Result>& results) {
  std::string table = Format("%-20s %-11s %9s %8s %9s %9s %8s\n", "scenario", "rule", "flows",
                             "broken", "by change", "by host", "%");
  for (const Result& r : results) {
    const Outcome& o = r.outcome;
    const double percent = 100.0 * static_cast<double>(o.broken()) / static_cast<double>(o.flows);
    table += Format("%-20s %-11s %9lu %8lu %9lu %9lu %8.3f\n", r.scenario.c_str(), r.rule.c_str(),
                    o.flows, o.broken(), o.by_change, o.by_host, percent);
  }
  return table;
}

std::string ToJson(const std::vector<Result>& results, uint32_t seed) {
  std::string json = Format("{\"seed\": %u, \"results\": [", seed);
  for (const Result& r : results) {
    const Outcome& o = r.outcome;
    json += Format(
        "%s\n  {\"scenario\": \"%s\", \"rule\": \"%s\", \"flows\": %lu, \"broken\": %lu, "
        "\"by_change\": %lu, \"by_host\": %lu, \"backend_gone\": %lu, \"refused\": %lu}",
        &r == results.data() ? "" : ",", r.scenario.c_str(), r.rule.c_str(), o.flows, o.broken(),
        o.by_change, o.by_host, o.backend_gone, o.refused);
  }
  return json + "\n]}\n";
}

}  // namespace penstock::bench

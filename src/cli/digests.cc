#include "cli/digests.h"

#include <map>

namespace penstock::cli {

std::set<std::string> DifferingPools(const PoolsOfTargets& all) {
  std::size_t answered = 0;
  std::map<std::string, std::vector<std::string>> digests;
  for (const auto& response : all) {
    if (!response.has_value()) continue;
    ++answered;
    for (const v1::PoolStatus& pool : response->pools()) {
      digests[pool.name()].push_back(pool.digest());
    }
  }
  std::set<std::string> differing;
  for (const auto& [pool, values] : digests) {
    const std::set<std::string> distinct(values.begin(), values.end());
    if (distinct.size() > 1 || values.size() < answered) differing.insert(pool);
  }
  return differing;
}

}  // namespace penstock::cli

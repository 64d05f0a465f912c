#include "config/rules.h"

#include "config/schema.h"
#include "config/text.h"

namespace penstock::config {

PoolPositions PositionsOf(const std::vector<Pool>& pools) {
  PoolPositions positions;
  for (std::size_t i = 0; i < pools.size(); ++i) positions.try_emplace(pools[i].name, i);
  return positions;
}

std::string ServicePath(std::size_t index) {
  return Item("services", index);
}

std::string ServicePath(std::size_t index, std::string_view field) {
  return Below(ServicePath(index), field);
}

std::string BackendPath(std::size_t pool, std::size_t backend) {
  return Item(Below(Item("pools", pool), "backends"), backend);
}

std::string AndMore(std::size_t count) {
  return count < 2 ? "" : Concat(" and ", count - 1, " more");
}

}  // namespace penstock::config

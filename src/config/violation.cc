#include "penstock/config/violation.h"

#include <functional>
#include <set>
#include <string_view>

#include "config/text.h"

namespace penstock::config {
namespace {

using PathSet = std::set<std::string, std::less<>>;

// Whether `paths` holds `path` or one above it.
bool IsCovered(const PathSet& paths, std::string_view path) {
  if (paths.empty()) return false;
  while (!path.empty()) {
    if (paths.contains(path)) return true;
    const std::size_t end = path.find_last_of(".[");
    path = path.substr(0, end == std::string_view::npos ? 0 : end);
  }
  return paths.contains(std::string_view());
}

}  // namespace

void AppendUnlessCovered(Violations& all, Violations more) {
  PathSet paths;
  for (const Violation& violation : all) paths.insert(violation.path);
  for (Violation& violation : more) {
    if (!IsCovered(paths, violation.path)) all.push_back(std::move(violation));
  }
}

Violations Prefixed(const std::string& prefix, Violations violations) {
  for (Violation& violation : violations) violation.path = Concat(prefix, violation.path);
  return violations;
}

}  // namespace penstock::config

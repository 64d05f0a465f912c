// A mistake in a configuration: where, and what is wrong with it.

#ifndef PENSTOCK_CONFIG_VIOLATION_H_
#define PENSTOCK_CONFIG_VIOLATION_H_

#include <string>
#include <utility>
#include <vector>

namespace penstock::config {

struct Violation {
  // From the top of the file or message, as in "pools[0].backends[2].address"; empty for the whole.
  std::string path;
  // A clause for people, without the path: "is not an IP address: \"10.1.0\"".
  std::string reason;

  friend bool operator==(const Violation&, const Violation&) = default;
};

// All mistakes of a configuration; empty when it is good.
using Violations = std::vector<Violation>;

// Moves `more` to the end of `all`.
inline void Append(Violations& all, Violations more) {
  for (Violation& violation : more) all.push_back(std::move(violation));
}

// The same without those at or below a path that `all` already names: a value that could not be
// read is reported once, not again by each later check of what stands in its place.
void AppendUnlessCovered(Violations& all, Violations more);

// The same mistakes with `prefix` before each path: "config." where the configuration is a field of
// a request.
[[nodiscard]] Violations Prefixed(const std::string& prefix, Violations violations);

}  // namespace penstock::config

#endif  // PENSTOCK_CONFIG_VIOLATION_H_

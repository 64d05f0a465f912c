// Where in a YAML text a value was written, so that a mistake found later still names its line.

#ifndef PENSTOCK_CONFIG_SOURCE_MAP_H_
#define PENSTOCK_CONFIG_SOURCE_MAP_H_

#include <compare>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/config/violation.h"

namespace penstock::config {

struct YamlNode;

// A place in a text; both count from 1.
struct SourcePosition {
  int line = 1;
  int column = 1;

  friend auto operator<=>(const SourcePosition&, const SourcePosition&) = default;
};

// Positions of every value of one text. Cheap to copy. A default-made one knows no text.
class SourceMap {
 public:
  SourceMap() = default;
  SourceMap(std::string_view file_name, std::shared_ptr<const YamlNode> root)
      : file_name_(file_name), root_(std::move(root)) {}

  // Of the value at `path`; of the nearest value around it when nothing is written there.
  [[nodiscard]] SourcePosition Find(std::string_view path) const;
  // Whether a value is written at exactly this path.
  [[nodiscard]] bool Contains(std::string_view path) const;
  // Gives one violation a position of its own: that of a key, where Find would give a value's.
  void Pin(const Violation& violation, SourcePosition position);

  // "file:line:col path: reason" for each, in the order of the text. Bytes that could act on a
  // terminal are escaped.
  [[nodiscard]] std::vector<std::string> Format(const Violations& violations) const;

 private:
  std::string file_name_;
  std::shared_ptr<const YamlNode> root_;
  std::map<std::pair<std::string, std::string>, SourcePosition> pins_;  // by path and reason
};

}  // namespace penstock::config

#endif  // PENSTOCK_CONFIG_SOURCE_MAP_H_

#include "penstock/config/source_map.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "config/text.h"
#include "config/yaml_tree.h"

namespace penstock::config {
namespace {

// The value of the key of `map` with which `path` begins, and takes it off. Labels may have dots in
// their keys, so the longest key wins over the first dot.
const YamlNode* TakeKey(const YamlNode& map, std::string_view& path) {
  const std::string_view name = path.substr(path.starts_with('.') ? 1 : 0);
  const YamlNode* found = nullptr;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < map.items.size(); ++i) {
    const std::string& key = map.keys[i].text;
    if (key.size() <= longest || !name.starts_with(key)) continue;
    if (name.size() > key.size() && name[key.size()] != '.' && name[key.size()] != '[') continue;
    found = &map.items[i];
    longest = key.size();
  }
  if (found != nullptr) path = name.substr(longest);
  return found;
}

// The same for an item of `list` and "[INDEX]".
const YamlNode* TakeIndex(const YamlNode& list, std::string_view& path) {
  std::size_t index = 0;
  if (!path.starts_with('[')) return nullptr;
  const char* const end = path.data() + path.size();
  const auto [stop, error] = std::from_chars(path.data() + 1, end, index);
  if (error != std::errc() || stop == end || *stop != ']' || index >= list.items.size()) {
    return nullptr;
  }
  path.remove_prefix(static_cast<std::size_t>(stop - path.data()) + 1);
  return &list.items[index];
}

// Goes down as far as the text does; `path` is left with what is not there.
const YamlNode* Descend(const YamlNode& root, std::string_view& path) {
  const YamlNode* node = &root;
  while (!path.empty()) {
    const bool is_map = node->kind == YamlNode::Kind::kMap;
    const YamlNode* child = is_map ? TakeKey(*node, path) : TakeIndex(*node, path);
    if (child == nullptr) break;
    node = child;
  }
  return node;
}

}  // namespace

SourcePosition SourceMap::Find(std::string_view path) const {
  return root_ ? Descend(*root_, path)->position : SourcePosition{};
}

bool SourceMap::Contains(std::string_view path) const {
  if (!root_) return false;
  Descend(*root_, path);
  return path.empty();
}

void SourceMap::Pin(const Violation& violation, SourcePosition position) {
  pins_[{violation.path, violation.reason}] = position;
}

std::vector<std::string> SourceMap::Format(const Violations& violations) const {
  std::vector<std::pair<SourcePosition, std::string>> lines;
  for (const Violation& violation : violations) {
    const auto pin = pins_.find({violation.path, violation.reason});
    const SourcePosition at = pin == pins_.end() ? Find(violation.path) : pin->second;
    const std::string_view blank = violation.path.empty() ? "" : " ";
    lines.emplace_back(at, Printable(Concat(file_name_, ":", at.line, ":", at.column, blank,
                                            violation.path, ": ", violation.reason)));
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> texts;
  for (auto& line : lines) texts.push_back(std::move(line.second));
  return texts;
}

}  // namespace penstock::config

// YAML text as a tree of nodes with their positions, for texts that nobody vouches for.

#ifndef PENSTOCK_SRC_CONFIG_YAML_TREE_H_
#define PENSTOCK_SRC_CONFIG_YAML_TREE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/config/source_map.h"
#include "penstock/config/yaml.h"

namespace penstock::config {

// One value. A map has as many keys as items; keys are scalars and may repeat.
struct YamlNode {
  enum class Kind : uint8_t { kScalar, kNull, kList, kMap };

  Kind kind = Kind::kNull;
  bool quoted = false;  // a scalar in quotes or a block scalar: always text
  SourcePosition position{};
  std::string text{};
  std::vector<YamlNode> keys{};
  std::vector<YamlNode> items{};

  [[nodiscard]] bool IsPlain() const { return kind == Kind::kScalar && !quoted; }
  // "a list", "a map", "the number 12", for messages.
  [[nodiscard]] std::string Describe() const;
};

// Why there is no tree.
struct YamlError {
  SourcePosition position;
  std::string reason;

  friend bool operator==(const YamlError&, const YamlError&) = default;
};

struct YamlTree {
  std::shared_ptr<const YamlNode> root;  // nullptr with an error
  std::optional<YamlError> error;
};

// Limits on what is read. Tests use smaller ones.
struct YamlLimits {
  std::size_t bytes = kMaxYamlBytes;
  std::size_t nodes = kMaxYamlNodes;
};

// Never throws. Refuses what YamlToProto in yaml.h says.
[[nodiscard]] YamlTree ParseYaml(std::string_view text, const YamlLimits& limits = {});

}  // namespace penstock::config

#endif  // PENSTOCK_SRC_CONFIG_YAML_TREE_H_

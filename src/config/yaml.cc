#include "penstock/config/yaml.h"

#include <google/protobuf/message.h>

#include <unordered_map>

#include "absl/strings/str_join.h"
#include "config/scalar.h"
#include "config/schema.h"
#include "config/text.h"
#include "config/yaml_tree.h"

namespace penstock::config {
namespace {

namespace pb = google::protobuf;

// "; did you mean ...?" or the names there are.
std::string Advice(std::string_view text, const std::vector<std::string>& names) {
  if (const auto nearest = Nearest(text, names)) {
    return Concat("; did you mean \"", *nearest, "\"?");
  }
  return Concat("; known here: ", absl::StrJoin(names, ", "));
}

// Walks one tree beside one message. REQUIRES for all: `node` stands at `path`.
class Reader {
 public:
  Reader(Violations& violations, SourceMap& source) : violations_(violations), source_(source) {}

  void ReadMessage(const YamlNode& node, const std::string& path, pb::Message& message) {
    if (!Expect(node, YamlNode::Kind::kMap, "a map", path)) return;
    for (const auto& [key, value] : UniqueKeys(node, path)) {
      const pb::FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(key->text);
      if (field == nullptr) {
        const auto names = UsableNames(*message.GetDescriptor());
        ReportKey(*key, path, Concat("is not a known key", Advice(key->text, names)));
      } else if (IsNotYetSupported(*field)) {
        ReportKey(*key, path, kNotYetSupported);
      } else {
        ReadField(*value, Below(path, key->text), *field, message);
      }
    }
  }

 private:
  using Entry = std::pair<const YamlNode*, const YamlNode*>;

  // The entries of a map in order, without repeated keys, which are reported.
  std::vector<Entry> UniqueKeys(const YamlNode& map, const std::string& path) {
    std::vector<Entry> entries;
    std::unordered_map<std::string_view, const YamlNode*> seen;
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
      const YamlNode& key = map.keys[i];
      const auto [first, added] = seen.try_emplace(key.text, &key);
      if (added) {
        entries.emplace_back(&key, &map.items[i]);
      } else {
        ReportKey(key, path,
                  Concat("is written twice; first on line ", first->second->position.line));
      }
    }
    return entries;
  }

  void ReadField(const YamlNode& node, const std::string& path, const pb::FieldDescriptor& field,
                 pb::Message& message) {
    if (field.is_map()) {
      ReadMap(node, path, field, message);
    } else if (field.is_repeated()) {
      ReadList(node, path, field, message);
    } else if (IsScalar(field)) {
      ReadScalar(node, path, field, message);
    } else {
      ReadMessage(node, path, *message.GetReflection()->MutableMessage(&message, &field));
    }
  }

  void ReadList(const YamlNode& node, const std::string& path, const pb::FieldDescriptor& field,
                pb::Message& message) {
    if (!Expect(node, YamlNode::Kind::kList, "a list", path)) return;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      if (IsScalar(field)) {
        ReadScalar(node.items[i], Item(path, i), field, message);
      } else {
        ReadMessage(node.items[i], Item(path, i),
                    *message.GetReflection()->AddMessage(&message, &field));
      }
    }
  }

  // map<string, string>, the only kind in the schema.
  void ReadMap(const YamlNode& node, const std::string& path, const pb::FieldDescriptor& field,
               pb::Message& message) {
    if (!Expect(node, YamlNode::Kind::kMap, "a map", path)) return;
    for (const auto& [key, value] : UniqueKeys(node, path)) {
      const std::string below = Below(path, key->text);
      if (!Expect(*value, YamlNode::Kind::kScalar, "text", below)) continue;
      pb::Message* entry = message.GetReflection()->AddMessage(&message, &field);
      entry->GetReflection()->SetString(entry, field.message_type()->map_key(), key->text);
      entry->GetReflection()->SetString(entry, field.message_type()->map_value(), value->text);
    }
  }

  void ReadScalar(const YamlNode& node, const std::string& path, const pb::FieldDescriptor& field,
                  pb::Message& message) {
    const std::string problem = SetScalar(node, field, message);
    if (!problem.empty()) Report(path, problem);
  }

  bool Expect(const YamlNode& node, YamlNode::Kind kind, std::string_view wanted,
              const std::string& path) {
    if (node.kind == kind) return true;
    Report(path, Concat("has to be ", wanted, ", not ", node.Describe()));
    return false;
  }

  // About the key itself, at the key's place.
  void ReportKey(const YamlNode& key, const std::string& path, std::string reason) {
    if (!Report(Below(path, key.text.substr(0, 64)), std::move(reason))) return;
    source_.Pin(violations_.back(), key.position);
  }

  // False when there are too many already.
  bool Report(std::string path, std::string reason) {
    if (violations_.size() > kMaxYamlMistakes) return false;
    const bool last = violations_.size() == kMaxYamlMistakes;
    if (last) {
      // Without a path it also covers what later checks would say about the unread rest.
      violations_.push_back({"", Concat("has more than ", kMaxYamlMistakes, " mistakes")});
    } else {
      violations_.push_back({std::move(path), std::move(reason)});
    }
    return !last;
  }

  Violations& violations_;
  SourceMap& source_;
};

}  // namespace

Violations YamlToProto(std::string_view text, std::string_view file_name, pb::Message& message,
                       SourceMap& source) {
  YamlTree tree = ParseYaml(text);
  source = SourceMap(file_name, tree.root);
  Violations violations;
  if (tree.error) {
    violations.push_back({"", tree.error->reason});
    source.Pin(violations.back(), tree.error->position);
    return violations;
  }
  Reader(violations, source).ReadMessage(*tree.root, "", message);
  return violations;
}

}  // namespace penstock::config

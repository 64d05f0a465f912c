#include "config/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <streambuf>
#include <utility>

#include "config/text.h"

namespace penstock::config {
namespace {

SourcePosition Position(const YAML::Mark& mark) {
  // A null mark is all -1.
  return {.line = std::max(mark.line, 0) + 1, .column = std::max(mark.column, 0) + 1};
}

// Reads the caller's bytes in place.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    // The get area is never written to.
    char* begin = const_cast<char*>(text.data());
    setg(begin, begin, begin + text.size());
  }
};

// Grows the tree from the parser's events. The parser's own node tree is not used: it follows
// aliases, so a few lines can ask for gigabytes. Refuses by the library's own exception.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::size_t max_nodes) : max_nodes_(max_nodes) {}

  [[nodiscard]] std::shared_ptr<const YamlNode> root() const { return root_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (root_) Refuse(mark, "a second document begins here; one is expected");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Check(mark, "?", anchor);
    if (ExpectsKey()) Refuse(mark, "a key is missing");
    Add(mark, {.kind = YamlNode::Kind::kNull});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Refuse(mark, "aliases are not accepted; write the value out");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    // The library marks scalars in quotes with the tag "!".
    const bool quoted = tag == "!";
    Check(mark, quoted ? "?" : tag, anchor);
    Add(mark, {.kind = YamlNode::Kind::kScalar, .quoted = quoted, .text = value});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { open_.pop_back(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  [[noreturn]] static void Refuse(const YAML::Mark& mark, const std::string& reason) {
    throw YAML::ParserException(mark, reason);
  }

  static void Check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) Refuse(mark, "anchors are not accepted");
    if (!tag.empty() && tag != "?") Refuse(mark, "tags are not accepted");
  }

  [[nodiscard]] bool ExpectsKey() const {
    return !open_.empty() && open_.back()->kind == YamlNode::Kind::kMap &&
           open_.back()->keys.size() == open_.back()->items.size();
  }

  void Open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    Check(mark, tag, anchor);
    if (ExpectsKey()) Refuse(mark, "a key has to be text");
    if (open_.size() >= std::size_t{kMaxYamlDepth}) {
      Refuse(mark, Concat("nested deeper than ", kMaxYamlDepth));
    }
    open_.push_back(Add(mark, {.kind = kind}));
  }

  // Pointers in open_ stay good: a vector grows only while its owner is the innermost open node.
  YamlNode* Add(const YAML::Mark& mark, YamlNode node) {
    if (++nodes_ > max_nodes_) Refuse(mark, Concat("more than ", max_nodes_, " values"));
    node.position = Position(mark);
    if (open_.empty()) {
      root_ = std::make_shared<YamlNode>(std::move(node));
      return root_.get();
    }
    std::vector<YamlNode>& siblings = ExpectsKey() ? open_.back()->keys : open_.back()->items;
    siblings.push_back(std::move(node));
    return &siblings.back();
  }

  std::shared_ptr<YamlNode> root_;
  std::size_t nodes_ = 0;
  std::size_t max_nodes_;
  std::vector<YamlNode*> open_;  // from the root to the innermost list or map not yet ended
};

// The first byte that no YAML text may hold. Looked for beforehand: the library guesses encodings.
std::optional<YamlError> FindBadCharacter(std::string_view text) {
  SourcePosition position;
  while (!text.empty()) {
    const std::optional<uint32_t> code_point = TakeUtf8(text);
    if (!code_point) return YamlError{position, "is not UTF-8 text"};
    const bool blank = *code_point == '\n' || *code_point == '\r' || *code_point == '\t';
    if ((*code_point < 0x20 && !blank) || *code_point == 0x7F) {
      return YamlError{position, "holds a control character"};
    }
    ++position.column;
    if (*code_point == '\n') position = {.line = position.line + 1, .column = 1};
  }
  return std::nullopt;
}

std::optional<YamlError> Build(std::string_view text, TreeBuilder& builder) {
  ViewBuffer buffer(text);
  std::istream stream(&buffer);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& exception) {
    return YamlError{Position(exception.mark), exception.msg};
  }
  return std::nullopt;
}

}  // namespace

std::string YamlNode::Describe() const {
  switch (kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
    case Kind::kScalar:
      break;
  }
  return quoted ? Concat("the text ", QuoteShort(text)) : QuoteShort(text);
}

YamlTree ParseYaml(std::string_view text, const YamlLimits& limits) {
  if (text.size() > limits.bytes) {
    return {.root = nullptr,
            .error = YamlError{{}, Concat("is larger than ", limits.bytes, " bytes")}};
  }
  if (auto bad = FindBadCharacter(text)) return {.root = nullptr, .error = std::move(bad)};
  TreeBuilder builder(limits.nodes);
  if (auto error = Build(text, builder)) return {.root = nullptr, .error = std::move(error)};
  if (!builder.root() || builder.root()->kind == YamlNode::Kind::kNull) {
    return {.root = nullptr, .error = YamlError{{}, "is empty"}};
  }
  return {.root = builder.root(), .error = std::nullopt};
}

}  // namespace penstock::config

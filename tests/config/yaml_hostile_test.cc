// Texts that are no configuration and were perhaps never meant to be one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/yaml_tree.h"
#include "penstock/config/yaml.h"
#include "penstock/v1/config.pb.h"

namespace penstock::config {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<std::string> Read(std::string_view text) {
  v1::Config message;
  SourceMap source;
  const Violations violations = YamlToProto(text, "f.yaml", message, source);
  return source.Format(violations);
}

TEST(HostileYaml, Empty) {
  // Expect: an error, not the empty configuration; {} is written by someone who means it.
  for (const char* text : {"", " ", "\n\n", "# only a comment\n", "---\n", "--- ~\n", "null"}) {
    EXPECT_THAT(Read(text), ElementsAre("f.yaml:1:1: is empty")) << text;
  }
  EXPECT_THAT(Read("{}"), ElementsAre());
}

TEST(HostileYaml, NotAMap) {
  EXPECT_THAT(Read("hello"), ElementsAre("f.yaml:1:1: has to be a map, not \"hello\""));
  EXPECT_THAT(Read("[1, 2]"), ElementsAre("f.yaml:1:1: has to be a map, not a list"));
}

TEST(HostileYaml, SyntaxErrorNamesItsPlace) {
  EXPECT_THAT(Read("hash: {seed: x\npools: []\n"),
              ElementsAre("f.yaml:2:6: end of map flow not found"));
  EXPECT_THAT(Read("hash:\n\t- x\n"), SizeIs(1));
  EXPECT_THAT(Read("hash: \"abc"), SizeIs(1));
  EXPECT_THAT(Read("a: b: c"), SizeIs(1));
}

TEST(HostileYaml, AnchorsAliasesAndTags) {
  EXPECT_THAT(Read("hash: &a {seed: x}\n"), ElementsAre("f.yaml:1:7: anchors are not accepted"));
  EXPECT_THAT(Read("hash: *a\n"), SizeIs(1));
  EXPECT_THAT(Read("hash: {seed: !!binary aGk=}\n"),
              ElementsAre("f.yaml:1:14: tags are not accepted"));
  EXPECT_THAT(Read("hash: !x {seed: y}\n"), ElementsAre("f.yaml:1:7: tags are not accepted"));
  // Expect: the bomb of nine times nine aliases ends at its first anchor.
  EXPECT_THAT(Read("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"),
              ElementsAre("f.yaml:1:4: anchors are not accepted"));
}

TEST(HostileYaml, SeveralDocuments) {
  EXPECT_THAT(Read("pools: []\n---\nservices: []\n"),
              ElementsAre("f.yaml:2:1: a second document begins here; one is expected"));
}

TEST(HostileYaml, Keys) {
  EXPECT_THAT(Read("[a]: b\n"), ElementsAre("f.yaml:1:1: a key has to be text"));
  EXPECT_THAT(Read("? {a: b}\n: c\n"), ElementsAre("f.yaml:1:3: a key has to be text"));
  EXPECT_THAT(Read("~: b\n"), ElementsAre("f.yaml:1:1: a key is missing"));
  EXPECT_THAT(Read("{: b}\n"), SizeIs(1));
  EXPECT_THAT(Read("12: b\n"),
              ElementsAre("f.yaml:1:1 12: is not a known key; known here: hash, pools, services"));
  EXPECT_THAT(Read("\"\": b\n"),
              ElementsAre("f.yaml:1:1: is not a known key; known here: hash, pools, services"));
  EXPECT_THAT(Read("<<: {seed: x}\n"),
              ElementsAre("f.yaml:1:1 <<: is not a known key; known here: hash, pools, services"));
}

TEST(HostileYaml, Depth) {
  EXPECT_THAT(Read(std::string(100000, '[')), SizeIs(1));
  EXPECT_THAT(Read(std::string(33, '[') + std::string(33, ']')),
              ElementsAre("f.yaml:1:33: nested deeper than 32"));
  std::string steps;
  for (int i = 0; i < 2000; ++i) steps += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_THAT(Read(steps), ElementsAre("f.yaml:33:33: nested deeper than 32"));
  EXPECT_THAT(Read(std::string(100000, '?')), SizeIs(1));
  std::string dashes;
  for (int i = 0; i < 10000; ++i) dashes += "- ";
  EXPECT_THAT(Read(dashes), ElementsAre("f.yaml:1:65: nested deeper than 32"));
}

TEST(HostileYaml, BytesThatAreNoText) {
  using namespace std::string_view_literals;
  EXPECT_THAT(Read("hash: {seed: a\0b}"sv), ElementsAre("f.yaml:1:15: holds a control character"));
  EXPECT_THAT(Read("pools: []\nhash: {seed: \x1b}"),
              ElementsAre("f.yaml:2:14: holds a control character"));
  EXPECT_THAT(Read("# \xC3\xA9\n# \xFF\n"), ElementsAre("f.yaml:2:3: is not UTF-8 text"));
  // Expect: UTF-16 is refused, not guessed.
  EXPECT_THAT(Read("\xFF\xFEh\0i\0"sv), ElementsAre("f.yaml:1:1: is not UTF-8 text"));
  // Expect: a byte order mark and Windows line ends are harmless.
  EXPECT_THAT(Read("\xEF\xBB\xBFpools: []\r\nservices: []\r\n"), ElementsAre());
}

TEST(HostileYaml, Size) {
  EXPECT_THAT(Read(std::string(kMaxYamlBytes + 1, '#')),
              ElementsAre("f.yaml:1:1: is larger than 16777216 bytes"));
  // Expect: a refusal before many small values have become gigabytes.
  const YamlLimits limits{.nodes = 4};
  EXPECT_EQ(ParseYaml("[1, 2, 3]", limits).error, std::nullopt);
  const YamlTree tree = ParseYaml("[1, 2,\n3, 4]", limits);
  ASSERT_TRUE(tree.error.has_value());
  EXPECT_EQ(tree.error->reason, "more than 4 values");
  EXPECT_EQ(tree.error->position, (SourcePosition{2, 4}));
}

TEST(HostileYaml, TooManyMistakes) {
  std::string text;
  for (std::size_t i = 0; i <= kMaxYamlMistakes + 5; ++i) text += "k" + std::to_string(i) + ": 1\n";
  const auto lines = Read(text);
  EXPECT_THAT(lines, SizeIs(kMaxYamlMistakes + 1));
  EXPECT_THAT(lines, testing::Contains("f.yaml:1:1: has more than 10000 mistakes"));
}

}  // namespace
}  // namespace penstock::config

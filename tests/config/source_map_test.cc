#include "penstock/config/source_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/config/yaml.h"
#include "penstock/v1/config.pb.h"

namespace penstock::config {
namespace {

using ::testing::ElementsAre;

SourceMap Read(std::string_view text) {
  v1::Config message;
  SourceMap source;
  const Violations violations = YamlToProto(text, "f.yaml", message, source);
  EXPECT_TRUE(violations.empty()) << violations[0].reason;
  return source;
}

constexpr char kText[] =
    "hash: {seed: s}\n"
    "pools:\n"
    "  - name: web\n"
    "    backends:\n"
    "      - {address: 10.0.0.1, labels: {a: x, a.b: y}}\n"
    "      - address: 10.0.0.2\n"
    "services: []\n";

TEST(SourceMap, FindsValues) {
  const SourceMap source = Read(kText);
  EXPECT_EQ(source.Find("hash.seed"), (SourcePosition{1, 14}));
  EXPECT_EQ(source.Find("pools[0].name"), (SourcePosition{3, 11}));
  EXPECT_EQ(source.Find("pools[0].backends[1].address"), (SourcePosition{6, 18}));
  // Expect: a label's key may hold a dot and be the beginning of another.
  EXPECT_EQ(source.Find("pools[0].backends[0].labels.a"), (SourcePosition{5, 41}));
  EXPECT_EQ(source.Find("pools[0].backends[0].labels.a.b"), (SourcePosition{5, 49}));
}

TEST(SourceMap, FindsTheNearestAroundWhatIsMissing) {
  const SourceMap source = Read(kText);
  EXPECT_EQ(source.Find("pools[0].table_size"), (SourcePosition{3, 5}));
  EXPECT_EQ(source.Find("pools[0].backends[1].weight"), (SourcePosition{6, 9}));
  EXPECT_EQ(source.Find("pools[0].backends[7].weight"), (SourcePosition{5, 7}));
  EXPECT_EQ(source.Find("elsewhere"), (SourcePosition{1, 1}));
  EXPECT_EQ(SourceMap().Find("pools"), (SourcePosition{1, 1}));
}

TEST(SourceMap, ContainsOnlyWhatIsWritten) {
  const SourceMap source = Read(kText);
  EXPECT_TRUE(source.Contains("services"));
  EXPECT_TRUE(source.Contains("pools[0].backends[1]"));
  EXPECT_FALSE(source.Contains("pools[0].backends[2]"));
  EXPECT_FALSE(source.Contains("pools[0].table_size"));
  EXPECT_FALSE(source.Contains("pools[99999999999999999999]"));
  EXPECT_FALSE(source.Contains("pools[0"));
}

TEST(SourceMap, FormatsInTheOrderOfTheText) {
  const SourceMap source = Read(kText);
  EXPECT_THAT(
      source.Format({{"services", "b"}, {"hash.seed", "a"}, {"", "whole\x1b"}}),
      ElementsAre("f.yaml:1:1: whole\\x1b", "f.yaml:1:14 hash.seed: a", "f.yaml:7:11 services: b"));
}

TEST(Violations, CoveredOnesAreLeftOut) {
  Violations all{{"pools[0].backends[1]", "x"}};
  AppendUnlessCovered(all, {{"pools[0].backends[1].address", "below"},
                            {"pools[0].backends[1]", "same"},
                            {"pools[0].backends[10]", "other"},
                            {"pools[0]", "above"}});
  EXPECT_THAT(all, ElementsAre(Violation{"pools[0].backends[1]", "x"},
                               Violation{"pools[0].backends[10]", "other"},
                               Violation{"pools[0]", "above"}));
  // Expect: a mistake about the whole text hides all that follows from it.
  Violations whole{{"", "is empty"}};
  AppendUnlessCovered(whole, {{"pools", "is missing"}});
  EXPECT_EQ(whole.size(), 1U);
  EXPECT_EQ(Prefixed("config.", all)[2].path, "config.pools[0]");
}

}  // namespace
}  // namespace penstock::config

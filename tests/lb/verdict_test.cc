#include "penstock/lb/verdict.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

#include "penstock/lb/counters.h"

namespace penstock::lb {
namespace {

TEST(Verdicts, NamesAreUniqueAndSpeakTheirKind) {
  std::set<std::string> names;
  for (const VerdictInfo& info : kVerdicts) {
    EXPECT_TRUE(names.insert(std::string(info.name)).second) << info.name;
    EXPECT_FALSE(info.help.empty()) << info.name;
    const bool says_drop = info.name.substr(0, 5) == "drop_";
    EXPECT_EQ(says_drop, info.kind == VerdictKind::kDropped) << info.name;
    for (const char c : info.name) EXPECT_TRUE(std::islower(c) || std::isdigit(c) || c == '_');
  }
}

TEST(FlowEvents, NamesAreUnique) {
  std::set<std::string> names;
  for (const auto name : kFlowEventNames) {
    EXPECT_TRUE(names.insert(std::string(name)).second) << name;
  }
}

}  // namespace
}  // namespace penstock::lb

#include "config/text.h"

#include <gtest/gtest.h>

namespace penstock::config {
namespace {

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    if (!TakeUtf8(text)) return false;
  }
  return true;
}

TEST(Text, Utf8) {
  EXPECT_TRUE(IsUtf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
  // Expect: RFC 3629 section 3 refuses overlong forms, surrogates, what is above U+10FFFF, and
  // sequences that end early.
  for (const char* text :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xC3", "\xE2\x82", "\xC3(", "\xFF"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
  }
}

TEST(Text, EscapesWhatATerminalWouldActOn) {
  EXPECT_EQ(Printable("a\x1b[2J\nb"), "a\\x1b[2J\\nb");
  EXPECT_EQ(Printable("\xE2\x80\xAE"), "\\u202e");
  EXPECT_EQ(Printable("\xFF"), "\xEF\xBF\xBD");
  EXPECT_EQ(Quote("say \"hi\"\\"), "\"say \\\"hi\\\"\\\\\"");
}

TEST(Text, CutsLongTextsBetweenCharacters) {
  std::string text = "x";
  for (int i = 0; i < 100; ++i) text += "\xC3\xA9";
  const std::string quoted = QuoteShort(text);
  EXPECT_TRUE(quoted.ends_with("\xC3\xA9\"...")) << quoted;
  EXPECT_LT(quoted.size(), 70U);
}

TEST(Text, NearestName) {
  const std::vector<std::string> names{"pools", "services", "hash", "tcp", "udp"};
  EXPECT_EQ(Nearest("pool", names), "pools");
  EXPECT_EQ(Nearest("servcies", names), "services");
  EXPECT_EQ(Nearest("tpc", names), "tcp");
  EXPECT_EQ(Nearest("tls", names), std::nullopt);  // two letters of three
  EXPECT_EQ(Nearest("hsah", names), "hash");
  EXPECT_EQ(Nearest("tcpp", names), "tcp");
  EXPECT_EQ(Nearest("", names), std::nullopt);
  EXPECT_EQ(Nearest(std::string(1000, 'x'), names), std::nullopt);
}

}  // namespace
}  // namespace penstock::config

#include "harness/base/words.h"

#include <gtest/gtest.h>

namespace wiretoll {
namespace {

TEST(WordsTest, OneHasNoPluralAndAllElseDoes) {
  EXPECT_EQ(Count(0, "block"), "0 blocks");
  EXPECT_EQ(Count(1, "block"), "1 block");
  EXPECT_EQ(Count(2, "block"), "2 blocks");
}

TEST(WordsTest, DigitsAreToldApartByThreesFromTheRight) {
  EXPECT_EQ(GroupDigits(0), "0");
  EXPECT_EQ(GroupDigits(999), "999");
  EXPECT_EQ(GroupDigits(1000), "1,000");
  EXPECT_EQ(GroupDigits(1234567), "1,234,567");
  EXPECT_EQ(GroupDigits(-100000), "-100,000");
  EXPECT_EQ(GroupDigits(-100), "-100");
}

TEST(WordsTest, QuotedBytesCannotSteerATerminal) {
  EXPECT_EQ(QuoteBytes("plain ~"), "\"plain ~\"");
  EXPECT_EQ(QuoteBytes("\x1b[2J\"\\"), R"("\x1b[2J\"\\")");
  EXPECT_EQ(QuoteBytes("a\r\n\tb"), R"("a\r\n\tb")");
  EXPECT_EQ(QuoteBytes("\xd0\xb6\x7f"), R"("\xd0\xb6\x7f")");
  EXPECT_EQ(QuoteBytes(std::string_view("\0", 1)), R"("\x00")");
}

TEST(WordsTest, WhatIsLeftOutOfAQuoteIsMarked) {
  EXPECT_EQ(QuoteBytes("abc", 3), "\"abc\"");
  EXPECT_EQ(QuoteBytes("abcd", 3), "\"abc\"...");
}

TEST(WordsTest, ClausesStandApartAndTheFirstAlone) {
  std::string text;
  AddClause("one", text);
  EXPECT_EQ(text, "one");
  AddClause("other", text);
  EXPECT_EQ(text, "one; other");
}

}  // namespace
}  // namespace wiretoll

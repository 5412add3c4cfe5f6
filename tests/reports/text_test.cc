#include "reports/text.h"

#include <gtest/gtest.h>

namespace wiretoll {
namespace {

TEST(TextTest, HtmlMarkupComesOutAsText) {
  EXPECT_EQ(HtmlText("<script>a & 'b' \"c\"</script>"),
            "&lt;script&gt;a &amp; &#39;b&#39; &quot;c&quot;&lt;/script&gt;");
}

TEST(TextTest, LettersOfAnyScriptStayAndControlCharactersGo) {
  EXPECT_EQ(Printable("хост 主机 \x1b[31mred\x07"), "хост 主机 [31mred");
  EXPECT_EQ(Printable("two\nlines\tand a tab"), "two lines and a tab");
  // U+202E, byte by byte, would make what follows read from right to left.
  const std::string reversing{'a', '\xE2', '\x80', '\xAE', 'b'};
  EXPECT_EQ(Printable(reversing), "ab");
}

TEST(TextTest, BrokenUtf8BecomesAReplacementCharacter) {
  EXPECT_EQ(Printable("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(Printable("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // Overlong /.
  EXPECT_EQ(Printable("end\xE2\x82"), "end\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(TextTest, MarkdownMarkupIsEscaped) {
  EXPECT_EQ(MarkdownText("a|b `c` *d* [e](f) <g>"),
            "a\\|b \\`c\\` \\*d\\* \\[e\\](f) &lt;g&gt;");
}

TEST(TextTest, CsvFieldsAreQuotedOnlyWhereTheyMustBe) {
  EXPECT_EQ(CsvField("plain"), "plain");
  EXPECT_EQ(CsvField("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvField("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(CsvField("two\nlines"), "\"two\nlines\"");
}

TEST(TextTest, WhatASpreadsheetWouldRunIsMadeText) {
  EXPECT_EQ(CsvField("=1+1"), "'=1+1");
  EXPECT_EQ(CsvField("+1"), "'+1");
  EXPECT_EQ(CsvField("-1"), "'-1");
  EXPECT_EQ(CsvField("@f,g"), "\"'@f,g\"");
}

TEST(TextTest, ShellWordsAreQuotedSoThatNothingIsExpanded) {
  EXPECT_EQ(ShellWord("cases/quick.toml"), "cases/quick.toml");
  EXPECT_EQ(ShellWord("$(touch x)"), "'$(touch x)'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellCommand({"wiretoll", "run", "a b", ""}),
            "wiretoll run 'a b' ''");
}

TEST(TextTest, AnIntervalShowsAsManyDigitsAsItsWidthNeeds) {
  EXPECT_EQ(IntervalText({0.19, 0.24}), "0.190–0.240");
  // To three digits both would read 11.8.
  EXPECT_EQ(IntervalText({11.76, 11.77}), "11.76–11.77");
  EXPECT_EQ(IntervalText({11.7684e6, 11.7691e6}, 1e-6), "11.768–11.769");
  EXPECT_EQ(IntervalText({5, 5}), "5.00");  // The same in every block.
}

TEST(TextTest, ARatioNearOneShowsItsSideOfOne) {
  EXPECT_EQ(RatioRange({1.0012, 1.034}), "1.001–1.03");
  EXPECT_EQ(RatioRange({0.99996, 1}), "0.99996–1.00");
}

TEST(TextTest, CountsOfThousandsAreWhole) {
  EXPECT_EQ(WholeNumber(1448), "1448");
  EXPECT_EQ(WholeNumber(7.104), "7.10");
}

TEST(TextTest, SharesArePercentOfThreeDigits) {
  // 1 of 84 bytes; 1448 of 1538.
  EXPECT_EQ(Percent(1.0 / 84), "1.19 %");
  EXPECT_EQ(Percent(1448.0 / 1538), "94.1 %");
}

TEST(TextTest, ShorteningCountsCharactersAndNotBytes) {
  EXPECT_EQ(Length("主机"), 2U);
  EXPECT_EQ(Shorten("主机名", 3), "主机名");
  EXPECT_EQ(Shorten("主机名字", 3), "主机…");
}

TEST(TextTest, FactorsReadAsPeopleSayThem) {
  EXPECT_EQ(FactorText("nagle", FactorValue{std::string("on")}), "Nagle on");
  EXPECT_EQ(FactorText("write", FactorValue{std::int64_t{32}}), "32 B writes");
  EXPECT_EQ(FactorText("rcvbuf", FactorValue{std::int64_t{65536}}),
            "rcvbuf 64 KiB");
  EXPECT_EQ(FactorText("rcvbuf", FactorValue{std::string("unset")}),
            "rcvbuf unset");
}

}  // namespace
}  // namespace wiretoll

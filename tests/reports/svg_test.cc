#include "reports/svg.h"

#include <gtest/gtest.h>

namespace wiretoll {
namespace {

constexpr const char* kRaw =
    "<?xml version=\"1.0\"?>\n<svg \n viewBox=\"0 0 8 4\"\n "
    "xmlns=\"http://www.w3.org/2000/svg\"\n>\n<title>Gnuplot</title>\n"
    "<desc>Produced by</desc>\n<circle id='gpDot' r='1'/>\n"
    "<use xlink:href='#gpDot' id=\"b\"/>\n<g fill=\"none\" color=\"black\">\n"
    "</g>\n</svg>\n";

TEST(SvgTest, IdsAreThoseOfThePicture) {
  const std::string svg = TidySvg(kRaw, {"p3-", "T", "D"});
  EXPECT_NE(svg.find("id='p3-gpDot'"), std::string::npos);
  EXPECT_NE(svg.find("href='#p3-gpDot'"), std::string::npos);
  EXPECT_NE(svg.find("id=\"p3-b\""), std::string::npos);
}

TEST(SvgTest, ProgramsNamesGoAndOursCome) {
  const std::string svg = TidySvg(kRaw, {"p3-", "Rate", "What is <drawn>"});
  EXPECT_EQ(svg.substr(0, 4), "<svg");
  EXPECT_EQ(svg.find("Gnuplot"), std::string::npos);
  EXPECT_EQ(svg.find("http"), std::string::npos);
  EXPECT_NE(svg.find("<title id=\"p3-title\">Rate</title>"), std::string::npos);
  EXPECT_NE(svg.find(">What is &lt;drawn&gt;</desc>"), std::string::npos);
  EXPECT_NE(svg.find("viewBox=\"0 0 8 4\""), std::string::npos);
}

// A page forgives half an attribute, a file of its own does not.
TEST(SvgTest, TheFontGoesAsAWholeAttribute) {
  const std::string svg = TidySvg(
      "<svg viewBox=\"0 0 8 4\"><g font-family=\"Helvetica\" "
      "font-size=\"14.00\"></g></svg>",
      {"p-", "T", "D"});
  EXPECT_NE(svg.find("<g font-size=\"14.00\">"), std::string::npos) << svg;
}

TEST(SvgTest, WhatIsNoSvgGivesNothing) {
  EXPECT_EQ(TidySvg("", {"p-", "T", "D"}), "");
  EXPECT_EQ(TidySvg("<svg viewBox", {"p-", "T", "D"}), "");
}

TEST(SvgTest, TokensAreLettersAndDigitsAndCarryTheTextEscaped) {
  SvgTexts texts;
  const std::string token = texts.Add("a `touch x` <b> 'c'");
  for (const char c : token) EXPECT_TRUE(std::isalnum(c)) << token;
  EXPECT_EQ(texts.Fill("<text>" + token + "</text>"),
            "<text>a `touch x` &lt;b&gt; &#39;c&#39;</text>");
}

TEST(SvgTest, ATextThatLooksLikeATokenStaysAsItIs) {
  SvgTexts texts;
  const std::string first = texts.Add("secret");
  const std::string second = texts.Add(first);
  EXPECT_EQ(texts.Fill(second), first);
  EXPECT_EQ(texts.Fill("QzT99zQ QzT"), "QzT99zQ QzT");
}

}  // namespace
}  // namespace wiretoll

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/study/parsing.h"

namespace wiretoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

// [[claim]] stands on line 8, its first key on line 9.
std::string WithClaim(const std::string& claim) {
  return WithFactors("write = [1, 32, 1448]\nrcvbuf = [2, \"unset\"]") +
         "[[claim]]\n" + claim + "\n";
}

std::string Standard(const std::string& rest) {
  return "id = \"1b\"\ntext = \"It is so.\"\nmetric = \"throughput\"\n" + rest;
}

Claim OnlyClaim(const std::string& rest) {
  return Parsed(WithClaim(Standard(rest))).claims.at(0);
}

std::string ClaimComplaint(const std::string& rest) {
  return Complaint(WithClaim(Standard(rest)));
}

TEST(ClaimTest, ARatioOfTwoSelectionsIsRead) {
  const Claim claim = OnlyClaim(
      "a = { write = 32, \"sender.os\" = \"linux\" }\n"
      "b = { write = [1, 32], sender.os = \"windows\" }\n"
      "ratio = 5\ntolerance = \"50%\"");
  EXPECT_EQ(claim.id, "1b");
  EXPECT_EQ(claim.text, "It is so.");
  EXPECT_EQ(claim.kind, ClaimKind::kRatio);
  EXPECT_EQ(claim.metric, "throughput");
  EXPECT_THAT(claim.a,
              UnorderedElementsAre(
                  Pair("write", ElementsAre(FactorValue(32))),
                  Pair("sender.os", ElementsAre(FactorValue("linux")))));
  EXPECT_THAT(claim.b,
              UnorderedElementsAre(
                  Pair("write", ElementsAre(FactorValue(1), FactorValue(32))),
                  Pair("sender.os", ElementsAre(FactorValue("windows")))));
  EXPECT_EQ(claim.expected, 5);
  EXPECT_EQ(claim.tolerance, 0.5);
  EXPECT_EQ(claim.line, 8);
}

TEST(ClaimTest, SelectedValuesAreCanonicalLikeTheCases) {
  const Study study =
      Parsed(WithFactors("write = [1024]\ngap = [\"1000us\"]") + "[[claim]]\n" +
             Standard("a = { write = \"1KiB\", gap = \"1ms\" }\nvalue = 1\n"));
  EXPECT_TRUE(Matches(study.claims.at(0).a, study.cases.at(0).factors, {}));
}

TEST(ClaimTest, AValueTakesTheUnitOfItsMetric) {
  const auto expected = [](const std::string& metric,
                           const std::string& value) {
    return Parsed(WithClaim("id = \"1\"\ntext = \"T\"\nmetric = \"" + metric +
                            "\"\na = {}\nvalue = " + value))
        .claims.at(0)
        .expected;
  };
  EXPECT_EQ(expected("throughput", "\"11MB/s\""), 11e6);
  EXPECT_EQ(expected("throughput", "11e6"), 11e6);
  EXPECT_EQ(expected("throughput", "11000000"), 11e6);
  EXPECT_EQ(expected("line_share", "\"94%\""), 0.94);
  EXPECT_EQ(expected("latency_p50", "\"44ms\""), 44e6);
  EXPECT_EQ(expected("bytes_per_segment", "1448"), 1448);
  EXPECT_EQ(expected("receive_buffer", "2304"), 2304);
  EXPECT_EQ(expected("window_initial", "\"64KiB\""), 65536);
  EXPECT_EQ(expected("window_peak", "\"64KiB\""), 65536);
}

TEST(ClaimTest, AValueMayHaveToHoldInEveryCellByItself) {
  EXPECT_TRUE(OnlyClaim("a = {}\nvalue = 1\nevery = true").every);
  EXPECT_FALSE(OnlyClaim("a = {}\nvalue = 1\nevery = false").every);
  EXPECT_FALSE(OnlyClaim("a = {}\nvalue = 1").every);
}

TEST(ClaimTest, ALevelIsFollowedAlongAFactor) {
  const Claim claim = OnlyClaim(
      "kind = \"levels-off\"\na = {}\nacross = \"write\"\n"
      "value = \"11MB/s\"");
  EXPECT_EQ(claim.kind, ClaimKind::kLevelsOff);
  EXPECT_EQ(claim.across, "write");
  EXPECT_EQ(claim.expected, 11e6);
  EXPECT_EQ(claim.tolerance, 0.1);
}

TEST(ClaimTest, OneEffectIsHeldAgainstAnother) {
  const Claim claim = OnlyClaim(
      "kind = \"effect-larger\"\na = { rcvbuf = [2, \"unset\"] }\n"
      "across = \"write\"\nagainst = \"rcvbuf\"\nat_least = 1");
  EXPECT_EQ(claim.kind, ClaimKind::kEffectLarger);
  EXPECT_EQ(claim.across, "write");
  EXPECT_EQ(claim.against, "rcvbuf");
  EXPECT_EQ(claim.at_least, 1);
  EXPECT_EQ(claim.expected, std::nullopt);
}

TEST(ClaimTest, ASystemNeedsNotBeInTheMatrix) {
  EXPECT_EQ(ClaimComplaint("a = { sender.os = \"windows\", receiver.host = "
                           "\"anything\" }\nat_most = 5"),
            "");
}

TEST(ClaimTest, AClaimThatNamesNoCellIsRefused) {
  EXPECT_EQ(ClaimComplaint("a = { write = [1, 33] }\nvalue = 1"),
            "cases/x.toml:12: claim.1b.a: names no cell: no case has write = "
            "33; add it to [factors] or select what is there");
  EXPECT_THAT(ClaimComplaint("a = {}\nb = { gap = \"1ms\" }\nratio = 1"),
              HasSubstr("cases/x.toml:13: claim.1b.b: names no cell: no case "
                        "has gap = 1ms"));
}

// Each value has a case, no case has both.
TEST(ClaimTest, ASelectionThatNoCaseFulfilsIsRefused) {
  const std::string text =
      WithFactors(
          "pattern = [\"stream\", \"request-response\"]\n"
          "write = [1]\nrequest = [\"1\"]") +
      "[[claim]]\n" +
      Standard("a = { write = 1, request = \"1\" }\nvalue = 1\n");
  EXPECT_THAT(Complaint(text),
              HasSubstr("claim.1b.a: names no cell: no case has all of these "
                        "values"));
}

TEST(ClaimTest, AClaimHasToHaveExactlyOneKindOfCheck) {
  EXPECT_EQ(ClaimComplaint("a = {}"),
            "cases/x.toml:8: claim.1b.value: missing; add it or at_least or "
            "at_most as the check");
  EXPECT_EQ(ClaimComplaint("a = {}\nb = {}\nratio = 2\nat_least = 1"),
            "cases/x.toml:8: claim.1b.ratio: stands beside bounds; keep one or "
            "the other");
  EXPECT_THAT(ClaimComplaint("a = {}\nat_least = 2\nat_most = 1"),
              HasSubstr("cases/x.toml:13: claim.1b.at_least: is over at_most"));
}

struct WrongClaim {
  std::string rest;
  std::string message;
};

TEST(ClaimTest, WhatIsWrongIsNamedWithLineKeyAndRemedy) {
  const std::vector<WrongClaim> wrongs{
      {"value = 1",
       "8: claim.1b.a: must be a selection of cells; add a = { "
       "write = 32, \"sender.os\" = \"linux\" }"},
      {"a = 3\nvalue = 1",
       "12: claim.1b.a: must be a selection of cells; add "
       "a = { write = 32, \"sender.os\" = \"linux\" }"},
      {"a = { wirte = 1 }\nvalue = 1",
       "12: claim.1b.a.wirte: unknown; did you mean \"write\"?"},
      {"a = { write = [] }\nvalue = 1",
       "12: claim.1b.a.write: selects nothing; name a value or leave the key "
       "out"},
      {"a = { write = 0 }\nvalue = 1",
       "12: claim.1b.a.write: 0 is too small; from 1 byte to 16 MiB"},
      {"a = { write = true }\nvalue = 1",
       "12: claim.1b.a.write: a boolean is no value of it"},
      {"a = { sender.os = \"window\" }\nvalue = 1",
       "12: claim.1b.a.sender.os: 'window' is no system; did you mean "
       "\"windows\"?"},
      {"a = { sender.host = 1 }\nvalue = 1",
       "12: claim.1b.a.sender.host: an integer is no value of it"},
      {"a = {}\nvaule = 1",
       "13: claim.1b.vaule: unknown key; did you mean \"value\"?"},
      {"a = {}\nvalue = -1",
       "13: claim.1b.value: must be bytes/s, such as 11e6 or \"11MB/s\""},
      {"a = {}\nvalue = nan",
       "13: claim.1b.value: must be bytes/s, such as 11e6 or \"11MB/s\""},
      {"a = {}\nvalue = \"fast\"",
       "13: claim.1b.value: must be bytes/s, such as 11e6 or \"11MB/s\""},
      {"a = {}\nb = {}\nratio = \"5\"",
       "14: claim.1b.ratio: must be a number from 0 up"},
      {"a = {}\nvalue = 1\ntolerance = 2",
       "14: claim.1b.tolerance: must be a share from \"0%\" to \"100%\""},
      {"a = {}\nvalue = 1\nevery = \"yes\"",
       "14: claim.1b.every: a text; write true or false, without quotes"},
      {"a = {}\nb = {}\nratio = 1\nevery = true",
       "15: claim.1b.every: unknown key; known: id, text, kind, metric, a, "
       "tolerance, at_least, at_most, b, ratio"},
      {"kind = \"level\"\na = {}\nvalue = 1",
       "12: claim.1b.kind: unknown; known: value, ratio, levels-off, "
       "knee, effect-larger"},
      {"a = { link.rate = \"fast\" }\nvalue = 1",
       "12: claim.1b.a.link.rate: 'fast' is no rate; write such as "
       "\"100mbit\""},
      {"a = { link.delay = \"soon\" }\nvalue = 1",
       "12: claim.1b.a.link.delay: 'soon' is none of its values; known: none, "
       "some, or a time each way such as \"5ms\""},
      {"a = { link.mtu = \"large\" }\nvalue = 1",
       "12: claim.1b.a.link.mtu: 'large' is no MTU; write such as 1500"},
      {"a = { link.loss = \"1%\" }\nvalue = 1",
       "12: claim.1b.a.link.loss: '1%' is none of its values; known: none, "
       "some"},
      {"kind = \"knee\"\na = {}\nacross = \"write\"\nvalue = 1",
       "14: claim.1b.across: 'write' takes 3 values in a; name a factor of 4 "
       "or more"},
      {"kind = \"levels-off\"\na = {}\nacross = \"rcvbuf\"\nvalue = 1",
       "14: claim.1b.across: 'rcvbuf' takes 1 values in a; name a factor of 3 "
       "or more"},
      {"kind = \"levels-off\"\na = { write = 1 }\nacross = \"write\"\n"
       "value = 1",
       "14: claim.1b.across: 'write' takes 1 values in a; name a factor of 3 "
       "or more"},
      {"kind = \"effect-larger\"\na = {}\nacross = \"write\"\n"
       "against = \"speed\"\nratio = 1",
       "15: claim.1b.against: 'speed' takes 0 values in a; name a factor of 2 "
       "or more"}};
  for (const WrongClaim& wrong : wrongs) {
    EXPECT_EQ(ClaimComplaint(wrong.rest), "cases/x.toml:" + wrong.message)
        << wrong.rest;
  }
}

TEST(ClaimTest, AnUnknownMetricIsRefusedWithTheNearestOne) {
  EXPECT_EQ(Complaint(WithClaim("id = \"1\"\ntext = \"T\"\n"
                                "metric = \"thruput\"\na = {}\nvalue = 1")),
            "cases/x.toml:11: claim.1.metric: unknown metric; did you mean "
            "\"throughput\"?");
}

TEST(ClaimTest, IdTextAndMetricHaveToBeThere) {
  EXPECT_EQ(Complaint(WithClaim("text = \"T\"")),
            "cases/x.toml:8: claim.id: missing; add id = \"...\"");
  EXPECT_EQ(Complaint(WithClaim("id = \"1\"")),
            "cases/x.toml:8: claim.1.text: missing; add text = \"...\"");
  EXPECT_EQ(Complaint(WithClaim("id = \"1\"\ntext = \"T\"")),
            "cases/x.toml:8: claim.1.metric: missing; add metric = \"...\"");
}

TEST(ClaimTest, TwoClaimsWithOneIdAreRefused) {
  const std::string claim = Standard("a = {}\nvalue = 1\n");
  EXPECT_EQ(Complaint(WithClaim(claim + "[[claim]]\n" + claim)),
            "cases/x.toml:14: claim.1b: two claims have this id; give each its "
            "own");
}

}  // namespace
}  // namespace wiretoll

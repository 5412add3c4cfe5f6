#include "reports/contrast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/contrast_words.h"
#include "reports/sentences.h"
#include "tests/analysis/synthetic_pair.h"
#include "tests/reports/fixture.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

SyntheticPair SlowReceiver() {
  SyntheticPair pair;
  pair.slowness = [](bool, bool other_receives, const Sample&) {
    return other_receives ? 2.0 : 1.0;
  };
  return pair;
}

// Writes run and report under `folder`.
Analysis Reported(const SyntheticPair& pair, const fs::path& folder) {
  Analysis analysis = AnalysisOf(folder, SyntheticPairRun(pair));
  ReportOf(analysis, folder);
  return analysis;
}

std::string SentenceOf(const SyntheticPair& pair) {
  const TemporaryFolder folder;
  const Analysis analysis = AnalysisOf(folder.path(), SyntheticPairRun(pair));
  return EndSentence(analysis.contrasts.at(0));
}

// --- Words ------------------------------------------------------------------

TEST(ContrastWordsTest, TheSentenceNamesTheEndAndEachTestOfIt) {
  const std::string text = SentenceOf(SlowReceiver());
  EXPECT_THAT(text, StartsWith("The receiver makes the difference, not the "
                               "sender. Throughput with Windows in place of "
                               "Linux as the receiver: 0."));
  EXPECT_THAT(text, HasSubstr(") with Linux sending, 0."));
  EXPECT_THAT(text, HasSubstr(") with Windows sending; as the sender: no "
                              "difference that can be told with Linux "
                              "receiving, "));
  EXPECT_THAT(text, Not(HasSubstr("Missing")));
}

TEST(ContrastWordsTest, TheLargerOfTwoIsNamedWhereTheirIntervalsAreApart) {
  SyntheticPair pair;
  pair.slowness = [](bool other_sends, bool other_receives, const Sample&) {
    return (other_sends ? 1.2 : 1.0) * (other_receives ? 3.0 : 1.0);
  };
  EXPECT_THAT(SentenceOf(pair), StartsWith("Both ends make a difference, the "
                                           "receiver the larger. "));
  pair.slowness = [](bool other_sends, bool other_receives, const Sample&) {
    return (other_sends ? 2.0 : 1.0) * (other_receives ? 2.0 : 1.0);
  };
  EXPECT_THAT(SentenceOf(pair), StartsWith("Both ends make a difference; which "
                                           "makes more cannot be told"));
}

// A half is a half, whether or not two blocks can tell it from 1.
TEST(ContrastWordsTest, TooFewBlocksAreNotCalledNoDifference) {
  for (const int hosts : {1, 2}) {
    SyntheticPair pair = SlowReceiver();
    pair.blocks = 2;
    pair.linux_hosts = pair.other_hosts = hosts;
    const std::string text = SentenceOf(pair);
    EXPECT_THAT(text, HasSubstr("×")) << hosts;
    EXPECT_THAT(text, HasSubstr("too few blocks to tell it from 1"));
    EXPECT_THAT(text, Not(HasSubstr("no difference"))) << hosts;
  }
}

TEST(ContrastWordsTest, EqualSystemsAreNotDistinguishable) {
  SyntheticPair pair;
  pair.noise = 0;
  EXPECT_THAT(SentenceOf(pair), StartsWith("Not distinguishable: neither end"));
}

TEST(ContrastWordsTest, WithAHostEachItSaysWhichDirectionsAreMissing) {
  SyntheticPair pair = SlowReceiver();
  pair.linux_hosts = pair.other_hosts = 1;
  const std::string text = SentenceOf(pair);
  EXPECT_THAT(text, StartsWith("Which end makes the difference was not tested. "
                               "Windows to Linux gives "));
  EXPECT_THAT(text, HasSubstr("against Linux to Windows."));
  EXPECT_THAT(text, HasSubstr("Missing: Linux to Linux, Windows to Windows. A "
                              "direction between two hosts of one system takes "
                              "a second such host."));
}

TEST(ContrastWordsTest, TheCardsLeadWithTheEndsOrWithTheDirection) {
  SyntheticPair pair = SlowReceiver();
  for (const int hosts : {2, 1}) {
    pair.linux_hosts = pair.other_hosts = hosts;
    const TemporaryFolder folder;
    const Analysis analysis = AnalysisOf(folder.path(), SyntheticPairRun(pair));
    std::vector<Card> cards;
    AddContrastCards(analysis, cards);
    ASSERT_EQ(cards.size(), hosts == 2 ? 2U : 1U);
    EXPECT_THAT(cards[0].text,
                StartsWith(hosts == 2 ? "the throughput with Windows in place "
                                        "of Linux as the receiver"
                                      : "the throughput from Windows to Linux "
                                        "against Linux to Windows"));
  }
}

TEST(ContrastWordsTest, AnEndThatCouldNotBeChangedIsSaidToBeUntested) {
  const TemporaryFolder folder;
  Analysis analysis =
      AnalysisOf(folder.path(), SyntheticPairRun(SlowReceiver()));
  Contrast& contrast = analysis.contrasts.at(0);
  for (EndSwitch& one : contrast.switches) {
    if (!one.receiver) one.ratio.reset();
  }
  EXPECT_THAT(EndSentence(contrast),
              StartsWith("The receiver makes a difference; whether the sender "
                         "does as well was not tested. Throughput with "));
}

TEST(ContrastWordsTest, WhoCountedIsSaidInWords) {
  Agreement agreement;
  agreement.observers = {{"receiver-counters", 3}, {"none", 1}};
  EXPECT_EQ(ObserverSentence(agreement),
            "Segments were counted by nobody in 1 trial, by the receiving "
            "end's kernel in 3 trials.");
  EXPECT_EQ(ObserverText("sender-counters"), "the sending end's kernel");
  EXPECT_EQ(ObserverText("capture"), "a capture on the link");
}

// --- The page ---------------------------------------------------------------

TEST(ContrastReportTest, OneSystemAloneHasNoSuchSection) {
  const TemporaryFolder folder;
  ReportOf(AnalysisOf(folder.path(), {}), folder.path());
  EXPECT_THAT(PageOf(folder.path()), Not(HasSubstr("side by side")));
  EXPECT_FALSE(fs::exists(folder.path() / "report" / "directions.csv"));
  const auto json =
      nlohmann::json::parse(ReadFile(folder.path() / "report/report.json"));
  EXPECT_FALSE(json.contains("contrasts"));
}

TEST(ContrastReportTest, TwoSystemsLeadTheReportInEveryFormat) {
  const TemporaryFolder folder;
  Reported(SlowReceiver(), folder.path());
  const std::string title =
      std::string(kLinuxName) + " and " + kWindowsName + ", side by side";
  const std::string page = PageOf(folder.path());
  const std::size_t section = page.find("<section class=\"contrast\">");
  ASSERT_NE(section, std::string::npos);
  EXPECT_LT(section, page.find("Throughput against the size of a write"));
  for (const char* file : {"report.html", "report.md"}) {
    const std::string text = ReadFile(folder.path() / "report" / file);
    EXPECT_THAT(text, HasSubstr("The receiver makes the difference")) << file;
    for (const char* row : {"throughput, MB/s", "segments a write", "ns a byte",
                            "rounds over 30 ms", "buffer, asked: read back"}) {
      EXPECT_THAT(text, HasSubstr(row)) << file;
    }
  }
  EXPECT_THAT(page, HasSubstr("<h2>" + title + "</h2>"));
  EXPECT_THAT(page, HasSubstr("directions.csv"));
}

// Two blocks give no interval: nothing was judged, and no count may say so.
TEST(ContrastReportTest, WithTooFewBlocksNoComparisonIsCounted) {
  const TemporaryFolder folder;
  SyntheticPair pair = SlowReceiver();
  pair.blocks = 2;
  Reported(pair, folder.path());
  const std::string text = ReadFile(folder.path() / "report" / "report.md");
  EXPECT_THAT(text, HasSubstr("has the three blocks that an interval takes"));
  for (const char* claim :
       {"can a direction be told", "a direction can be told",
        "between the pairs can be told",
        "can be told from "
        "the noise"}) {
    EXPECT_THAT(text, Not(HasSubstr(claim)));
  }
}

TEST(ContrastReportTest, SystemsGoByTheirHostsNamesInTablesAndLegends) {
  const TemporaryFolder folder;
  const Analysis analysis = Reported(SlowReceiver(), folder.path());
  const std::string page = PageOf(folder.path());
  const std::string arrow = std::string(kLinuxName) + " → " + kWindowsName;
  EXPECT_THAT(page, HasSubstr("<th scope=\"col\" class=\"w\">" + arrow));
  EXPECT_THAT(page, HasSubstr("</svg>" + std::string(kLinuxName) + " to " +
                              kWindowsName));
  EXPECT_THAT(page, HasSubstr("linux-1 [" + std::string(kLinuxName) +
                              "] → windows-1 [" + kWindowsName + "]"));
}

TEST(ContrastReportTest, WhoCountedForWhomIsSaidInWords) {
  const TemporaryFolder folder;
  Reported(SlowReceiver(), folder.path());
  const std::string text = ReadFile(folder.path() / "report/report.md");
  const std::string linux_name = kLinuxName;
  EXPECT_THAT(text,
              HasSubstr("the receiving end's kernel (" + linux_name + ")"));
  EXPECT_THAT(text, HasSubstr("the sending end's kernel (" + linux_name + ")"));
  EXPECT_THAT(text, HasSubstr("nobody"));
  EXPECT_THAT(text, HasSubstr("ESTATS needs an administrator"));
}

// Asked for 2 bytes, Linux gives 2304; the model's Windows gives 2.
TEST(ContrastReportTest, BuffersStandSideBySideAsReadBack) {
  const TemporaryFolder folder;
  SyntheticPair pair = SlowReceiver();
  pair.study_text = WideStudyText();
  pair.blocks = 3;
  Reported(pair, folder.path());
  const std::string text = ReadFile(folder.path() / "report/report.md");
  EXPECT_THAT(text, HasSubstr("2 B: 2304 B"));
  EXPECT_THAT(text, HasSubstr("2 B: 2 B"));
}

TEST(ContrastReportTest, DirectionsCsvHasARowForEachFigureOfCaseAndDirection) {
  const TemporaryFolder folder;
  Reported(SlowReceiver(), folder.path());
  const auto rows = ParseCsv(ReadFile(folder.path() / "report/directions.csv"));
  // Head; 4 directions and 5 figures, of all and of each of 6 cases.
  ASSERT_EQ(rows.size(), 1U + 4 * 5 * (1 + 6));
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(rows[0].back(), "data");
  EXPECT_EQ(rows[1].back(), "synthetic data: nothing here was measured");
}

TEST(ContrastReportTest, JsonTellsTheEndAndGivesReasonsForNulls) {
  const TemporaryFolder folder;
  SyntheticPair pair = SlowReceiver();
  pair.other_hosts = 1;
  Reported(pair, folder.path());
  const auto json =
      nlohmann::json::parse(ReadFile(folder.path() / "report/report.json"));
  const auto& contrast = json["contrasts"][0];
  EXPECT_EQ(contrast["which_end"], "receiver");
  EXPECT_EQ(contrast["systems"][1]["name"], kWindowsName);
  ASSERT_EQ(contrast["directions"].size(), 4U);
  EXPECT_FALSE(contrast["directions"][3]["ran"].get<bool>());
  for (const auto& direction : contrast["directions"]) {
    for (const auto& [name, figure] : direction["figures"].items()) {
      if (!figure.is_null()) continue;
      EXPECT_NE(direction["why_null"].value(name, ""), "") << name;
    }
  }
  EXPECT_NEAR(contrast["switches"][0]["ratio"]["median"].get<double>(), 0.5,
              0.02);
  EXPECT_TRUE(contrast["switches"][1]["ratio"].is_null());
  EXPECT_NE(contrast["switches"][1]["why_null"], "");
}

// --- Made-up data -----------------------------------------------------------

TEST(ContrastReportTest, ASyntheticRunIsMarkedInItsFolderAndInEveryReport) {
  const TemporaryFolder folder;
  Reported({}, folder.path());
  EXPECT_THAT(ReadFile(folder.path() / "run/run.json"),
              HasSubstr("\"synthetic\""));
  const std::string words = "ynthetic data: nothing here was measured";
  EXPECT_THAT(PageOf(folder.path()),
              HasSubstr("<p class=\"banner\" role=\"note\">S" + words));
  EXPECT_THAT(PageOf(folder.path()), HasSubstr("<title>s" + words));
  EXPECT_THAT(ReadFile(folder.path() / "report/report.md"),
              HasSubstr("> **s" + words));
  const auto json =
      nlohmann::json::parse(ReadFile(folder.path() / "report/report.json"));
  EXPECT_EQ(json["banner"], "s" + words);
  EXPECT_NE(json["runs"][0]["synthetic"], "");
}

TEST(ContrastReportTest, AMeasuredRunHasNoBanner) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.synthetic.clear();
  ReportOf(AnalysisOf(folder.path(), run), folder.path());
  for (const char* file : {"report.html", "report.md", "report.json"}) {
    const std::string text = ReadFile(folder.path() / "report" / file);
    EXPECT_THAT(text, Not(HasSubstr("nothing here was measured"))) << file;
    EXPECT_THAT(text, Not(HasSubstr("\"banner\""))) << file;
  }
}

TEST(ContrastReportTest, LoopbackIsNamedWhereSystemsAre) {
  const TemporaryFolder folder;
  Analysis analysis =
      AnalysisOf(folder.path(), SyntheticPairRun(SlowReceiver()));
  analysis.runs[0].link.kind = "loopback";
  const StudyView view = ViewStudy(analysis, 0);
  for (const std::string& name : view.pool_names) {
    EXPECT_THAT(name, HasSubstr(" over loopback"));
  }
}

TEST(ContrastReportTest, HostileNamesAreShownAsText) {
  const TemporaryFolder folder;
  SyntheticPair pair = SlowReceiver();
  pair.other_stack = "Windows <script>alert(1)</script> `id` $(id) \"x\"";
  Reported(pair, folder.path());
  EXPECT_THAT(PageOf(folder.path()), Not(HasSubstr("<script>alert")));
  const auto rows = ParseCsv(ReadFile(folder.path() / "report/directions.csv"));
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
}

}  // namespace
}  // namespace wiretoll

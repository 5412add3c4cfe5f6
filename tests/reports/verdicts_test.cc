// Predictions with their verdicts, captures against counters, and which rule of
// sending was followed, as the report shows them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/json.h"
#include "reports/predictions.h"
#include "reports/selection.h"
#include "reports/tables.h"
#include "tests/reports/fixture.h"

namespace wiretoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class VerdictsTest : public testing::Test {
 protected:
  void SetUp() override {
    SyntheticRun run;
    run.pairs = {{"linux-1", "linux-2"}};
    analysis_ = AnalysisOf(folder_.path(), run);
    for (Cell& cell : analysis_.cells) {
      cell.theory.emplace();
      cell.verdicts.clear();
    }
  }

  // Predicts half of the throughput that each cell measured.
  void Predict(std::size_t cell, Explanation explanation,
               const std::string& words) {
    Cell& target = analysis_.cells.at(cell);
    const double measured = target.figure(Metric::kThroughput)->median;
    CaseTheory::Prediction prediction;
    prediction.rule = "half of it";
    prediction.metric = Metric::kThroughput;
    prediction.value = measured / 2;
    prediction.assumptions = "none";
    prediction.source = "RFC 0, 1.2";
    prediction.limits = "everywhere";
    target.verdicts.push_back(
        {target.theory->predictions.size(), measured, explanation, words});
    target.theory->predictions.push_back(prediction);
  }

  [[nodiscard]] Table Predictions() const {
    return PredictionsTable(ViewStudy(analysis_, 0));
  }

  TemporaryFolder folder_;
  Analysis analysis_;
};

TEST_F(VerdictsTest, UnexplainedComesFirstIsMarkedAndCountedByCell) {
  Predict(0, Explanation::kAsPredicted, "within 2 % of it");
  Predict(1, Explanation::kUnexplained, "unexplained: twice as fast");
  Predict(1, Explanation::kUnexplained, "unexplained as well");
  Predict(2, Explanation::kExplained, "explained by the delayed ACK");
  Predict(2, Explanation::kNotMeasured, "not measured");
  const Table table = Predictions();
  ASSERT_EQ(table.rows.size(), 5U);
  EXPECT_EQ(table.rows[0][6], "unexplained: twice as fast");
  EXPECT_EQ(table.rows[1][6], "unexplained as well");
  EXPECT_EQ(table.rows[2][6], "explained by the delayed ACK");
  EXPECT_EQ(table.rows[3][6], "within 2 % of it");
  EXPECT_EQ(table.rows[4][6], "not measured");
  EXPECT_THAT(table.marked, ElementsAre(true, true, false, false, false));
  EXPECT_EQ(table.sentence,
            "1 of 3 cells is unexplained. Of 5 predictions 1 came out as "
            "predicted, 1 beside it for a reason that was observed, 2 beside "
            "it for none that was, 1 of a figure that was not observed.");
  // Twice what was predicted.
  EXPECT_EQ(table.rows[0][5], "+100 %");
}

TEST_F(VerdictsTest, WhatWasNotJudgedIsNotCalledExplained) {
  Predict(0, Explanation::kAsPredicted, "");
  analysis_.cells[0].verdicts.clear();
  const Table table = Predictions();
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0][6], "not judged");
  EXPECT_EQ(table.sentence,
            "None of 1 prediction was held against its "
            "tolerance.");
}

TEST_F(VerdictsTest, WithoutPredictionsThereIsASentence) {
  const Table table = Predictions();
  EXPECT_TRUE(table.rows.empty());
  EXPECT_EQ(table.empty, "No rule predicts a figure of these cases.");
  EXPECT_FALSE(HasPredictions(analysis_));
}

TEST_F(VerdictsTest, RulesAreToldOnceWithSourceAndLimits) {
  Predict(0, Explanation::kAsPredicted, "a");
  Predict(1, Explanation::kAsPredicted, "b");
  const Table table = RulesTable(ViewStudy(analysis_, 0));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_THAT(table.rows[0],
              ElementsAre("half of it", "none", "everywhere", "RFC 0, 1.2"));
}

TEST_F(VerdictsTest, CsvHasEveryPredictionOfEveryCell) {
  Predict(0, Explanation::kUnexplained, "=cmd, nobody \"knows\"");
  Predict(3, Explanation::kAsPredicted, "within 2 % of it");
  std::ostringstream out;
  WritePredictionsCsv(analysis_, out);
  const auto rows = ParseCsv(out.str());
  ASSERT_EQ(rows.size(), 3U);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  const auto at = [&rows](const char* name) {
    return static_cast<std::size_t>(
        std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin());
  };
  EXPECT_EQ(rows[1][at("verdict")], "unexplained");
  // What a spreadsheet would take for a formula is made text.
  EXPECT_EQ(rows[1][at("why")], "'=cmd, nobody \"knows\"");
  EXPECT_EQ(rows[1][at("case")], analysis_.cells[0].case_id);
  EXPECT_EQ(rows[2][at("case")], analysis_.cells[3].case_id);
  EXPECT_DOUBLE_EQ(std::stod(rows[2][at("difference_share")]), 1);
  EXPECT_DOUBLE_EQ(2 * std::stod(rows[2][at("predicted")]),
                   std::stod(rows[2][at("measured")]));
  EXPECT_EQ(rows[1][at("unit")], MetricUnit(Metric::kThroughput));
}

TEST_F(VerdictsTest, JsonHasTheVerdictBesideThePrediction) {
  Predict(0, Explanation::kExplained, "explained by loss");
  std::ostringstream out;
  WriteReportJson(analysis_, out);
  const auto json = nlohmann::json::parse(out.str());
  const auto& prediction = json["cells"][0]["theory"]["predictions"][0];
  EXPECT_EQ(prediction["verdict"], "explained");
  EXPECT_EQ(prediction["why"], "explained by loss");
  EXPECT_DOUBLE_EQ(prediction["measured"].get<double>(),
                   2 * prediction["value"].get<double>());
}

TEST_F(VerdictsTest, TheReportWritesPredictionsCsvOnlyWhereThereAreAny) {
  const WrittenReport without = ReportOf(analysis_, folder_.path());
  EXPECT_FALSE(
      std::filesystem::exists(folder_.path() / "report" / "predictions.csv"));
  EXPECT_EQ(without.files.size(), 4U);
  Predict(0, Explanation::kUnexplained, "unexplained: why?");
  const WrittenReport with = ReportOf(analysis_, folder_.path());
  ASSERT_EQ(with.files.size(), 5U);
  EXPECT_EQ(with.files[4].filename(), "predictions.csv");
  EXPECT_THAT(PageOf(folder_.path()), HasSubstr("unexplained: why?"));
  EXPECT_THAT(ReadFile(folder_.path() / "report" / "report.md"),
              HasSubstr("1 of 1 cell is unexplained."));
}

// --- Captures
// -----------------------------------------------------------------

std::vector<std::string> RowsAsText(const Table& table) {
  std::vector<std::string> rows;
  for (const Row& row : table.rows) {
    std::string text;
    for (const std::string& field : row) text += field + "|";
    rows.push_back(text);
  }
  return rows;
}

TEST(AgreementTableTest, CapturesAreHeldAgainstTheKernels) {
  Analysis analysis;
  Agreement& seen = analysis.agreement;
  seen.observers = {{"capture", 9}, {"receiver-counters", 3}};
  seen.equal = 12;
  seen.captured = 12;
  seen.capture_equal = 8;
  seen.capture_different = 1;
  seen.capture_partial = 3;
  seen.capture_causes = {{"lost behind the capture", 1}};
  const Table table = AgreementTable(analysis);
  EXPECT_THAT(table.sentence,
              HasSubstr("12 trials were captured: in 8 of 9 the capture and "
                        "the kernels counted the same segments; 3 captures are "
                        "not whole."));
  const auto rows = RowsAsText(table);
  EXPECT_THAT(rows, testing::Contains("captured|12|"));
  EXPECT_THAT(rows, testing::Contains("the capture counts otherwise|1|"));
  EXPECT_THAT(rows, testing::Contains("· lost behind the capture|1|"));
}

TEST(AgreementTableTest, WithoutCapturesTheyAreNotSpokenOf) {
  Analysis analysis;
  analysis.agreement.observers = {{"receiver-counters", 3}};
  analysis.agreement.equal = 3;
  const Table table = AgreementTable(analysis);
  for (const std::string& row : RowsAsText(table)) {
    EXPECT_THAT(row, Not(HasSubstr("capture")));
  }
  EXPECT_THAT(table.sentence, Not(HasSubstr("captured")));
}

TEST(AgreementTableTest, ReasonsWithoutCaptureStandWithWhatFailed) {
  Analysis analysis;
  analysis.ok = 4;
  analysis.agreement.not_captured = {{"no permission: setcap ...", 4}};
  const Table table = ProblemsTable(analysis);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0][0], "not captured");
  EXPECT_EQ(table.rows[0][1], "4");
  EXPECT_EQ(table.rows[0][2], "no permission: setcap ...");
}

TEST(SendingRulesTableTest, EachSystemHasTheRulesItFollowed) {
  Analysis analysis;
  analysis.agreement.captured = 6;
  analysis.agreement.followed_rules = {
      {"Debian 12, Linux 6.18.44", {{"", 1}, {"Minshall", 3}}},
      {"Windows 11", {{"classic", 2}}}};
  EXPECT_THAT(RowsAsText(SendingRulesTable(analysis)),
              ElementsAre("Debian 12, Linux 6.18.44|not told apart|1|",
                          "Debian 12, Linux 6.18.44|Minshall|3|",
                          "Windows 11|classic|2|"));
}

TEST(SendingRulesTableTest, NothingKnownIsASentenceThatSaysWhy) {
  Analysis analysis;
  EXPECT_THAT(SendingRulesTable(analysis).empty,
              HasSubstr("no trial was captured"));
  analysis.agreement.captured = 2;
  EXPECT_THAT(SendingRulesTable(analysis).empty,
              HasSubstr("in no captured trial"));
}

}  // namespace
}  // namespace wiretoll

#include "reports/compare_report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "reports/text.h"
#include "tests/reports/fixture.h"

namespace wiretoll {
namespace {

// BASE as the model has it; NEW takes 1.5 times as long with writes of 32
// bytes, fails with writes of 1 byte without Nagle, and has another kernel.
class CompareReportTest : public testing::Test {
 protected:
  CompareReportTest() : comparison_(Make({}, Worse())) {}

  static SyntheticRun Worse() {
    SyntheticRun run;
    run.seed = 2;
    run.hosts = {{"linux-1", "linux", "Linux 6.19.0"}, {"linux-2"}};
    run.adjust = [](Sample& sample) {
      if (sample.case_id == "write-1-nagle-off") {
        sample.outcome = TrialOutcome::kFailed;
        sample.reason = "the peer reset the connection";
      }
      if (sample.case_id.starts_with("write-32-")) {
        sample.receiver->elapsed_ns = std::llround(
            static_cast<double>(*sample.receiver->elapsed_ns) * 1.5);
      }
    };
    return run;
  }

  Comparison Make(const SyntheticRun& base, const SyntheticRun& next) {
    const auto number = std::to_string(++runs_);
    WriteSyntheticRun(folder_.path() / ("base-" + number), base);
    WriteSyntheticRun(folder_.path() / ("new-" + number), next);
    auto made = CompareRuns(folder_.path() / ("base-" + number),
                            folder_.path() / ("new-" + number));
    if (!made.has_value()) {
      std::fprintf(stderr, "%s\n", made.error().message.c_str());
      std::abort();
    }
    return std::move(made).value();
  }

  WrittenReport Write() {
    auto written = WriteComparison(comparison_, folder_.path() / "out");
    if (!written.has_value()) std::abort();
    return std::move(written).value();
  }

  TemporaryFolder folder_;
  int runs_ = 0;
  Comparison comparison_;
};

std::string JsonOf(const Comparison& comparison) {
  std::ostringstream out;
  WriteComparisonJson(comparison, out);
  return out.str();
}

std::string LineWith(const std::string& text, const std::string& part) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(part) != std::string::npos) return line;
  }
  return {};
}

// Twelve cells: four slower, two missing, six alike or, by chance, not.
TEST_F(CompareReportTest, TextTellsVerdictsMissingCellsAndChangedFacts) {
  const std::string text = ComparisonText(comparison_);
  EXPECT_TRUE(LineWith(text, "write-32-nagle-on").starts_with("slower"))
      << text;
  EXPECT_NE(text.find("missing in NEW: every trial failed"), std::string::npos);
  EXPECT_NE(LineWith(text, "Linux 6.18.44").find("Linux 6.19.0"),
            std::string::npos);
  EXPECT_NE(text.find("Blocks are not paired across the runs"),
            std::string::npos);
  EXPECT_NE(text.find("emulated link"), std::string::npos);
}

// Numbers under each other: every row of the table ends at the same column.
TEST_F(CompareReportTest, FiguresStandUnderEachOther) {
  std::istringstream lines(ComparisonText(comparison_));
  std::size_t column = 0;
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t arrow = line.find("→");
    if (arrow == std::string::npos || line.starts_with(" ")) continue;
    if (line.find("missing in") != std::string::npos) continue;
    const std::size_t place = Length(line.substr(0, arrow));
    EXPECT_TRUE(column == 0 || column == place) << line;
    column = place;
    ++rows;
  }
  EXPECT_EQ(rows, 10);  // Twelve, less the two that are missing.
}

TEST_F(CompareReportTest, JsonHoldsEveryCellWithItsReasons) {
  const auto json = nlohmann::json::parse(JsonOf(comparison_));
  EXPECT_EQ(json["blocks_are_paired"], false);
  EXPECT_EQ(json["cells"].size(), 12U);
  EXPECT_EQ(json["cells_by_verdict"]["missing"], 2);
  const auto& first = json["cells"][0];
  EXPECT_EQ(first["verdict"], "slower");
  const auto& ratio = first["figures"]["throughput_bytes_per_s"]["ratio"];
  EXPECT_NEAR(ratio["median"].get<double>(), 1 / 1.5, 0.05);
  EXPECT_LT(ratio["high"].get<double>(), 1);
  EXPECT_EQ(ratio["base_blocks"], 5);
  const auto& last = json["cells"][11];
  EXPECT_EQ(last["missing_in"], "NEW");
  const auto& figure = last["figures"]["throughput_bytes_per_s"];
  EXPECT_TRUE(figure["new"].is_null());
  EXPECT_FALSE(figure["base"].is_null());
  EXPECT_TRUE(figure["ratio"].is_null());
  EXPECT_FALSE(figure["why_null"].get<std::string>().empty());
}

TEST_F(CompareReportTest, EveryNullInJsonHasAReasonBesideIt) {
  const auto json = nlohmann::json::parse(JsonOf(comparison_));
  for (const auto& cell : json["cells"]) {
    for (const auto& [name, figure] : cell["figures"].items()) {
      const bool null = figure["base"].is_null() || figure["new"].is_null() ||
                        figure["ratio"].is_null();
      EXPECT_EQ(null, figure.contains("why_null")) << name;
    }
  }
}

TEST_F(CompareReportTest, ThePageHasAPictureAndEveryCell) {
  const WrittenReport written = Write();
  ASSERT_EQ(written.files.size(), 3U);
  EXPECT_TRUE(written.warnings.empty());
  const std::string page = ReadFile(written.files[0]);
  EXPECT_EQ(CountOf(page, "<figure"), 1);
  EXPECT_EQ(CountOf(page, "<svg role=\"img\""), 1);
  EXPECT_NE(page.find("write-32-nagle-on, linux-1 → linux-2"),
            std::string::npos);
  EXPECT_NE(page.find("compare.json (all figures)"), std::string::npos);
  EXPECT_EQ(page.find("samples.csv"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("every trial failed: the peer reset"), std::string::npos);
}

// Bars along x: without them the picture would show intervals of rows.
TEST_F(CompareReportTest, ThePictureDrawsRatiosAgainstOne) {
  const Picture picture = ComparisonPicture(comparison_, Compared::kThroughput);
  ASSERT_EQ(picture.panels.size(), 1U);
  const Chart& chart = picture.panels[0].request.chart;
  ASSERT_EQ(chart.guides.size(), 1U);
  EXPECT_EQ(chart.guides[0].at, 1);
  EXPECT_EQ(chart.y.ticks.size(), 10U);
  std::size_t points = 0;
  for (const Curve& curve : chart.curves) {
    EXPECT_TRUE(curve.across);
    points += curve.points.size();
    for (const ChartPoint& point : curve.points) {
      ASSERT_TRUE(point.interval.has_value());
      EXPECT_LE(point.interval->low, point.x);
      EXPECT_GE(point.interval->high, point.x);
      EXPECT_GT(point.x, chart.x.low);
      EXPECT_LT(point.x, chart.x.high);
    }
  }
  EXPECT_EQ(points, 10U);
  EXPECT_NE(picture.sentence.find("slower in 4"), std::string::npos)
      << picture.sentence;
}

TEST_F(CompareReportTest, WithoutGnuplotThePageSaysSo) {
  const PathSetting nowhere("/nonexistent");
  const WrittenReport written = Write();
  ASSERT_EQ(written.warnings.size(), 1U);
  EXPECT_NE(ReadFile(written.files[0]).find("No picture:"), std::string::npos);
}

TEST_F(CompareReportTest, MarkdownIsTheSameWithoutThePicture) {
  const std::string text = ComparisonMarkdown(comparison_);
  EXPECT_TRUE(text.starts_with("# Synthetic: NEW against BASE"));
  EXPECT_NE(LineWith(text, "| slower |").find("write-32"), std::string::npos);
  EXPECT_EQ(text.find("samples.csv"), std::string::npos);
  EXPECT_EQ(text.find("report.html"), std::string::npos);
}

TEST_F(CompareReportTest, WineIsNamedInEveryFormat) {
  SyntheticRun wine = Worse();
  wine.hosts = {{"linux-1"}, {"linux-2", "wine", "Wine 8.0"}};
  comparison_ = Make(wine, wine);
  for (const std::string& text :
       {ComparisonText(comparison_), ComparisonMarkdown(comparison_),
        JsonOf(comparison_)}) {
    EXPECT_NE(text.find("Wine is not Windows"), std::string::npos);
  }
  EXPECT_NE(
      LineWith(ComparisonText(comparison_), "write-32-nagle-on").find("[Wine"),
      std::string::npos);
}

TEST_F(CompareReportTest, RunsThatNobodyMeasuredAreNamedInEveryFormat) {
  SyntheticRun measured;
  measured.synthetic.clear();
  for (const auto& [base, next, banner] :
       std::vector<std::tuple<SyntheticRun, SyntheticRun, std::string>>{
           {{}, {}, "synthetic data: nothing here was measured"},
           {{}, measured, "synthetic data in BASE"},
           {measured, {}, "synthetic data in NEW"},
           {measured, measured, ""}}) {
    const Comparison comparison = Make(base, next);
    const std::string text = ComparisonText(comparison);
    EXPECT_EQ(text.starts_with(Capital(banner)), true) << text.substr(0, 200);
    for (const std::string& format :
         {text, JsonOf(comparison), ComparisonMarkdown(comparison)}) {
      // Whatever the case of its first letter.
      const std::string said =
          banner.empty() ? "ynthetic data" : banner.substr(1);
      EXPECT_EQ(format.find(said) != std::string::npos, !banner.empty())
          << format.substr(0, 300);
    }
  }
}

TEST_F(CompareReportTest, WhatRunsSayCannotBreakThePage) {
  SyntheticRun hostile = Worse();
  hostile.hosts = {{"<b>a</b>"}, {"b|c"}};
  comparison_ = Make(hostile, hostile);
  Write();
  const std::string page = ReadFile(folder_.path() / "out" / "compare.html");
  EXPECT_EQ(page.find("<b>a</b>"), std::string::npos);
  EXPECT_NE(page.find("&lt;b&gt;a&lt;/b&gt;"), std::string::npos);
  EXPECT_NE(ComparisonMarkdown(comparison_).find("b\\|c"), std::string::npos);
}

TEST_F(CompareReportTest, AFolderThatCannotBeMadeIsNamed) {
  const auto in_the_way = folder_.path() / "base-1" / "run.json";
  const auto written = WriteComparison(comparison_, in_the_way / "out");
  ASSERT_FALSE(written.has_value());
  EXPECT_NE(written.error().message.find("run.json/out"), std::string::npos);
  EXPECT_EQ(written.error().code, ExitCode::kNothingRan);
}

// Every trial of NEW failed.
TEST_F(CompareReportTest, ComparisonsWithoutAnythingToCompareSaySo) {
  SyntheticRun failed;
  failed.adjust = [](Sample& sample) {
    sample.outcome = TrialOutcome::kFailed;
    sample.reason = "no route";
  };
  comparison_ = Make({}, failed);
  const std::string text = ComparisonText(comparison_);
  EXPECT_NE(text.find("No cell is in both runs"), std::string::npos) << text;
  Write();
  EXPECT_NE(ReadFile(folder_.path() / "out" / "compare.html")
                .find("No throughput was measured in both runs"),
            std::string::npos);
}

}  // namespace
}  // namespace wiretoll

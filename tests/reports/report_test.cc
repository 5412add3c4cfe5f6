#include "reports/report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/base/units.h"
#include "reports/json.h"
#include "tests/reports/fixture.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// What stands between `open` and `close`, each time.
std::vector<std::string> Between(const std::string& text,
                                 const std::string& open,
                                 const std::string& close) {
  std::vector<std::string> parts;
  std::size_t at = text.find(open);
  while (at != std::string::npos) {
    const std::size_t end = text.find(close, at);
    if (end == std::string::npos) break;
    parts.push_back(text.substr(at + open.size(), end - at - open.size()));
    at = text.find(open, end);
  }
  return parts;
}

std::vector<std::string> NamesIn(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

TEST(ReportTest, FiveFilesAreWrittenThePageFirst) {
  const TemporaryFolder folder;
  const Analysis analysis = AnalysisOf(folder.path(), {});
  const WrittenReport written = ReportOf(analysis, folder.path());
  ASSERT_EQ(written.files.size(), 5U);
  EXPECT_EQ(written.files[0].filename(), "report.html");
  for (const fs::path& file : written.files) {
    EXPECT_GT(fs::file_size(file), 0U) << file;
  }
  EXPECT_TRUE(written.warnings.empty()) << written.warnings[0];
}

TEST(ReportTest, AFullDiskIsSaidWithTheFileAndTheWayOn) {
  if (!fs::exists("/dev/full")) {
    GTEST_SKIP() << "no /dev/full: Linux has it; in a bare chroot mknod -m 666 "
                    "/dev/full c 1 7";
  }
  const TemporaryFolder folder;
  const Analysis analysis = AnalysisOf(folder.path(), {});
  ReportSpec spec;
  spec.out = folder.path() / "report";
  spec.runs = {folder.path() / "a run"};
  spec.formats = {ReportFormat::kMarkdown};
  fs::create_directories(spec.out);
  fs::create_symlink("/dev/full", spec.out / "report.md");
  const auto written = WriteReport(analysis, spec);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ExitCode::kNothingRan);
  EXPECT_THAT(written.error().message,
              HasSubstr((spec.out / "report.md").string() +
                        " cannot be written: No space left on device\n"));
  EXPECT_THAT(written.error().message, HasSubstr("the samples are safe"));
  EXPECT_THAT(written.error().message,
              HasSubstr("wiretoll report '" + spec.runs[0].string() +
                        "' --out ELSEWHERE"));
}

TEST(ReportTest, OnlyTheFormatsAskedForAreWritten) {
  const TemporaryFolder folder;
  const Analysis analysis = AnalysisOf(folder.path(), {});
  ReportSpec spec;
  spec.out = folder.path() / "report";
  spec.formats = {ReportFormat::kJson};
  const auto written = WriteReport(analysis, spec);
  ASSERT_TRUE(written.has_value()) << written.error().message;
  ASSERT_EQ(written.value().files.size(), 1U);
  EXPECT_FALSE(fs::exists(spec.out / "report.html"));
}

TEST(ReportTest, ThePageRunsNothingAndNamesNoAddressOutside) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.study_text = WideStudyText();
  ReportOf(AnalysisOf(folder.path(), run), folder.path());
  const std::string page = PageOf(folder.path());
  EXPECT_THAT(page, HasSubstr("http-equiv=\"Content-Security-Policy\" "
                              "content=\"default-src 'none'; style-src "
                              "'unsafe-inline'; img-src data:\""));
  for (const char* part : {"<script", "://", "<link", "<img", "<iframe",
                           "src=", "@import", "url(", "onload", "onclick"}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
}

TEST(ReportTest, EveryPictureHasATitleASentenceAndWhatIsDrawn) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.study_text = WideStudyText();
  ReportOf(AnalysisOf(folder.path(), run), folder.path());
  const auto figures =
      Between(PageOf(folder.path()), "<figure class=\"picture\">", "</figure>");
  // Throughput, efficiency, segments, Nagle, receive buffer, capacity.
  ASSERT_EQ(figures.size(), 6U);
  for (const std::string& figure : figures) {
    const auto titles = Between(figure, "<h3>", "</h3>");
    const auto sentences = Between(figure, "<figcaption><b>", "</b>");
    const auto drawn =
        Between(figure, "<p class=\"drawn\"><small>", "</small>");
    ASSERT_EQ(titles.size(), 1U);
    EXPECT_FALSE(titles[0].empty());
    ASSERT_EQ(sentences.size(), 1U);
    EXPECT_TRUE(sentences[0].ends_with(".")) << sentences[0];
    ASSERT_EQ(drawn.size(), 1U);
    EXPECT_GE(CountOf(figure, "<svg role=\"img\""), 1) << titles[0];
    EXPECT_EQ(CountOf(figure, "<svg role=\"img\""), CountOf(figure, "<title"));
    EXPECT_EQ(CountOf(figure, "<svg role=\"img\""), CountOf(figure, "<desc"));
  }
}

TEST(ReportTest, IdsAreUniqueInThePage) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.study_text = WideStudyText();
  ReportOf(AnalysisOf(folder.path(), run), folder.path());
  const std::string page = PageOf(folder.path());
  std::vector<std::string> ids = Between(page, " id=\"", "\"");
  for (const std::string& id : Between(page, " id='", "'")) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  EXPECT_GT(ids.size(), 20U);
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

TEST(ReportTest, PageMarkdownCsvAndJsonAgreeInAFigure) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.pairs = {{"linux-1", "linux-2"}};
  const Analysis analysis = AnalysisOf(folder.path(), run);
  ReportOf(analysis, folder.path());
  const fs::path out = folder.path() / "report";
  const auto json = nlohmann::json::parse(ReadFile(out / "report.json"));
  const auto rows = ParseCsv(ReadFile(out / "samples.csv"));
  const auto column = [&rows](const std::string& name) {
    return static_cast<std::size_t>(
        std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin());
  };
  ASSERT_EQ(json["cells"].size(), 6U);
  for (const auto& cell : json["cells"]) {
    // Throughput: what came after the first read, by the receiver's clock.
    std::vector<double> rates;
    for (const auto& row : rows) {
      if (row[column("case")] != cell["case"]) continue;
      rates.push_back((std::stod(row[column("receiver_bytes")]) -
                       std::stod(row[column("receiver_first_read_bytes")])) /
                      std::stod(row[column("receiver_elapsed_ns")]) * 1e9);
    }
    ASSERT_EQ(rates.size(), 5U);
    std::sort(rates.begin(), rates.end());
    const double median =
        cell["figures"]["throughput_bytes_per_s"]["median"].get<double>();
    EXPECT_NEAR(median, rates[2], 1e-6 * rates[2]);
    const std::string shown = FormatNumber(median * 1e-6);
    EXPECT_THAT(PageOf(folder.path()),
                HasSubstr(fmt::format("<td>{}</td>", shown)));
    EXPECT_THAT(ReadFile(out / "report.md"),
                HasSubstr(fmt::format("| {} |", shown)));
  }
}

TEST(ReportTest, JsonHoldsAReasonBesideEveryNull) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.rate_bits_per_second.reset();
  run.blocks = 2;
  const Analysis analysis = AnalysisOf(folder.path(), run);
  ReportOf(analysis, folder.path());
  const auto json =
      nlohmann::json::parse(ReadFile(folder.path() / "report" / "report.json"));
  int nulls = 0;
  for (const auto& cell : json["cells"]) {
    for (const auto& [name, figure] : cell["figures"].items()) {
      if (!figure.is_null()) {
        // Two blocks give no interval.
        EXPECT_TRUE(figure["low"].is_null());
        EXPECT_TRUE(figure.contains("why_null"));
        continue;
      }
      ++nulls;
      ASSERT_TRUE(cell["why_null"].contains(name)) << name;
      EXPECT_NE(cell["why_null"][name], "");
    }
    EXPECT_TRUE(cell["capacity"].is_null());
    EXPECT_NE(cell["why_null"]["capacity"], "");
  }
  EXPECT_GT(nulls, 0);
}

TEST(ReportTest, MetricsInJsonEndInTheirUnit) {
  EXPECT_EQ(JsonMetricName(Metric::kThroughput), "throughput_bytes_per_s");
  EXPECT_EQ(JsonMetricName(Metric::kLatencyP99),
            MetricName(Metric::kLatencyP99) + "_ns");
  EXPECT_EQ(JsonMetricName(Metric::kBytesPerSegment), "bytes_per_segment");
}

TEST(ReportTest, FailedAndSkippedTrialsAreListedWithTheirReasons) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.adjust = [](Sample& sample) {
    if (sample.repeat == 0) {
      sample.outcome = TrialOutcome::kFailed;
      sample.reason = "linux-2: agent died (signal 9)";
    } else if (sample.repeat == 1) {
      sample.outcome = TrialOutcome::kSkipped;
      sample.reason = "linux-1: no congestion control of that name";
    }
  };
  ReportOf(AnalysisOf(folder.path(), run), folder.path());
  for (const char* file : {"report.html", "report.md"}) {
    const std::string text = ReadFile(folder.path() / "report" / file);
    EXPECT_THAT(text, HasSubstr("linux-2: agent died (signal 9)")) << file;
    EXPECT_THAT(text, HasSubstr("no congestion control of that name")) << file;
    // 6 cases x 2 pairs in each of the two blocks.
    EXPECT_THAT(text, HasSubstr("36 of 60")) << file;
    EXPECT_THAT(text, HasSubstr("12 failed, 12 skipped")) << file;
  }
}

TEST(ReportTest, ARunWithoutAnOkTrialGivesADeliberatePage) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.adjust = [](Sample& sample) {
    sample.outcome = TrialOutcome::kFailed;
    sample.reason = "connect 10.0.0.2:7001: refused";
    sample.sender.reset();
    sample.receiver.reset();
    sample.wire.reset();
  };
  const WrittenReport written =
      ReportOf(AnalysisOf(folder.path(), run), folder.path());
  EXPECT_EQ(written.files.size(), 4U);
  const std::string page = PageOf(folder.path());
  EXPECT_THAT(page, HasSubstr("0 of 60"));
  EXPECT_THAT(page, HasSubstr("connect 10.0.0.2:7001: refused"));
  EXPECT_THAT(page, HasSubstr("Not observed: "));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(ReportTest, AnEmptyAnalysisGivesAPageThatSaysSo) {
  const TemporaryFolder folder;
  ReportSpec spec;
  spec.out = folder.path();
  const auto written = WriteReport(Analysis{}, spec);
  ASSERT_TRUE(written.has_value()) << written.error().message;
  EXPECT_THAT(ReadFile(folder.path() / "report.html"),
              HasSubstr("Nothing was measured"));
}

TEST(ReportTest, WhatIsNoNetworkIsTagged) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.hosts = {{"linux-1"}, {"wine", "wine", "Wine 8.0"}};
  Analysis analysis = AnalysisOf(folder.path(), run);
  ReportOf(analysis, folder.path());
  EXPECT_THAT(PageOf(folder.path()),
              HasSubstr("<li>emulated link: lab, 100 Mbit/s Ethernet"));
  EXPECT_THAT(PageOf(folder.path()), HasSubstr("<li>Wine is not Windows"));
  analysis.runs[0].link.kind = "loopback";
  ReportOf(analysis, folder.path());
  EXPECT_THAT(PageOf(folder.path()),
              HasSubstr("<li>loopback is not a network</li>"));
  EXPECT_THAT(PageOf(folder.path()),
              HasSubstr("Measured over loopback, which is not a network."));
}

TEST(ReportTest, ManyCellsAreCutWithANoteWhereTheRestIs) {
  const TemporaryFolder folder;
  Analysis analysis = AnalysisOf(folder.path(), {});
  const std::vector<Cell> cells = analysis.cells;
  for (std::int64_t buffer = 1; buffer < 90; ++buffer) {
    for (Cell cell : cells) {
      SetFactor(cell.factors, "rcvbuf", buffer);
      analysis.cells.push_back(std::move(cell));
    }
  }
  ReportOf(analysis, folder.path());
  const std::string page = PageOf(folder.path());
  EXPECT_THAT(page, HasSubstr("200 of 1080 rows are shown"));
  EXPECT_THAT(page, HasSubstr("more such pictures are left out"));
  EXPECT_LT(page.size(), 3'000'000U);
}

TEST(ReportTest, WithoutGnuplotThePageStillStandsAndSaysWhy) {
  const TemporaryFolder folder;
  const TemporaryFolder empty;
  const Analysis analysis = AnalysisOf(folder.path(), {});
  const PathSetting path(empty.path().string());
  const WrittenReport written = ReportOf(analysis, folder.path());
  ASSERT_EQ(written.warnings.size(), 1U);
  EXPECT_THAT(written.warnings[0], HasSubstr("gnuplot was not found"));
  const std::string page = PageOf(folder.path());
  EXPECT_EQ(CountOf(page, "<svg role"), 0);
  // In the place of each picture.
  EXPECT_EQ(CountOf(page, "gnuplot was not found on PATH"),
            CountOf(page, "<figure class=\"picture\">"));
  EXPECT_THAT(page, HasSubstr("<td>11.8</td>"));
}

TEST(ReportTest, AFolderThatCannotBeMadeIsNamed) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "in the way";
  ReportSpec spec;
  spec.out = folder.path() / "file" / "report";
  const auto written = WriteReport(Analysis{}, spec);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ExitCode::kNothingRan);
  EXPECT_THAT(written.error().message, HasSubstr(spec.out.string()));
}

TEST(ReportTest, AFileThatCannotBeWrittenIsNamed) {
  const TemporaryFolder folder;
  // Root may write into any folder; over a folder nobody can write a file.
  fs::create_directory(folder.path() / "report.md");
  ReportSpec spec;
  spec.out = folder.path();
  spec.formats = {ReportFormat::kMarkdown};
  const auto written = WriteReport(Analysis{}, spec);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ExitCode::kNothingRan);
  EXPECT_THAT(written.error().message,
              HasSubstr((folder.path() / "report.md").string()));
}

TEST(ReportTest, OfRunsItIsTheOneOfTheirAnalysis) {
  const TemporaryFolder folder;
  const Analysis analysis = AnalysisOf(folder.path(), {});
  const WrittenReport apart = ReportOf(analysis, folder.path());
  ReportSpec spec;
  spec.runs = {folder.path() / "run"};
  spec.out = folder.path() / "again";
  const auto written = WriteReport(spec);
  ASSERT_TRUE(written.has_value()) << written.error().message;
  ASSERT_EQ(written.value().files.size(), apart.files.size());
  for (std::size_t i = 0; i < apart.files.size(); ++i) {
    const fs::path& file = written.value().files[i];
    EXPECT_EQ(file, spec.out / apart.files[i].filename());
    if (file.extension() == ".html") continue;  // Its time is in it.
    EXPECT_EQ(ReadFile(file), ReadFile(apart.files[i])) << file;
  }
}

TEST(ReportTest, OfRunsThatCannotBeReadNothingIsLeft) {
  const TemporaryFolder folder;
  WriteSyntheticRun(folder.path() / "run", {});
  std::ofstream(folder.path() / "run" / "samples.jsonl", std::ios::app)
      << "no sample\n";
  ReportSpec spec;
  spec.runs = {folder.path() / "run"};
  spec.out = folder.path() / "report";
  const auto written = WriteReport(spec);
  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().message, HasSubstr("samples.jsonl:"));
  EXPECT_FALSE(fs::exists(spec.out));
}

TEST(ReportTest, OfRunsThatCannotBeReadAnEarlierReportIsKept) {
  const TemporaryFolder folder;
  ReportOf(AnalysisOf(folder.path(), {}), folder.path());
  ReportSpec spec;
  spec.runs = {folder.path() / "run"};
  spec.out = folder.path() / "report";
  const std::string table = ReadFile(spec.out / "samples.csv");
  const std::size_t files = NamesIn(spec.out).size();
  std::ofstream(spec.runs[0] / "samples.jsonl", std::ios::app) << "no sample\n";
  ASSERT_FALSE(WriteReport(spec).has_value());
  EXPECT_EQ(ReadFile(spec.out / "samples.csv"), table);
  EXPECT_EQ(NamesIn(spec.out).size(), files);
}

TEST(ReportTest, ATableThatCannotTakeItsPlaceIsNamedAndLeavesNoPart) {
  const TemporaryFolder folder;
  WriteSyntheticRun(folder.path() / "run", {});
  ReportSpec spec;
  spec.runs = {folder.path() / "run"};
  spec.out = folder.path() / "report";
  spec.formats = {ReportFormat::kCsv};
  fs::create_directories(spec.out / "samples.csv" / "in the way");
  const auto written = WriteReport(spec);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ExitCode::kNothingRan);
  EXPECT_THAT(written.error().message,
              HasSubstr((spec.out / "samples.csv").string()));
  EXPECT_FALSE(fs::exists(spec.out / "samples.csv.part"));
}

// What the study's file says is seen before any sample, samples.csv is whole.
TEST(ReportTest, OfRunsOfNoStudyNothingIsLeft) {
  const TemporaryFolder folder;
  SyntheticRun run;
  WriteSyntheticRun(folder.path() / "run", run);
  const fs::path record = folder.path() / "run" / "run.json";
  nlohmann::json json = nlohmann::json::parse(ReadFile(record));
  json["studies"][0]["text"] = "no = study";
  std::ofstream(record) << json;
  ReportSpec spec;
  spec.runs = {folder.path() / "run"};
  spec.out = folder.path() / "report";
  ASSERT_FALSE(WriteReport(spec).has_value());
  EXPECT_FALSE(fs::exists(spec.out));
}

TEST(ReportTest, TheCommandToRepeatItIsThere) {
  const TemporaryFolder folder;
  Analysis analysis = AnalysisOf(folder.path(), {});
  analysis.runs[0].command = {"wiretoll", "run", "my study.toml", "--seed",
                              "42"};
  ReportOf(analysis, folder.path());
  EXPECT_THAT(
      PageOf(folder.path()),
      HasSubstr("<pre>wiretoll run &#39;my study.toml&#39; --seed 42</pre>"));
}

TEST(ReportTest, PicturesThatAStudyAsksForLead) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.study_text = SyntheticStudyText() +
                   "\n[[plot]]\nkind = \"capacity\"\n"
                   "title = \"Where it all went\"\n";
  ReportOf(AnalysisOf(folder.path(), run), folder.path());
  const auto figures =
      Between(PageOf(folder.path()), "<figure class=\"picture\">", "</figure>");
  ASSERT_FALSE(figures.empty());
  EXPECT_THAT(figures[0], HasSubstr("<h3>Where it all went</h3>"));
}

}  // namespace
}  // namespace wiretoll

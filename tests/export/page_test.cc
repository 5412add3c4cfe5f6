// What docs/export.md says holds: its queries run, its columns are all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "harness/analysis/analysis.h"
#include "harness/analysis/metrics.h"
#include "harness/export/schema.h"
#include "tests/analysis/synthetic_run.h"
#include "tests/export/tables.h"
#include "tests/samples/full_sample.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

std::string Page() { return ReadFile(EXPORT_PAGE); }

std::vector<std::string> QueriesOf(const std::string& page) {
  constexpr std::string_view kFence = "```sql\n";
  std::vector<std::string> queries;
  for (std::size_t at = page.find(kFence); at != std::string::npos;
       at = page.find(kFence, at)) {
    at += kFence.size();
    queries.push_back(page.substr(at, page.find("```", at) - at));
  }
  return queries;
}

// A study with what the queries ask for: write, nagle and receive buffers.
constexpr char kBuffersStudy[] = R"(
title = "Buffers"
question = "For the page"
[factors]
write = [1, 1448]
nagle = ["on", "off"]
rcvbuf = [2304, 65536]
[stop]
bytes = "64KiB"
)";

class PageTest : public ::testing::Test {
 protected:
  PageTest() {
    SyntheticRun run;
    run.study_text = kBuffersStudy;
    run.blocks = 4;  // Even: the median is between two.
    run.adjust = [](Sample& sample) {
      if (sample.repeat != 1 || sample.sender->host != "linux-1") return;
      sample.outcome = TrialOutcome::kFailed;
      sample.reason = "made to";
    };
    WriteSyntheticRun(run_, run);
    MustExport({run_}, file_);
  }
  [[nodiscard]] Analysis Analysed() const {
    auto analysed = Analyse({run_});
    EXPECT_TRUE(analysed.has_value()) << analysed.error().message;
    return std::move(analysed).value();
  }

  TemporaryFolder folder_;
  fs::path run_ = folder_.path() / "run";
  fs::path file_ = folder_.path() / "trials.db";
};

// By case, sender and receiver.
std::map<std::string, const Cell*> CellsOf(const Analysis& analysis) {
  std::map<std::string, const Cell*> cells;
  for (const Cell& cell : analysis.cells) {
    cells[cell.case_id + ' ' + cell.sender + ' ' + cell.receiver] = &cell;
  }
  return cells;
}

double Median(const Cell& cell, Metric metric) {
  const auto& figure = cell.figure(metric);
  return figure.has_value() ? figure->median : std::nan("");
}

void ExpectSame(double figure, double reported) {
  EXPECT_NEAR(figure, reported, 1e-6 * std::abs(reported));
}

TEST_F(PageTest, HasThreeQueries) { EXPECT_EQ(QueriesOf(Page()).size(), 3U); }

TEST_F(PageTest, SpeedsOfTheFirstQueryAreTheReports) {
  const Analysis analysis = Analysed();
  const auto cells = CellsOf(analysis);
  const QueryRows rows = Query(file_, QueriesOf(Page()).at(0));
  ASSERT_EQ(rows.size(), cells.size());
  for (const auto& row : rows) {
    const Cell& cell = *cells.at(row[1] + ' ' + row[4] + ' ' + row[5]);
    ExpectSame(std::stod(row[6]), 8 * Median(cell, Metric::kThroughput));
    EXPECT_EQ(row[7], std::to_string(cell.ok));
    EXPECT_EQ(row[2], SpellFactor(*FindFactor(cell.factors, "write")));
    EXPECT_EQ(row[3], SpellFactor(*FindFactor(cell.factors, "nagle")));
  }
}

TEST_F(PageTest, BuffersAndSegmentsOfTheSecondQueryAreTheReports) {
  const Analysis analysis = Analysed();
  const auto cells = CellsOf(analysis);
  const QueryRows rows = Query(file_, QueriesOf(Page()).at(1));
  ASSERT_EQ(rows.size(), cells.size());
  for (const auto& row : rows) {
    const Cell& cell = *cells.at(row[1] + ' ' + row[2] + ' ' + row[3]);
    EXPECT_EQ(row[4], SpellFactor(*FindFactor(cell.factors, "rcvbuf")));
    // The same in every block of a synthetic run, so that the median, the
    // largest and the mean are one.
    ExpectSame(std::stod(row[5]), Median(cell, Metric::kReceiveBuffer));
    ExpectSame(std::stod(row[6]), Median(cell, Metric::kWindowPeak));
    ExpectSame(std::stod(row[7]), Median(cell, Metric::kBytesPerSegment));
  }
}

TEST_F(PageTest, TheThirdQueryCountsEveryNullWithItsReason) {
  const QueryRows rows = Query(file_, QueriesOf(Page()).at(2));
  ASSERT_FALSE(rows.empty());
  bool found = false;
  for (const auto& row : rows) {
    EXPECT_NE(row[3], "NULL") << row[2];
    if (row[2] != "goodput_bits_per_s") continue;
    found = true;
    // 8 cases of the direction that fails, once in four blocks.
    EXPECT_EQ(row, (std::vector<std::string>{
                       "both", "trial", "goodput_bits_per_s", "made to", "8"}));
  }
  EXPECT_TRUE(found);
}

// Also where a stream came faster than the line, which tells no speed.
TEST_F(PageTest, GoodputIsTheReportsThroughputTrialByTrial) {
  SyntheticRun run;
  run.seed = 2;
  run.adjust = [](Sample& sample) {
    if (sample.repeat == 2) *sample.receiver->elapsed_ns /= 4;
    if (sample.repeat == 3) sample.receiver->elapsed_ns = 0;
  };
  const fs::path other = folder_.path() / "other";
  WriteSyntheticRun(other, run);
  const fs::path file = folder_.path() / "other.db";
  MustExport({other}, file);
  int none = 0;
  for (const Sample& sample : ReadAll(other).samples) {
    const auto expected =
        FiguresOf(sample, {100e6, false})[Index(Metric::kThroughput)];
    const std::string goodput =
        Value(file, "SELECT goodput_bits_per_s FROM trials WHERE number = " +
                        std::to_string(sample.order));
    if (!expected.has_value()) {
      ++none;
      EXPECT_EQ(goodput, "NULL") << sample.trial;
      continue;
    }
    ASSERT_NE(goodput, "NULL") << sample.trial;
    ExpectSame(std::stod(goodput), 8 * *expected);
  }
  // No time in one block: 12 cells. Four times the line's rate in another:
  // those of full segments, 4 in each direction.
  EXPECT_GE(none, 12 + 2 * 4);
}

TEST_F(PageTest, NamesEveryTableAndEveryColumn) {
  std::istringstream page(Page());
  std::map<std::string, std::string> lines;  // Of the list of tables.
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    lines[line.substr(3, line.find('`', 3) - 3)] = line;
  }
  EXPECT_EQ(lines.size(), ExportTables().size());
  for (const SqlTable& table : ExportTables()) {
    for (const SqlColumn& column : table.columns) {
      EXPECT_THAT(lines[table.name],
                  ::testing::HasSubstr('`' + column.name + '`'))
          << table.name;
    }
  }
}

}  // namespace
}  // namespace wiretoll

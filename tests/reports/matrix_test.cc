#include "reports/matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace wiretoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Cell CellOf(const std::string& sender, const std::string& receiver,
            const std::string& case_id, double throughput) {
  Cell cell;
  cell.case_id = case_id;
  cell.sender = cell.sender_system = cell.sender_stack = sender;
  cell.receiver = cell.receiver_system = cell.receiver_stack = receiver;
  cell.sender_os = cell.receiver_os = "linux";
  cell.ok = 5;
  // Cells of the same factors are one case.
  cell.factors = {{"congestion", FactorValue(case_id)}};
  const auto at = static_cast<std::size_t>(Metric::kThroughput);
  if (throughput > 0) cell.figures[at] = Estimate{throughput, {}, 5};
  for (int block = 0; block < 5 && throughput > 0; ++block)
    cell.by_block[at][block] = throughput;
  return cell;
}

Analysis Of(std::vector<Cell> cells) {
  Analysis analysis;
  analysis.runs.emplace_back();
  analysis.studies.emplace_back();
  analysis.cells = std::move(cells);
  return analysis;
}

// 4 and 9 MB/s in two cases: the geometric mean is 6.
TEST(MatrixTest, EachDirectionHasTheGeometricMeanOverTheCasesAllHave) {
  const Analysis analysis =
      Of({CellOf("A", "B", "one", 4e6), CellOf("A", "B", "two", 9e6),
          CellOf("B", "C", "one", 1e6), CellOf("B", "C", "two", 1e6),
          CellOf("C", "A", "one", 2e6), CellOf("C", "A", "two", 2e6),
          CellOf("C", "A", "only here", 7e6)});
  const auto section = MatrixSection(ViewStudy(analysis, 0));
  ASSERT_TRUE(section.has_value());
  EXPECT_EQ(section->title, "3 systems at once");
  const Table& table = section->tables.at(0);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_THAT(table.rows[0], ElementsAre("A", "–", "6.00 MB/s", "–"));
  EXPECT_THAT(table.rows[1], ElementsAre("B", "–", "–", "1.00 MB/s"));
  EXPECT_THAT(table.rows[2], ElementsAre("C", "2.00 MB/s", "–", "–"));
  EXPECT_THAT(table.note, HasSubstr("2 cases"));
  EXPECT_THAT(table.sentence, HasSubstr("Highest from A to B (6.00 MB/s)"));
  EXPECT_THAT(table.sentence, HasSubstr("lowest from B to C"));
}

TEST(MatrixTest, TwoSystemsAreLeftToWhatSetsThemSideBySide) {
  const Analysis analysis =
      Of({CellOf("A", "B", "one", 4e6), CellOf("B", "A", "one", 4e6)});
  EXPECT_FALSE(MatrixSection(ViewStudy(analysis, 0)).has_value());
}

// Of C to A everything failed: no case is common, and nothing is made up.
TEST(MatrixTest, WithoutACommonCaseItSaysSo) {
  const Analysis analysis =
      Of({CellOf("A", "B", "one", 4e6), CellOf("B", "C", "one", 4e6),
          CellOf("C", "A", "one", 0)});
  const auto section = MatrixSection(ViewStudy(analysis, 0));
  ASSERT_TRUE(section.has_value());
  EXPECT_TRUE(section->tables.at(0).rows.empty());
  EXPECT_THAT(section->tables.at(0).empty, HasSubstr("No case gave"));
}

}  // namespace
}  // namespace wiretoll

#include "reports/csv.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "tests/reports/fixture.h"

namespace wiretoll {
namespace {

std::size_t ColumnAt(const std::vector<std::string>& head,
                     const std::string& name) {
  const auto place = std::find(head.begin(), head.end(), name);
  EXPECT_NE(place, head.end()) << name;
  return static_cast<std::size_t>(place - head.begin());
}

std::vector<std::vector<std::string>> CsvOf(const TemporaryFolder& folder,
                                            const SyntheticRun& run) {
  WriteSyntheticRun(folder.path() / "run", run);
  std::ostringstream out;
  const auto written = WriteSamplesCsv({folder.path() / "run"}, out);
  EXPECT_TRUE(written.has_value()) << written.error().message;
  return ParseCsv(out.str());
}

TEST(CsvTest, OneRowATrialAndEveryRowAsWideAsTheHead) {
  const TemporaryFolder folder;
  const auto rows = CsvOf(folder, {});
  // 3 writes x 2 of Nagle x 2 pairs x 5 blocks, and the head.
  ASSERT_EQ(rows.size(), 1U + 3 * 2 * 2 * 5);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(rows[0].size(), CsvColumns().size());
}

TEST(CsvTest, ColumnsAreNamedOnceAndExplained) {
  std::set<std::string> names;
  for (const CsvColumn& column : CsvColumns()) {
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
    EXPECT_FALSE(column.meaning.empty()) << column.name;
  }
}

TEST(CsvTest, WhatWasNotObservedIsEmptyWithItsReason) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.adjust = [](Sample& sample) {
    sample.receiver->cpu_ns.reset();
    sample.receiver->why_null["cpu_ns"] = "no such clock, here";
  };
  const auto rows = CsvOf(folder, run);
  const std::size_t cpu = ColumnAt(rows[0], "receiver_cpu_ns");
  const std::size_t why = ColumnAt(rows[0], "why_null");
  EXPECT_EQ(rows[1][cpu], "");
  EXPECT_NE(rows[1][why].find("receiver_cpu_ns: no such clock, here"),
            std::string::npos);
}

TEST(CsvTest, RoundTripsOfTheSenderHaveColumns) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.adjust = [](Sample& sample) {
    EndReport& sender = *sample.sender;
    sender.rtt_handshake_ns = 10'500'000;
    sender.rtt_min_ns = 10'000'000;
    sender.rtt_median_ns = 17'000'000;
    sender.rtt_p99_ns = 20'000'000;
  };
  const auto rows = CsvOf(folder, run);
  EXPECT_EQ(rows[1][ColumnAt(rows[0], "sender_rtt_handshake_ns")], "10500000");
  EXPECT_EQ(rows[1][ColumnAt(rows[0], "sender_rtt_min_ns")], "10000000");
  EXPECT_EQ(rows[1][ColumnAt(rows[0], "sender_rtt_median_ns")], "17000000");
  EXPECT_EQ(rows[1][ColumnAt(rows[0], "sender_rtt_p99_ns")], "20000000");
}

TEST(CsvTest, FailedTrialsHaveARowWithTheReason) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.adjust = [](Sample& sample) {
    if (sample.repeat != 1) return;
    sample.outcome = TrialOutcome::kFailed;
    sample.reason = "=HYPERLINK(\"x\"), refused";
    sample.sender.reset();
    sample.receiver.reset();
    sample.wire.reset();
  };
  const auto rows = CsvOf(folder, run);
  const std::size_t outcome = ColumnAt(rows[0], "outcome");
  const std::size_t reason = ColumnAt(rows[0], "reason");
  int failed = 0;
  for (const auto& row : rows) {
    if (row[outcome] != "failed") continue;
    ++failed;
    EXPECT_EQ(row[reason], "'=HYPERLINK(\"x\"), refused");
  }
  EXPECT_EQ(failed, 3 * 2 * 2);
}

TEST(CsvTest, AFolderThatIsNoRunIsNamed) {
  const TemporaryFolder folder;
  std::ostringstream out;
  const auto written = WriteSamplesCsv({folder.path() / "nothing"}, out);
  ASSERT_FALSE(written.has_value());
  EXPECT_NE(written.error().message.find("nothing"), std::string::npos);
}

}  // namespace
}  // namespace wiretoll

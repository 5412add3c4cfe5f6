#include "reports/flow_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/reports/fixture.h"

namespace wiretoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr char kRingStudy[] = R"(title = "Ring"
question = "How do they share?"
[factors]
topology = ["ring"]
[stop]
bytes = "1MB"
)";

// Three hosts in a ring: a gets 4 MB/s, the others 1 MB/s each, in every block.
class FlowsReportTest : public testing::Test {
 protected:
  FlowsReportTest() {
    run_.hosts = {{"a"}, {"b"}, {"c"}};
    run_.pairs = {{"a", "b"}, {"b", "c"}, {"c", "a"}};
    run_.study_name = "ring";
    run_.study_text = kRingStudy;
    run_.blocks = 3;
    run_.rate_bits_per_second.reset();
    run_.adjust = [this](Sample& sample) {
      sample.flow = TrialFlow{"ring/case/ring/" + std::to_string(sample.repeat),
                              "ring", 3, 0, overlap_};
      sample.receiver->bytes = 1'000'000;
      sample.receiver->first_read_bytes = 0;
      const bool fast = sample.sender->host == "a";
      sample.receiver->elapsed_ns = fast ? 250'000'000 : 1'000'000'000;
    };
  }

  SyntheticRun run_;
  TemporaryFolder folder_;
  double overlap_ = 0.95;
};

// 4 + 1 + 1 = 6 MB/s; 6^2 / (3 x (16 + 1 + 1)) = 36 / 54 = 0.667.
TEST_F(FlowsReportTest, TotalsStandBesideTheParts) {
  const Analysis analysis = AnalysisOf(folder_.path(), run_);
  const Table table = FlowsTable(ViewStudy(analysis, 0));
  ASSERT_THAT(table.rows, SizeIs(1));
  EXPECT_THAT(table.rows[0],
              ElementsAre("case", "ring", "3", "6.00", "6.00", "1.00", "4.00",
                          "0.667", "0.667", "95.0 %", "3/0"));
  EXPECT_EQ(
      table.sentence,
      "3 flows of ring carried 6.00 MB/s (6.00 MB/s) together, from 1.00 to "
      "4.00 MB/s each: Jain's index of fairness is 0.667 (0.667), where "
      "1 is equal shares and 0.333 is one flow alone.");
  EXPECT_THAT(table.note, Not(HasSubstr("different times")));
}

TEST_F(FlowsReportTest, FlowsThatWereHardlyTogetherAreSaidToBe) {
  overlap_ = 0.4;
  const Analysis analysis = AnalysisOf(folder_.path(), run_);
  EXPECT_THAT(FlowsTable(ViewStudy(analysis, 0)).note,
              HasSubstr("a total adds rates of different times"));
}

TEST_F(FlowsReportTest, TheCpuIsNamedWhereItIsTheLimit) {
  Analysis analysis = AnalysisOf(folder_.path(), run_);
  ASSERT_THAT(analysis.flow_sets, SizeIs(1));
  analysis.flow_sets[0].cpus = 4;
  analysis.flow_sets[0].cpus_used = 3.5;
  EXPECT_THAT(FlowsTable(ViewStudy(analysis, 0)).note,
              Not(HasSubstr("CPU is the limit")));
  analysis.flow_sets[0].cpus_used = 3.7;
  EXPECT_THAT(FlowsTable(ViewStudy(analysis, 0)).note,
              HasSubstr("the loops of 3 flows of ring kept 3.70 of its 4 CPUs "
                        "busy: there the CPU is the limit"));
}

TEST_F(FlowsReportTest, EveryFormatHasThem) {
  const Analysis analysis = AnalysisOf(folder_.path(), run_);
  ReportOf(analysis, folder_.path());
  const auto report = folder_.path() / "report";
  EXPECT_THAT(PageOf(folder_.path()), HasSubstr("<h3>Flows at once</h3>"));
  EXPECT_THAT(ReadFile(report / "report.md"), HasSubstr("Flows at once"));
  const auto json = nlohmann::json::parse(ReadFile(report / "report.json"));
  const auto& set = json.at("flow_sets").at(0);
  EXPECT_NEAR(set.at("fairness_ratio").at("median").get<double>(), 2.0 / 3,
              1e-6);
  EXPECT_EQ(set.at("cells").size(), 3U);
  const auto rows = ParseCsv(ReadFile(report / "samples.csv"));
  const auto& heads = rows.at(0);
  const auto place = [&](const char* name) {
    return static_cast<std::size_t>(
        std::find(heads.begin(), heads.end(), name) - heads.begin());
  };
  EXPECT_EQ(rows.at(1).at(place("flow_topology")), "ring");
  EXPECT_EQ(rows.at(1).at(place("flow_flows")), "3");
  EXPECT_EQ(rows.at(1).at(place("flow_overlap_share")), "0.95");
}

TEST_F(FlowsReportTest, WithoutFlowsAtOnceThereIsNoTable) {
  run_.adjust = nullptr;
  const Analysis analysis = AnalysisOf(folder_.path(), run_);
  EXPECT_THAT(FlowsTable(ViewStudy(analysis, 0)).rows, SizeIs(0));
  ReportOf(analysis, folder_.path());
  EXPECT_THAT(PageOf(folder_.path()), Not(HasSubstr("Flows at once")));
}

}  // namespace
}  // namespace wiretoll

#include "harness/analysis/flow_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/analysis/synthetic_run.h"

namespace wiretoll {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(JainTest, EqualSharesAreFair) {
  // (1 + 1 + 1)^2 / (3 x 3) = 1.
  EXPECT_DOUBLE_EQ(*JainFairness({1, 1, 1}), 1);
  EXPECT_DOUBLE_EQ(*JainFairness({7e6}), 1);
}

TEST(JainTest, OneOfThreeAloneIsAThird) {
  // 1^2 / (3 x 1).
  EXPECT_DOUBLE_EQ(*JainFairness({1, 0, 0}), 1.0 / 3);
}

TEST(JainTest, UnequalSharesLieBetween) {
  // (1 + 3)^2 / (2 x (1 + 9)) = 16 / 20; and the unit does not matter.
  EXPECT_DOUBLE_EQ(*JainFairness({1, 3}), 0.8);
  EXPECT_DOUBLE_EQ(*JainFairness({1e9, 3e9}), 0.8);
}

TEST(JainTest, NothingIsNeitherFairNorUnfair) {
  EXPECT_EQ(JainFairness({}), std::nullopt);
  EXPECT_EQ(JainFairness({0, 0}), std::nullopt);
}

constexpr char kFlowStudy[] = R"(
title = "Flows"
question = "How do they share?"
[factors]
topology = ["TOPOLOGY"]
streams = [STREAMS]
[stop]
bytes = "1MB"
)";

std::string FlowStudy(const std::string& topology, int streams = 1) {
  std::string text = kFlowStudy;
  text.replace(text.find("TOPOLOGY"), 8, topology);
  text.replace(text.find("STREAMS"), 7, std::to_string(streams));
  return text;
}

class FlowSetTest : public testing::Test {
 protected:
  FlowSetTest() {
    run_.hosts = {{"a"}, {"b"}, {"c"}};
    run_.study_name = "flows";
    run_.blocks = 3;
    run_.rate_bits_per_second.reset();
  }

  // Bytes a second: a thousand bytes a millisecond are 1e6.
  static void SetRate(double rate, Sample& sample) {
    sample.receiver->bytes = 1'000'000;
    sample.receiver->first_read_bytes = 0;
    sample.receiver->elapsed_ns = static_cast<std::int64_t>(1e15 / rate);
  }

  // A flow of a group called `set`.
  static void InGroup(const std::string& set, int flows, int index,
                      Sample& sample) {
    sample.flow =
        TrialFlow{"flows/" + sample.case_id + "/" + set + "/" +
                      std::to_string(sample.repeat),
                  set == "all-to-all" ? set : "pair", flows, index, 0.9};
  }

  Analysis Analysed() {
    WriteSyntheticRun(folder_.path() / "run", run_);
    auto analysis = Analyse({folder_.path() / "run"});
    EXPECT_TRUE(analysis.has_value()) << analysis.error().message;
    return std::move(analysis).value();
  }

  // Six flows: what "a" sends gets 4 MB/s each, all others 1 MB/s each.
  void MakeAllToAll() {
    run_.study_text = FlowStudy("all-to-all");
    run_.adjust = [](Sample& sample) {
      InGroup("all-to-all", 6, 0, sample);
      SetRate(sample.sender->host == "a" ? 4e6 : 1e6, sample);
    };
  }

  SyntheticRun run_;
  TemporaryFolder folder_;
};

TEST_F(FlowSetTest, TotalsStandBesideTheParts) {
  MakeAllToAll();
  const Analysis analysis = Analysed();
  ASSERT_THAT(analysis.flow_sets, SizeIs(1));
  const FlowSet& set = analysis.flow_sets[0];
  EXPECT_EQ(set.topology, "all-to-all");
  EXPECT_EQ(set.flows, 6);
  EXPECT_EQ(set.whole, 3);
  EXPECT_EQ(set.broken, 0);
  EXPECT_THAT(set.cells, SizeIs(6));
  // 2 x 4 + 4 x 1 MB/s.
  EXPECT_NEAR(set.total->median, 12e6, 1);
  EXPECT_NEAR(set.least->median, 1e6, 1);
  EXPECT_NEAR(set.largest->median, 4e6, 1);
  // 12^2 / (6 x (2 x 16 + 4 x 1)) = 144 / 216.
  EXPECT_NEAR(set.fairness->median, 2.0 / 3, 1e-6);
  EXPECT_NEAR(set.overlap->median, 0.9, 1e-9);
}

// 1 in the first block, 2/3 in the second, (2 x 2 + 4)^2 / (6 x 12) = 8/9 in
// the third: so few and so different that their interval would leave 1 / 6
// to 1.
TEST_F(FlowSetTest, NoIntervalSaysMoreThanFairOrLessThanOneFlowAlone) {
  MakeAllToAll();
  const auto all = run_.adjust;
  run_.adjust = [all](Sample& sample) {
    all(sample);
    const double rates[] = {1e6, 4e6, 2e6};
    if (sample.sender->host == "a") SetRate(rates[sample.repeat], sample);
  };
  const Analysis analysis = Analysed();
  const Estimate& fairness = *analysis.flow_sets.at(0).fairness;
  EXPECT_NEAR(fairness.median, 8.0 / 9, 1e-6);
  EXPECT_EQ(fairness.interval->high, 1);
  EXPECT_GE(fairness.interval->low, 1.0 / 6);
}

TEST_F(FlowSetTest, ClaimsMayAskForTotalAndFairness) {
  MakeAllToAll();
  run_.study_text +=
      "[[claim]]\nid = \"t\"\ntext = \"12 MB/s together.\"\n"
      "metric = \"total_throughput\"\na = { topology = \"all-to-all\" }\n"
      "value = 12e6\n"
      "[[claim]]\nid = \"f\"\ntext = \"They share evenly.\"\n"
      "metric = \"fairness\"\na = { topology = \"all-to-all\" }\n"
      "at_least = 0.9\n";
  const Analysis analysis = Analysed();
  ASSERT_THAT(analysis.claims, SizeIs(2));
  EXPECT_EQ(analysis.claims[0].answer, ClaimAnswer::kSupported)
      << analysis.claims[0].why;
  EXPECT_EQ(analysis.claims[1].answer, ClaimAnswer::kRefuted)
      << analysis.claims[1].why;
}

TEST_F(FlowSetTest, AGroupWithAFailedFlowHasNoTotalAndSaysWhy) {
  MakeAllToAll();
  const auto all = run_.adjust;
  run_.adjust = [all](Sample& sample) {
    all(sample);
    if (sample.repeat != 1 || sample.sender->host != "b") return;
    sample.outcome = TrialOutcome::kFailed;
    sample.reason = "sender b: the agent ended";
  };
  const Analysis analysis = Analysed();
  ASSERT_THAT(analysis.flow_sets, SizeIs(1));
  const FlowSet& set = analysis.flow_sets[0];
  EXPECT_EQ(set.whole, 2);
  EXPECT_EQ(set.broken, 1);
  EXPECT_THAT(set.reason, HasSubstr("sender b: the agent ended"));
  EXPECT_FALSE(set.total_by_block.contains(1));
  EXPECT_NEAR(set.total->median, 12e6, 1);
}

TEST_F(FlowSetTest, AGroupThatIsNotWhollyRecordedHasNoTotal) {
  MakeAllToAll();
  run_.adjust = [](Sample& sample) {
    InGroup("all-to-all", 7, 0, sample);
    SetRate(1e6, sample);
  };
  const Analysis analysis = Analysed();
  ASSERT_THAT(analysis.flow_sets, SizeIs(1));
  EXPECT_EQ(analysis.flow_sets[0].broken, 3);
  EXPECT_EQ(analysis.flow_sets[0].total, std::nullopt);
  EXPECT_EQ(analysis.flow_sets[0].reason, "1 of its 7 flows are not recorded");
  // Which is why its parts have none either.
  EXPECT_EQ(analysis.cells[0].why_missing.at(Metric::kTotalThroughput),
            "1 of its 7 flows are not recorded");
}

TEST_F(FlowSetTest, SeveralFlowsOfAPairAreOneValueABlock) {
  run_.study_text = FlowStudy("pair", 2);
  run_.pairs = {{"a", "b"}};
  run_.adjust = [](Sample& sample) {
    InGroup("a:b", 2, 0, sample);
    SetRate(1e6, sample);
  };
  const auto folder = folder_.path() / "run";
  WriteSyntheticRun(folder, run_);
  // Beside each flow of 1 MB/s one of 3 MB/s: 2 on average, 4 together.
  std::vector<Sample> others;
  ASSERT_TRUE(ForEachSample(folder, [&](Sample&& sample) {
                sample.trial += "/stream-1";
                sample.flow->index = 1;
                SetRate(3e6, sample);
                others.push_back(std::move(sample));
              }).has_value());
  auto writer = SampleWriter::Open(folder);
  ASSERT_TRUE(writer.value().Append(others).has_value());
  const auto analysis = Analyse({folder});
  ASSERT_TRUE(analysis.has_value()) << analysis.error().message;
  ASSERT_THAT(analysis.value().cells, SizeIs(1));
  const Cell& cell = analysis.value().cells[0];
  EXPECT_EQ(cell.ok, 6);  // Two flows in each of three blocks.
  EXPECT_EQ(cell.figure(Metric::kThroughput)->blocks, 3);
  EXPECT_NEAR(cell.figure(Metric::kThroughput)->median, 2e6, 1);
  EXPECT_NEAR(cell.figure(Metric::kTotalThroughput)->median, 4e6, 1);
  ASSERT_THAT(analysis.value().flow_sets, SizeIs(1));
  EXPECT_EQ(analysis.value().flow_sets[0].sender, "a");
  EXPECT_EQ(analysis.value().flow_sets[0].receiver, "b");
  EXPECT_NEAR(analysis.value().flow_sets[0].fairness->median, 0.8, 1e-6);
  EXPECT_EQ(analysis.value().blocks, 3);
}

TEST_F(FlowSetTest, WithoutFlowsAtOnceThereAreNoSets) {
  const Analysis analysis = Analysed();
  EXPECT_TRUE(analysis.flow_sets.empty());
  EXPECT_EQ(analysis.cells[0].why_missing.at(Metric::kTotalThroughput),
            "no flows of the study ran at once");
}

}  // namespace
}  // namespace wiretoll

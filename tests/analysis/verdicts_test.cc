#include "harness/analysis/verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/analysis/metrics.h"
#include "tests/analysis/synthetic_run.h"

namespace wiretoll {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void Measure(Cell& cell, Metric metric, double median) {
  cell.figures[Index(metric)] = Estimate{median, std::nullopt, 1};
}

CaseTheory::Prediction& Predict(Cell& cell, Rule rule, Metric metric,
                                double value,
                                PredictionKind kind = PredictionKind::kValue) {
  if (!cell.theory) cell.theory.emplace();
  CaseTheory::Prediction prediction;
  prediction.rule = DescribeRule(rule).name;
  prediction.metric = metric;
  prediction.value = value;
  prediction.kind = kind;
  prediction.id = rule;
  prediction.tolerance = ToleranceOf(rule, Nanoseconds(40'000'000));
  return cell.theory->predictions.emplace_back(prediction);
}

// 51 segments by Minshall's rule, `measured` in fact.
Cell MinshallCell(double measured) {
  Cell cell;
  Predict(cell, Rule::kNagleMinshall, Metric::kDataSegments, 51);
  Measure(cell, Metric::kDataSegments, measured);
  return cell;
}

PredictionVerdict First(const Cell& cell, const CellSigns& signs = {}) {
  return VerdictsOf(cell, signs).at(0);
}

// A segment more or less, or 3 % of 51 = 1.53, is the rule's tolerance.
TEST(VerdictsTest, WithinTheToleranceItIsAsPredicted) {
  EXPECT_EQ(First(MinshallCell(51)).words, "equal");
  EXPECT_EQ(First(MinshallCell(50)).explanation, Explanation::kAsPredicted);
  EXPECT_EQ(First(MinshallCell(50)).words, "within 2 % of it");
  EXPECT_EQ(First(MinshallCell(52.5)).explanation, Explanation::kAsPredicted);
  EXPECT_EQ(First(MinshallCell(53)).explanation, Explanation::kUnexplained);
}

TEST(VerdictsTest, WhatNothingExplainsStaysUnexplainedWithBothFigures) {
  const PredictionVerdict verdict = First(MinshallCell(99));
  EXPECT_EQ(verdict.explanation, Explanation::kUnexplained);
  EXPECT_EQ(verdict.measured, 99);
  EXPECT_THAT(verdict.words, AllOf(HasSubstr("unexplained"), HasSubstr("99.0"),
                                   HasSubstr("51.0")));
}

TEST(VerdictsTest, WhatWasNotMeasuredSaysWhy) {
  Cell cell;
  Predict(cell, Rule::kNagleMinshall, Metric::kDataSegments, 51);
  cell.why_missing[Metric::kDataSegments] = "no end counts segments";
  const PredictionVerdict verdict = First(cell);
  EXPECT_EQ(verdict.explanation, Explanation::kNotMeasured);
  EXPECT_EQ(verdict.measured, std::nullopt);
  EXPECT_THAT(verdict.words, HasSubstr("no end counts segments"));
}

TEST(VerdictsTest, ACellWithoutTheoryHasNoVerdicts) {
  EXPECT_THAT(VerdictsOf(Cell(), {}), IsEmpty());
}

TEST(VerdictsTest, ABoundIsMetOnItsSideOnly) {
  Cell cell;
  Predict(cell, Rule::kSegmentAWrite, Metric::kDataSegments, 100,
          PredictionKind::kAtMost);
  Measure(cell, Metric::kDataSegments, 3);
  EXPECT_EQ(First(cell).words, "not above it");
  Measure(cell, Metric::kDataSegments, 101);
  EXPECT_EQ(First(cell).explanation, Explanation::kUnexplained);
  EXPECT_THAT(First(cell).words, HasSubstr("101 against at most 100"));
  Cell least;
  Predict(least, Rule::kQuickAck, Metric::kAckSegments, 16,
          PredictionKind::kAtLeast);
  Measure(least, Metric::kAckSegments, 15);
  EXPECT_EQ(First(least).explanation, Explanation::kUnexplained);
  Measure(least, Metric::kAckSegments, 99);
  EXPECT_EQ(First(least).words, "not below it");
}

// --- Explanations ------------------------------------------------------------

std::string Why(const Cell& cell, const CellSigns& signs) {
  const PredictionVerdict verdict = First(cell, signs);
  EXPECT_EQ(verdict.explanation, Explanation::kExplained) << verdict.words;
  return verdict.words;
}

// The capture's own ACKs, which were late, lead to what was sent.
TEST(VerdictsTest, AReplayThatGivesTheCountExplainsIt) {
  CellSigns signs;
  signs.replay_minshall = 82;
  EXPECT_THAT(Why(MinshallCell(82), signs),
              HasSubstr("the ACKs as they came: replayed over them it gives "
                        "82.0 segments"));
  signs.replay_minshall = 60;
  EXPECT_EQ(First(MinshallCell(82), signs).explanation,
            Explanation::kUnexplained);
}

// Classic has 1448 bytes a segment, Minshall 78 segments, and 78 were sent.
TEST(VerdictsTest, MinshallsRuleExplainsWhereTheClassicOneIsNotMet) {
  Cell cell;
  Predict(cell, Rule::kNagleClassic, Metric::kBytesPerSegment, 1448);
  Predict(cell, Rule::kNagleMinshall, Metric::kDataSegments, 78);
  Measure(cell, Metric::kBytesPerSegment, 64'000.0 / 78);
  Measure(cell, Metric::kDataSegments, 78);
  EXPECT_THAT(Why(cell, {}), HasSubstr("Minshall's variant, which this sender "
                                       "has: it gives 78.0"));
  Measure(cell, Metric::kDataSegments, 100);
  EXPECT_EQ(First(cell).explanation, Explanation::kUnexplained);
}

// 64,000 bytes in segments of 1448 are 44.2, written over 250 ms or 6.25 round
// trips of 40 ms: up to 51.2 with a partial one in each.
TEST(VerdictsTest, APartialSegmentEachRoundTripExplainsALinuxSender) {
  Cell cell;
  cell.sender_os = "linux";
  Predict(cell, Rule::kNagleClassic, Metric::kBytesPerSegment, 1448);
  Measure(cell, Metric::kBytesPerSegment, 64'000.0 / 51);
  Measure(cell, Metric::kDataSegments, 51);
  Measure(cell, Metric::kElapsed, 250e6);
  CellSigns signs;
  signs.rtt_ns = 40e6;
  signs.bytes = 64'000;
  EXPECT_THAT(Why(cell, signs), HasSubstr("44.0 to 51.0 segments in all"));
  Measure(cell, Metric::kDataSegments, 53);
  EXPECT_EQ(First(cell, signs).explanation, Explanation::kUnexplained);
  Measure(cell, Metric::kDataSegments, 51);
  cell.sender_os = "windows";
  EXPECT_EQ(First(cell, signs).explanation, Explanation::kUnexplained);
}

TEST(VerdictsTest, RetransmissionsExplainAsManySegmentsMoreAndNoneFewer) {
  CellSigns signs;
  signs.retransmitted = 9;
  EXPECT_THAT(Why(MinshallCell(60), signs), HasSubstr("retransmission: 9.00"));
  EXPECT_EQ(First(MinshallCell(61), signs).explanation,
            Explanation::kUnexplained);
  EXPECT_EQ(First(MinshallCell(40), signs).explanation,
            Explanation::kUnexplained);
}

// Between 51 segments at 40 ms and 2000 at 0.02 ms.
TEST(VerdictsTest, ARoundTripThatVariedExplainsWhatLiesBetweenItsEnds) {
  Cell cell = MinshallCell(629);
  cell.theory->predictions[0].at_shortest_rtt = 2000;
  CellSigns signs;
  signs.rtt_ns = 40e6;
  signs.min_rtt_ns = 20e3;
  EXPECT_THAT(Why(cell, signs),
              AllOf(HasSubstr("0.0200 ms at the shortest gives 2000"),
                    HasSubstr("40.0 ms as smoothed at the end gives 51.0")));
  Measure(cell, Metric::kDataSegments, 40);
  EXPECT_EQ(First(cell, signs).explanation, Explanation::kUnexplained);
}

TEST(VerdictsTest, TheWindowExplainsFromATenthOfTheTimeOn) {
  CellSigns signs;
  signs.window_share = 0.85;
  EXPECT_THAT(Why(MinshallCell(20), signs), HasSubstr("window, which held the "
                                                      "sender back for 85 %"));
  signs.window_share = 0.09;
  EXPECT_EQ(First(MinshallCell(20), signs).explanation,
            Explanation::kUnexplained);
  signs.window_share.reset();
  signs.sndbuf_share = 0.5;
  EXPECT_THAT(Why(MinshallCell(20), signs), HasSubstr("send buffer"));
}

// Delayed ACKs make fewer segments, never more.
TEST(VerdictsTest, FewerAcksThanSegmentsExplainFewerSegments) {
  CellSigns signs;
  signs.acks = 20;
  signs.segments = 40;
  EXPECT_THAT(Why(MinshallCell(40), signs),
              HasSubstr("20.0 ACKs for 40.0 segments"));
  EXPECT_EQ(First(MinshallCell(70), signs).explanation,
            Explanation::kUnexplained);
  signs.acks = 39;
  EXPECT_EQ(First(MinshallCell(40), signs).explanation,
            Explanation::kUnexplained);
}

TEST(VerdictsTest, AutocorkingExplainsFewerSegmentsWhereItIsOn) {
  Cell cell;
  Predict(cell, Rule::kInitialWindow, Metric::kDataSegments, 54);
  Measure(cell, Metric::kDataSegments, 30);
  CellSigns signs;
  EXPECT_EQ(First(cell, signs).explanation, Explanation::kUnexplained);
  signs.autocorking = true;
  EXPECT_THAT(Why(cell, signs), HasSubstr("autocorking"));
  Measure(cell, Metric::kDataSegments, 80);
  EXPECT_EQ(First(cell, signs).explanation, Explanation::kUnexplained);
}

// 8000 of 400,000 bytes are 2 %; with the tolerance of 1 %, 3 % above the line.
TEST(VerdictsTest, AShapersBurstExplainsALittleMoreThanTheLine) {
  Cell cell;
  Predict(cell, Rule::kLineLimit, Metric::kThroughput, 100,
          PredictionKind::kAtMost);
  Measure(cell, Metric::kThroughput, 102.9);
  CellSigns signs;
  signs.burst = Bytes{8000};
  signs.bytes = 400'000;
  EXPECT_THAT(Why(cell, signs), HasSubstr("8000 bytes go ahead of the rate"));
  Measure(cell, Metric::kThroughput, 103.1);
  EXPECT_EQ(First(cell, signs).explanation, Explanation::kUnexplained);
}

TEST(VerdictsTest, ARoundTripBelowAMillisecondIsTheSchedulers) {
  CellSigns signs;
  signs.rtt_ns = 0.3e6;
  EXPECT_THAT(Why(MinshallCell(99), signs), HasSubstr("0.300 ms"));
  signs.rtt_ns = 1.1e6;
  EXPECT_EQ(First(MinshallCell(99), signs).explanation,
            Explanation::kUnexplained);
}

TEST(VerdictsTest, DisturbanceExplainsWhereItHitMoreThanHalf) {
  CellSigns signs;
  signs.trials = 5;
  signs.disturbed = 3;
  EXPECT_THAT(Why(MinshallCell(99), signs), HasSubstr("3 of 5 trials"));
  signs.disturbed = 2;
  EXPECT_EQ(First(MinshallCell(99), signs).explanation,
            Explanation::kUnexplained);
}

// --- Where the signs come from -----------------------------------------------

TEST(VerdictsTest, ABurstIsReadFromTheLinksQueue) {
  RecordedLink link;
  EXPECT_EQ(BurstOf(link), Bytes{0});
  link.settings["qdisc"] =
      "stab mtu 2048 tbf rate 100000000bit burst 8000 "
      "limit 2000000";
  EXPECT_EQ(BurstOf(link), Bytes{8000});
  link.settings["qdisc"] = "tbf rate 1bit burst x";
  EXPECT_EQ(BurstOf(link), Bytes{0});
}

TEST(VerdictsTest, AFactIsANumberOfTheNamedHostOrNothing) {
  RunRecord record;
  record.hosts.emplace_back();
  record.hosts[0].name = "a";
  record.hosts[0].facts = {{"tcp_autocorking", std::int64_t{1}, {}, {}},
                           {"driver", std::string("veth"), {}, {}}};
  EXPECT_EQ(FactOf(record, "a", "tcp_autocorking"), 1);
  EXPECT_EQ(FactOf(record, "a", "driver"), std::nullopt);
  EXPECT_EQ(FactOf(record, "a", "other"), std::nullopt);
  EXPECT_EQ(FactOf(record, "b", "tcp_autocorking"), std::nullopt);
}

TEST(VerdictsTest, SignsAreMediansOfThoseThatWereObserved) {
  Sample sample;
  sample.sender.emplace();
  sample.sender->counters.busy_ns = 100;
  sample.sender->counters.window_limited_ns = 40;
  sample.wire.emplace();
  sample.wire->retransmitted_segments = 3;
  Sample other = sample;
  other.sender->counters.window_limited_ns = 20;
  other.wire->retransmitted_segments.reset();
  CellSigns signs;
  TakeMedians({SignsOf(sample), SignsOf(other)}, signs);
  EXPECT_NEAR(signs.window_share.value(), 0.3, 1e-6);
  EXPECT_EQ(signs.retransmitted, 3);
  EXPECT_EQ(signs.acks, std::nullopt);
  EXPECT_EQ(signs.sndbuf_share, std::nullopt);
}

TEST(VerdictsTest, AReplayCountsOnlyWhereEveryTrialHasIt) {
  Sample sample;
  sample.capture.emplace();
  sample.capture->replay_minshall = 82;
  CellSigns all;
  TakeMedians({SignsOf(sample), SignsOf(sample)}, all);
  EXPECT_EQ(all.replay_minshall, 82);
  CellSigns some;
  TakeMedians({SignsOf(sample), SignsOf(Sample())}, some);
  EXPECT_EQ(some.replay_minshall, std::nullopt);
}

// Every prediction of every cell has a verdict, in its place.
TEST(VerdictsTest, AnAnalysisHoldsEachPredictionAgainstItsFigure) {
  const TemporaryFolder temporary;
  WriteSyntheticRun(temporary.path() / "run", {.noise = 0});
  const auto analysis = Analyse({temporary.path() / "run"});
  ASSERT_TRUE(analysis.has_value()) << analysis.error().message;
  for (const Cell& cell : analysis.value().cells) {
    ASSERT_TRUE(cell.theory.has_value());
    ASSERT_EQ(cell.verdicts.size(), cell.theory->predictions.size());
    for (std::size_t i = 0; i < cell.verdicts.size(); ++i) {
      EXPECT_EQ(cell.verdicts[i].prediction, i);
      EXPECT_FALSE(cell.verdicts[i].words.empty());
    }
  }
}

}  // namespace
}  // namespace wiretoll

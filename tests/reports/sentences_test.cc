#include "reports/sentences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/fixture.h"

namespace wiretoll {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

EffectSeries EffectOf(std::vector<EffectPoint> points) {
  EffectSeries series;
  series.facet = "rcvbuf unset";
  series.label = "Nagle on";
  series.factor = "nagle";
  series.points = std::move(points);
  return series;
}

Ratio RatioOf(double low, double median, double high) {
  const Verdict verdict = low > 1    ? Verdict::kHigher
                          : high < 1 ? Verdict::kLower
                                     : Verdict::kNotDistinguishable;
  return {median, Interval{low, high}, 5, verdict};
}

TEST(EffectSentenceTest, NamesTheStrongestEffectAndCountsAllThree) {
  const std::string text =
      EffectSentence({EffectOf({{1, RatioOf(1.5, 1.6, 1.8)},
                                {32, RatioOf(1.9, 2.1, 2.3)},
                                {256, RatioOf(0.7, 0.8, 0.9)},
                                {1448, RatioOf(0.98, 1.0, 1.02)}})},
                     "Nagle");
  EXPECT_THAT(text, HasSubstr("most at 32 B a write: 2.10× (1.90–2.30)"));
  EXPECT_THAT(text, HasSubstr("Higher in 2, lower in 1 of 4 comparisons"));
  EXPECT_THAT(text, HasSubstr("in 1 no difference can be told"));
}

TEST(EffectSentenceTest, ASlowdownCountsAsMuchAsASpeedup) {
  // 0.2 is a factor of 5, more than 2.1.
  const std::string text = EffectSentence(
      {EffectOf({{1, RatioOf(0.15, 0.2, 0.25)}, {32, RatioOf(2, 2.1, 2.2)}})},
      "Nagle");
  EXPECT_THAT(text, HasSubstr("most at 1 B a write: 0.200×"));
}

TEST(EffectSentenceTest, SaysThatThereIsNoneWhereNoneCanBeTold) {
  const std::string text =
      EffectSentence({EffectOf({{1, RatioOf(0.9, 1.0, 1.1)}})}, "Nagle");
  EXPECT_THAT(text, StartsWith("No effect of Nagle on throughput can be told"));
}

TEST(EffectSentenceTest, WhatHasNoIntervalWasNotJudged) {
  const Ratio of_two_blocks{0.02, std::nullopt, 2, {}};
  const std::string none = EffectSentence(
      {EffectOf({{1, of_two_blocks}, {32, of_two_blocks}})}, "Nagle");
  EXPECT_THAT(none, HasSubstr("is not known: none of 2 comparisons"));
  EXPECT_THAT(none, Not(HasSubstr("noise")));
  const std::string some = EffectSentence(
      {EffectOf({{1, of_two_blocks}, {32, RatioOf(2, 2.1, 2.2)}})}, "Nagle");
  EXPECT_THAT(some, HasSubstr("Higher in 1, lower in 0 of 1 comparison"));
}

// The model sends full segments with Nagle, so that 1-byte writes are as good
// as any; without it 32 bytes cost 122 on the line (26 %), 1448 cost 1538.
TEST(SentencesTest, TheKneeIsReadOffTheCurves) {
  const TemporaryFolder folder;
  const Analysis analysis = AnalysisOf(folder.path(), {});
  const StudyView view = ViewStudy(analysis, 0);
  EXPECT_THAT(ThroughputSentence(view),
              StartsWith("With Nagle, writes of 1 B reach 95 % of its highest "
                         "rate; without it that takes 1448 B."));
  EXPECT_THAT(EfficiencySentence(view), HasSubstr("94.1 % (Nagle on)"));
  EXPECT_THAT(SegmentsSentence(view),
              HasSubstr("each write is a segment of its own with Nagle off"));
}

TEST(SentencesTest, ACurveThatIsFlatIsCalledSo) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.study_text = R"(title = "Big"
question = "q"
[factors]
write = [1448, 2896, 14480]
nagle = ["on", "off"]
[stop]
bytes = 100000
)";
  const Analysis analysis = AnalysisOf(folder.path(), run);
  const StudyView view = ViewStudy(analysis, 0);
  EXPECT_THAT(ThroughputSentence(view),
              StartsWith("The size of a write makes no difference"));
  EXPECT_THAT(EffectSentence(EffectsOf(view, "nagle"), "Nagle"),
              StartsWith("No effect of Nagle"));
}

TEST(SentencesTest, AFigureThatNobodySawIsSaidToBeMissingWithItsReason) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.adjust = [](Sample& sample) {
    sample.wire.reset();
    sample.sender->counters = {};
    sample.receiver->counters = {};
    sample.sender->counters.reason = "this system keeps no counts";
  };
  const Analysis analysis = AnalysisOf(folder.path(), run);
  const StudyView view = ViewStudy(analysis, 0);
  EXPECT_THAT(EfficiencySentence(view), StartsWith("Not observed: "));
  EXPECT_THAT(SegmentsSentence(view), StartsWith("Not observed: "));
  EXPECT_THAT(ThroughputSentence(view), Not(StartsWith("Not observed")));
}

TEST(SentencesTest, EqualSystemsInBothDirectionsArePooled) {
  const TemporaryFolder folder;
  const Analysis analysis = AnalysisOf(folder.path(), {});
  const StudyView view = ViewStudy(analysis, 0);
  ASSERT_EQ(view.groups.size(), 6U);
  EXPECT_EQ(view.pools.size(), 1U);
  for (const Group& group : view.groups) {
    ASSERT_TRUE(group.figure(Metric::kThroughput).has_value());
    EXPECT_EQ(group.figure(Metric::kThroughput)->blocks, 10);  // 2 x 5
  }
}

TEST(SentencesTest, OtherSystemsStayApartAndWineIsNamed) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.hosts = {{"linux-1"}, {"wine", "wine", "Wine 8.0"}};
  const Analysis analysis = AnalysisOf(folder.path(), run);
  const StudyView view = ViewStudy(analysis, 0);
  EXPECT_THAT(view.pools,
              testing::UnorderedElementsAre("Linux to Wine (not Windows)",
                                            "Wine (not Windows) to Linux"));
  EXPECT_THAT(view.pool_names,
              testing::UnorderedElementsAre("Linux 6.18.44 to Wine 8.0",
                                            "Wine 8.0 to Linux 6.18.44"));
}

TEST(SentencesTest, CapacitySaysWhatTookTheMost) {
  const TemporaryFolder folder;
  Analysis analysis = AnalysisOf(folder.path(), {});
  for (Cell& cell : analysis.cells) {
    cell.capacity = Capacity{0.95, 0.03, 0.02, 0, 0, 0, 0};
  }
  {
    const StudyView view = ViewStudy(analysis, 0);
    std::vector<const Group*> drawn;
    for (const Group& group : view.groups) drawn.push_back(&group);
    EXPECT_THAT(CapacitySentence(view, drawn),
                HasSubstr("at least 95.0 % of the line's capacity"));
  }
  for (Cell& cell : analysis.cells) {
    if (WriteOf(cell.factors) == 1) {
      cell.capacity = Capacity{0.02, 0.03, 0.03, 0, 0.92, 0, 0};
    }
  }
  const StudyView view = ViewStudy(analysis, 0);
  std::vector<const Group*> drawn;
  for (const Group& group : view.groups) drawn.push_back(&group);
  EXPECT_THAT(CapacitySentence(view, drawn),
              HasSubstr("92.0 % waited for the receiver's window"));
}

TEST(SentencesTest, BuffersThatReadBackAsAskedAreNotCalledOtherwise) {
  BufferRow row;
  row.buffer = "rcvbuf";
  row.requested = "65536";
  row.effective_low = row.effective_high = 65536;
  EXPECT_THAT(BufferSentence({row}), StartsWith("Every size asked for"));
  BufferRow two = row;
  two.requested = "2";
  two.effective_low = two.effective_high = 2304;
  EXPECT_THAT(BufferSentence({row, two}), HasSubstr("rcvbuf 2 became 2304"));
}

TEST(SentencesTest, AStallingCaseStandsOutAndEqualOnesDoNot) {
  const std::string text = R"(title = "wwr"
question = "q"
[factors]
pattern = ["request-response"]
request = ["1+1"]
reply = ["1"]
nagle = ["on", "off"]
[stop]
messages = 100
)";
  SyntheticRun run;
  run.study_text = text;
  const TemporaryFolder folder;
  const Analysis analysis = AnalysisOf(folder.path(), run);
  // 44 ms against 100 us.
  EXPECT_THAT(LatencySentence(ViewStudy(analysis, 0)),
              StartsWith("Nagle on waits longest: 4"));
  run.adjust = [](Sample& sample) {
    sample.sender->latency->p50_ns = 100'000 + sample.repeat;
    sample.sender->latency->over_30ms = 0;
  };
  const TemporaryFolder other;
  const Analysis even = AnalysisOf(other.path(), run);
  EXPECT_THAT(LatencySentence(ViewStudy(even, 0)),
              StartsWith("No case stands out"));
}

}  // namespace
}  // namespace wiretoll

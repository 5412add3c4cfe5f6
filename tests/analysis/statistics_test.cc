#include "harness/analysis/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <random>

namespace wiretoll {
namespace {

constexpr std::uint64_t kSeed = 7;

std::vector<double> OneTo(int last) {
  std::vector<double> values;
  for (int i = 1; i <= last; ++i) values.push_back(i);
  return values;
}

// splitmix64's first four numbers from 0 are published with it; the second is
// 0x6e789e6aa1b965f4, and xoshiro256** gives rotl(second x 5, 7) x 9 first.
TEST(StatisticsTest, ChanceIsThePublishedGenerators) {
  EXPECT_EQ(Random(0).Next(),
            std::rotl(std::uint64_t{0x6e789e6aa1b965f4} * 5, 7) * 9);
  EXPECT_NE(Random(1).Next(), Random(2).Next());
}

// 6000 throws of a die: each face 1000 times, standard deviation
// sqrt(6000 x 1/6 x 5/6) = 28.9; five of them are 145.
TEST(StatisticsTest, ChanceIsEven) {
  Random random(3);
  std::array<int, 6> faces{};
  for (int i = 0; i < 6000; ++i) ++faces[random.Below(6)];
  for (const int count : faces) EXPECT_NEAR(count, 1000, 145);
}

TEST(StatisticsTest, TheMedianIsTheMiddleOrTheMeanOfTheMiddleTwo) {
  EXPECT_DOUBLE_EQ(EstimateMedian({3, 1, 2}, kSeed).median, 2);
  EXPECT_DOUBLE_EQ(EstimateMedian({4, 1, 2, 8}, kSeed).median, 3);
  EXPECT_DOUBLE_EQ(EstimateMedian({5}, kSeed).median, 5);
}

TEST(StatisticsTest, FewerThanThreeValuesHaveNoInterval) {
  EXPECT_FALSE(EstimateMedian({1, 2}, kSeed).interval.has_value());
  EXPECT_TRUE(EstimateMedian({1, 2, 3}, kSeed).interval.has_value());
}

TEST(StatisticsTest, EqualValuesHaveAnIntervalOfNoWidth) {
  const Estimate estimate = EstimateMedian({5, 5, 5, 5}, kSeed);
  EXPECT_EQ(estimate.interval->low, 5);
  EXPECT_EQ(estimate.interval->high, 5);
}

// Logarithms 0, 1, 2: mean 1, standard deviation 1, t 4.303: 1 +- 4.303 / sqrt
// 3 = 1 +- 2.4843.
TEST(StatisticsTest, ThreeValuesHaveStudentsIntervalOfTheirLogarithms) {
  const Estimate estimate =
      EstimateMedian({1, std::exp(1.0), std::exp(2.0)}, kSeed);
  EXPECT_NEAR(std::log(estimate.interval->low), 1 - 2.4843, 1e-4);
  EXPECT_NEAR(std::log(estimate.interval->high), 1 + 2.4843, 1e-4);
}

// With a 0 there is no logarithm. 0, 1, 2, 3, 4: mean 2, standard deviation
// sqrt(10 / 4) = 1.5811, t 2.776: 2 +- 1.963, narrower than all values, so all.
TEST(StatisticsTest, FiveValuesSpanAllOfThemAtLeast) {
  const Estimate estimate = EstimateMedian({0, 1, 2, 3, 4}, kSeed);
  EXPECT_DOUBLE_EQ(estimate.interval->low, 0);
  EXPECT_DOUBLE_EQ(estimate.interval->high, 4);
}

// 10 values: P(at most 1 of 10 on a side) = 11 / 1024 = 1.07 %, P(at most 2) =
// 56 / 1024 = 5.5 %: so from the second to the ninth. The bootstrap is no
// wider: the lower middle of a resample is the first if 5 of 10 fall on it,
// 0.16 %.
TEST(StatisticsTest, TenValuesGoFromTheSecondToTheNinth) {
  const Estimate estimate = EstimateMedian(OneTo(10), kSeed);
  EXPECT_DOUBLE_EQ(estimate.median, 5.5);
  EXPECT_DOUBLE_EQ(estimate.interval->low, 2);
  EXPECT_DOUBLE_EQ(estimate.interval->high, 9);
}

// Binomial(1000, 1/2): mean 500, deviation 15.81; 500 - 1.96 x 15.81 - 0.5 =
// 468.5: 468 values lie below the interval and as many above.
TEST(StatisticsTest, ManyValuesHaveTheRanksOfTheSignTest) {
  const Estimate estimate = EstimateMedian(OneTo(1000), kSeed);
  EXPECT_DOUBLE_EQ(estimate.interval->low, 469);
  EXPECT_DOUBLE_EQ(estimate.interval->high, 532);
}

TEST(StatisticsTest, TheSameValuesGiveTheSameIntervalInAnyOrder) {
  std::vector<double> values = OneTo(50);
  const Estimate once = EstimateMedian(values, kSeed);
  std::reverse(values.begin(), values.end());
  const Estimate again = EstimateMedian(values, kSeed);
  EXPECT_EQ(once.interval->low, again.interval->low);
  EXPECT_EQ(once.interval->high, again.interval->high);
}

TEST(StatisticsTest, RatiosPairOnlyBlocksThatBothHave) {
  const auto ratio = PairedRatio({{0, 2}, {1, 6}, {2, 5}, {4, 8}},
                                 {{1, 3}, {2, 1}, {3, 9}, {4, 4}}, kSeed);
  // 6/3, 5/1, 8/4.
  ASSERT_TRUE(ratio.has_value());
  EXPECT_EQ(ratio->blocks, 3);
  EXPECT_DOUBLE_EQ(ratio->median, 2);
}

TEST(StatisticsTest, NoCommonBlockIsNoRatioAndAZeroDivisorIsNoBlock) {
  EXPECT_FALSE(PairedRatio({{0, 1}}, {{1, 1}}, kSeed).has_value());
  EXPECT_FALSE(PairedRatio({{0, 1}}, {{0, 0}}, kSeed).has_value());
}

TEST(StatisticsTest, ExactlyTwiceIsHigherAndExactlyHalfIsLower) {
  const BlockValues once{{0, 1.0}, {1, 3.0}, {2, 5.0}};
  const BlockValues twice{{0, 2.0}, {1, 6.0}, {2, 10.0}};
  EXPECT_EQ(PairedRatio(twice, once, kSeed)->verdict, Verdict::kHigher);
  EXPECT_EQ(PairedRatio(once, twice, kSeed)->verdict, Verdict::kLower);
  EXPECT_EQ(PairedRatio(once, once, kSeed)->verdict,
            Verdict::kNotDistinguishable);
}

TEST(StatisticsTest, TwoBlocksDistinguishNothing) {
  const auto ratio =
      PairedRatio({{0, 9.0}, {1, 9.0}}, {{0, 1.0}, {1, 1.0}}, kSeed);
  EXPECT_DOUBLE_EQ(ratio->median, 9);
  EXPECT_EQ(ratio->verdict, Verdict::kNotDistinguishable);
}

// --- A/A -------------------------------------------------------------------

struct Noise {
  const char* name;
  std::function<double(std::mt19937_64&)> draw;
};

std::vector<Noise> Noises() {
  using Engine = std::mt19937_64;
  return {
      {"log-normal 5 %",
       [](Engine& engine) {
         return std::exp(std::normal_distribution<>(0, 0.05)(engine));
       }},
      {"even over a tenth",
       [](Engine& engine) {
         return std::uniform_real_distribution<>(1, 1.1)(engine);
       }},
      {"now and then twice as long",
       [](Engine& engine) {
         const double mode = std::bernoulli_distribution(0.2)(engine) ? 2 : 1;
         return mode * std::exp(std::normal_distribution<>(0, 0.01)(engine));
       }},
      {"long tail",
       [](Engine& engine) {
         return 1 + std::exponential_distribution<>(2)(engine);
       }},
      {"either of two",
       [](Engine& engine) {
         const double mode = std::bernoulli_distribution(0.5)(engine) ? 2 : 1;
         return mode * std::exp(std::normal_distribution<>(0, 0.01)(engine));
       }},
  };
}

// Share of `cells` cells, in each of 200 repeats of a run, where two alike
// came out as different.
double FalseShare(const Noise& noise, int blocks, int cells) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(blocks));
  MedianIntervals intervals(kSeed);
  int distinguishable = 0;
  constexpr int kRepeats = 200;
  for (int i = 0; i < kRepeats * cells; ++i) {
    BlockValues a;
    BlockValues b;
    for (int block = 0; block < blocks; ++block) {
      a[block] = noise.draw(engine);
      b[block] = noise.draw(engine);
    }
    if (PairedRatio(a, b, intervals)->verdict != Verdict::kNotDistinguishable) {
      ++distinguishable;
    }
  }
  return static_cast<double>(distinguishable) / (kRepeats * cells);
}

// 200 repeats of 50 cells are 10,000 comparisons. At a true rate of 5 % the
// count has the deviation sqrt(10,000 x 0.05 x 0.95) = 21.8; 3.3 of them are
// 0.72 %, which chance exceeds 1 time in 2000.
TEST(AaTest, TwoAlikeAreCalledDifferentInAtMostOneOfTwenty) {
  for (const Noise& noise : Noises()) {
    for (const int blocks : {3, 4, 5, 6, 7, 8, 10, 15}) {
      const double share = FalseShare(noise, blocks, 50);
      EXPECT_LE(share, 0.05 + 0.0072) << noise.name << ", " << blocks;
    }
  }
}

// The plain bootstrap of 5 values spans them all and so errs in 2 / 2^5 =
// 6.25 % of comparisons: that this is over what AaTest allows is why the
// interval is wider.
TEST(AaTest, SpanningFiveValuesWouldNotDo) {
  std::mt19937_64 engine(5);
  int outside = 0;
  constexpr int kComparisons = 10'000;
  for (int i = 0; i < kComparisons; ++i) {
    int above = 0;
    for (int block = 0; block < 5; ++block) {
      above += std::normal_distribution<>(0, 1)(engine) > 0 ? 1 : 0;
    }
    if (above == 0 || above == 5) ++outside;
  }
  EXPECT_GT(static_cast<double>(outside) / kComparisons, 0.05 + 0.0072);
}

// With 5 % noise in each the ratio has 7 %, and 5 of them a Student interval of
// +-9 %: far from 2 in every one of 1000 runs.
TEST(AaTest, ATrueFactorOfTwoIsAlwaysFound) {
  for (const int blocks : {5, 7, 10}) {
    std::mt19937_64 engine(9);
    std::normal_distribution<> noise(0, 0.05);
    MedianIntervals intervals(kSeed);
    for (int run = 0; run < 1000; ++run) {
      BlockValues a;
      BlockValues b;
      for (int block = 0; block < blocks; ++block) {
        a[block] = 2 * std::exp(noise(engine));
        b[block] = std::exp(noise(engine));
      }
      const auto ratio = PairedRatio(a, b, intervals);
      ASSERT_EQ(ratio->verdict, Verdict::kHigher) << run;
      EXPECT_NEAR(ratio->median, 2, 0.5);
    }
  }
}

// How often the interval holds the true median: at least 95 %, less 3.3
// deviations (2000 runs: 0.49 % each).
TEST(AaTest, TheIntervalHoldsTheTrueMedian) {
  for (const int blocks : {3, 5, 7, 10, 25, 60, 300}) {
    std::mt19937_64 engine(11);
    std::lognormal_distribution<> draw(0, 0.3);  // Its median is 1.
    MedianIntervals intervals(kSeed);
    int holds = 0;
    constexpr int kRuns = 2000;
    for (int run = 0; run < kRuns; ++run) {
      std::vector<double> values(static_cast<std::size_t>(blocks));
      for (double& value : values) value = draw(engine);
      const Estimate estimate = intervals.Of(std::move(values));
      if (estimate.interval->low <= 1 && estimate.interval->high >= 1) ++holds;
    }
    EXPECT_GE(static_cast<double>(holds) / kRuns, 0.95 - 3.3 * 0.0049)
        << blocks;
  }
}

// --- Precision -------------------------------------------------------------

Sample TrialWith(double throughput, const std::string& case_id, int block) {
  Sample sample;
  sample.repeat = block;
  sample.study = "s";
  sample.case_id = case_id;
  sample.sender.emplace().host = "a";
  EndReport& receiver = sample.receiver.emplace();
  receiver.host = "b";
  receiver.bytes = 1'000'000;
  receiver.elapsed_ns = std::llround(1e15 / throughput);
  return sample;
}

// 100, 100.1, 99.9 MB/s: log deviation 0.1 %, t 4.303 / sqrt 3 x 0.1 % = 0.25
// %.
TEST(PrecisionGoalTest, CloseValuesReachTheGoalAndOneWideCellHoldsItUp) {
  PrecisionGoal goal(0.05, kSeed);
  EXPECT_FALSE(goal.Reached());
  EXPECT_FALSE(goal.Widest().has_value());
  int block = 0;
  for (const double value : {100e6, 100.1e6, 99.9e6}) {
    goal.Add(TrialWith(value, "narrow", block++));
  }
  EXPECT_TRUE(goal.Reached());
  EXPECT_NEAR(*goal.Widest(), 0.0025, 0.0002);
  goal.Add(TrialWith(100e6, "wide", 0));
  EXPECT_FALSE(goal.Reached());  // One value has no interval yet.
  goal.Add(TrialWith(200e6, "wide", 1));
  goal.Add(TrialWith(50e6, "wide", 2));
  EXPECT_FALSE(goal.Reached());
  EXPECT_GT(*goal.Widest(), 1);
}

// Two flows at once are one value a block: 100 MB/s in each, though they
// differ.
TEST(PrecisionGoalTest, FlowsAtOnceAreOneValueABlock) {
  PrecisionGoal goal(0.05, kSeed);
  for (int block = 0; block < 3; ++block) {
    goal.Add(TrialWith(50e6, "flows", block));
    EXPECT_FALSE(goal.Reached());
    goal.Add(TrialWith(150e6, "flows", block));
  }
  EXPECT_TRUE(goal.Reached());
  EXPECT_NEAR(*goal.Widest(), 0, 1e-6);
}

TEST(PrecisionGoalTest, FailedTrialsAndTrialsWithoutAFigureDoNotHoldItUp) {
  PrecisionGoal goal(0.05, kSeed);
  for (int i = 0; i < 3; ++i) goal.Add(TrialWith(100e6, "good", i));
  Sample failed = TrialWith(1e6, "failed", 0);
  failed.outcome = TrialOutcome::kFailed;
  goal.Add(failed);
  Sample in_one_read = TrialWith(1e6, "small", 0);
  in_one_read.receiver->first_read_bytes = in_one_read.receiver->bytes;
  goal.Add(in_one_read);
  EXPECT_TRUE(goal.Reached());
}

}  // namespace
}  // namespace wiretoll

#include "harness/analysis/knee.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "harness/analysis/statistics.h"

namespace wiretoll {
namespace {

using ::testing::HasSubstr;

constexpr double kSizes[] = {100, 400, 1000, 4000, 10000};

// The value at a size in a block.
using Shape = std::function<double(double size, int block)>;

std::vector<CurvePoint> CurveOf(const Shape& shape, int blocks = 5) {
  std::vector<CurvePoint> points;
  for (const double size : kSizes) {
    CurvePoint point{size, {}};
    for (int block = 0; block < blocks; ++block) {
      point.values[block] = shape(size, block);
    }
    points.push_back(std::move(point));
  }
  return points;
}

double LevelAt1000(double size, int /*block*/) {
  return std::min(size, 1000.0);
}

TEST(KneeTest, IsWhereACurveReachesItsLevel) {
  const std::optional<Knee> knee = FindKnee(CurveOf(LevelAt1000), 1);
  ASSERT_TRUE(knee.has_value());
  EXPECT_EQ(knee->kind, KneeKind::kFound);
  EXPECT_EQ(knee->size, 1000);
  // No block differs from another, so no resample can either.
  EXPECT_EQ(knee->interval->low, 1000);
  EXPECT_EQ(knee->interval->high, 1000);
  EXPECT_EQ(knee->more_than, 400);
  EXPECT_FALSE(knee->open);
  EXPECT_EQ(KneeInWords(*knee), "1,000 bytes (more than 400, at most 1,000)");
}

TEST(KneeTest, OrderOfThePointsDoesNotMatter) {
  auto points = CurveOf(LevelAt1000);
  std::ranges::reverse(points);
  EXPECT_EQ(FindKnee(points, 1)->size, 1000);
}

TEST(KneeTest, AGrowthOfFivePerCentCountsAndOneOfFourDoesNot) {
  const auto last_is = [](double last) {
    return [last](double size, int) { return size == 10000 ? last : 100.0; };
  };
  EXPECT_EQ(FindKnee(CurveOf(last_is(104)), 1)->kind, KneeKind::kNeverGrows);
  EXPECT_EQ(FindKnee(CurveOf(last_is(106)), 1)->kind, KneeKind::kStillGrowing);
}

TEST(KneeTest, SmallStepsThatAddUpAreGrowth) {
  // 4 % from size to size: 17 % in all, and 12 % from the second on.
  double value = 100;
  auto points = CurveOf([](double, int) { return 0; });
  for (CurvePoint& point : points) {
    for (auto& [block, at] : point.values) at = value;
    value *= 1.04;
  }
  // From 4000 on one step of 4 % is left.
  EXPECT_EQ(FindKnee(points, 1)->size, 4000);
}

TEST(KneeTest, ACurveThatStillGrowsHasNoKneeInTheRange) {
  const auto knee = FindKnee(CurveOf([](double size, int) { return size; }), 1);
  EXPECT_EQ(knee->kind, KneeKind::kStillGrowing);
  EXPECT_TRUE(knee->open);
  EXPECT_THAT(KneeInWords(*knee),
              HasSubstr("no knee in the range: it still grows at 10,000"));
}

TEST(KneeTest, AFlatCurveHasNoKneeInTheRange) {
  const auto knee = FindKnee(CurveOf([](double, int) { return 7; }), 1);
  EXPECT_EQ(knee->kind, KneeKind::kNeverGrows);
  EXPECT_THAT(KneeInWords(*knee), HasSubstr("no knee in the range"));
}

TEST(KneeTest, ACurveThatFallsAgainHasItsKneeBeforeTheFall) {
  const auto knee = FindKnee(CurveOf([](double size, int block) {
                               const double level = LevelAt1000(size, block);
                               return size > 1000 ? level / 2 : level;
                             }),
                             1);
  EXPECT_EQ(knee->kind, KneeKind::kFound);
  EXPECT_EQ(knee->size, 1000);
}

// A slow block is slow at all sizes, which says nothing about the knee.
TEST(KneeTest, ABlockThatIsSlowAllAlongDoesNotWidenTheInterval) {
  const auto knee = FindKnee(CurveOf([](double size, int block) {
                               return LevelAt1000(size, block) / (1 + block);
                             }),
                             1);
  EXPECT_EQ(knee->size, 1000);
  EXPECT_EQ(knee->interval->low, 1000);
  EXPECT_EQ(knee->interval->high, 1000);
}

TEST(KneeTest, BlocksThatDisagreeWidenTheInterval) {
  // Two of five blocks level off at 400, three at 1000.
  const auto knee = FindKnee(CurveOf([](double size, int block) {
                               return block < 2 ? std::min(size, 400.0)
                                                : std::min(size, 1000.0);
                             }),
                             1);
  EXPECT_EQ(knee->size, 1000);
  EXPECT_EQ(knee->interval->low, 400);
  EXPECT_EQ(knee->interval->high, 1000);
  EXPECT_EQ(knee->more_than, 100);
}

TEST(KneeTest, TwoBlocksGiveNoInterval) {
  const auto knee = FindKnee(CurveOf(LevelAt1000, 2), 1);
  EXPECT_EQ(knee->size, 1000);
  EXPECT_FALSE(knee->interval.has_value());
  EXPECT_THAT(KneeInWords(*knee), HasSubstr("no interval: 2 blocks"));
}

TEST(KneeTest, ThreeSizesAreNoCurve) {
  auto points = CurveOf(LevelAt1000);
  points.resize(3);
  EXPECT_FALSE(FindKnee(points, 1).has_value());
  // Nor are three that were measured and two that were not.
  points = CurveOf(LevelAt1000);
  points[0].values.clear();
  points[1].values.clear();
  EXPECT_FALSE(FindKnee(points, 1).has_value());
}

// The knee lies clearly at 1000 (2.5 times the value at 400); noise of 3 %
// from trial to trial, which is less than what counts as growth. A 95 %
// interval holds it in 190 of 200 repeats, and in 182 at least with a chance
// of 99.5 % (binomial: 190 - 2.58 x sqrt(200 x 0.95 x 0.05)).
TEST(KneeTest, TheIntervalHoldsTheKneeAsOftenAsItSays) {
  Random random(20260102);
  const auto noise = [&random] {
    double sum = 0;  // Of twelve: normal with a deviation of 1, nearly.
    for (int i = 0; i < 12; ++i) {
      sum += static_cast<double>(random.Below(1'000'000)) / 1e6;
    }
    return 1 + 0.03 * (sum - 6);
  };
  int held = 0;
  for (int repeat = 0; repeat < 200; ++repeat) {
    const auto knee = FindKnee(CurveOf([&](double size, int block) {
                                 return LevelAt1000(size, block) * noise();
                               }),
                               static_cast<std::uint64_t>(repeat));
    held += knee->interval->low <= 1000 && 1000 <= knee->interval->high;
  }
  EXPECT_GE(held, 182);
}

}  // namespace
}  // namespace wiretoll

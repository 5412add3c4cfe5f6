#include "harness/base/histogram.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace wiretoll {
namespace {

TEST(SizeHistogramTest, BinsArePowersOfTwo) {
  SizeHistogram sizes;
  // 1 | 2, 3 | 4, 7 | 8: bins 0 to 3.
  for (const std::int64_t size : {1, 2, 3, 4, 7, 8}) sizes.Add(size);
  EXPECT_EQ(sizes.Bins(), (std::vector<std::int64_t>{1, 2, 2, 1}));
}

TEST(SizeHistogramTest, EmptyBinsAtTheEndAreLeftOut) {
  EXPECT_TRUE(SizeHistogram().Bins().empty());
  SizeHistogram sizes;
  sizes.Add(65536);  // 2^16: the last of 17 bins.
  ASSERT_EQ(sizes.Bins().size(), 17U);
  EXPECT_EQ(sizes.Bins().back(), 1);
}

TEST(SizeHistogramTest, TheLargestSizeHasABin) {
  SizeHistogram sizes;
  sizes.Add(std::numeric_limits<std::int64_t>::max());  // 2^63 - 1: bin 62.
  EXPECT_EQ(sizes.Bins().size(), 63U);
}

TEST(LatencyHistogramTest, EmptyHasCountZero) {
  const LatencyHistogram latencies;
  EXPECT_EQ(latencies.count(), 0);
  EXPECT_EQ(latencies.min(), 0);
  EXPECT_EQ(latencies.max(), 0);
}

TEST(LatencyHistogramTest, MinimumMaximumCountAndMeanAreExact) {
  LatencyHistogram latencies;
  for (const std::int64_t ns : {1'000'003, 17, 40'000'001}) latencies.Add(ns);
  EXPECT_EQ(latencies.count(), 3);
  EXPECT_EQ(latencies.min(), 17);
  EXPECT_EQ(latencies.max(), 40'000'001);
  // (1000003 + 17 + 40000001) / 3 = 41000021 / 3.
  EXPECT_DOUBLE_EQ(latencies.Mean(), 41'000'021.0 / 3.0);
}

TEST(LatencyHistogramTest, ValuesBelow128AreToldApart) {
  LatencyHistogram latencies;
  for (std::int64_t ns = 1; ns <= 100; ++ns) latencies.Add(ns);
  EXPECT_EQ(latencies.Quantile(0.5), 50);
  EXPECT_EQ(latencies.Quantile(0.99), 99);
  EXPECT_EQ(latencies.Quantile(1.0), 100);
  EXPECT_EQ(latencies.Quantile(0.001), 1);
  // 0.07 * 100 is 7.000000000000001 in binary: rank 7, not 8.
  EXPECT_EQ(latencies.Quantile(0.07), 7);
}

TEST(LatencyHistogramTest, AQuantileIsAtMostA64thAboveTheTrueOne) {
  LatencyHistogram latencies;
  // 1 us to 10 ms in steps of 1 us: the quantile q is q * 10 ms, exactly.
  for (std::int64_t us = 1; us <= 10'000; ++us) latencies.Add(us * 1000);
  for (const double quantile : {0.01, 0.1, 0.5, 0.9, 0.99, 0.999}) {
    const double exact = quantile * 10'000'000;
    const auto shown = static_cast<double>(latencies.Quantile(quantile));
    EXPECT_GE(shown, exact) << quantile;
    EXPECT_LE(shown, exact * (1 + 1.0 / 64)) << quantile;
  }
}

TEST(LatencyHistogramTest, AQuantileNeverLeavesWhatWasSeen) {
  LatencyHistogram latencies;
  latencies.Add(1'000'000);
  EXPECT_EQ(latencies.Quantile(0.5), 1'000'000);
  EXPECT_EQ(latencies.Quantile(1.0), 1'000'000);
}

TEST(LatencyHistogramTest, TheLongestAndTheNegativeAreTaken) {
  LatencyHistogram latencies;
  latencies.Add(std::numeric_limits<std::int64_t>::max());
  latencies.Add(-5);
  EXPECT_EQ(latencies.min(), 0);
  EXPECT_EQ(latencies.max(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(latencies.Quantile(0.5), 0);
  EXPECT_EQ(latencies.Quantile(1.0), std::numeric_limits<std::int64_t>::max());
}

// Every bin edge: 2^k - 1 and 2^k must come back within a 64th.
TEST(LatencyHistogramTest, EveryPowerOfTwoIsRepresented) {
  for (int bit = 0; bit < 62; ++bit) {
    for (const std::int64_t offset : {-1, 0}) {
      const std::int64_t value = (std::int64_t{1} << bit) + offset;
      LatencyHistogram latencies;
      latencies.Add(value);
      latencies.Add(std::numeric_limits<std::int64_t>::max());
      EXPECT_GE(latencies.Quantile(0.5), value) << bit;
      EXPECT_LE(latencies.Quantile(0.5), value + value / 64) << bit;
    }
  }
}

}  // namespace
}  // namespace wiretoll

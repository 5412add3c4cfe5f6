// Medians, how well they are known, and chance of our own making.
#ifndef WIRETOLL_HARNESS_ANALYSIS_STATISTICS_H_
#define WIRETOLL_HARNESS_ANALYSIS_STATISTICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "harness/analysis/analysis.h"

namespace wiretoll {

// Fewer values have a median and no interval.
inline constexpr std::size_t kLeastForInterval = 3;
inline constexpr double kTail = 0.025;  // On either side of 95 %.

// xoshiro256**, seeded by splitmix64 (D. Blackman, S. Vigna, 2018): the same
// numbers from the same seed on every platform and library.
class Random {
 public:
  explicit Random(std::uint64_t seed);
  std::uint64_t Next();
  // Below `limit`, which is at least 1 and at most 2^32.
  std::size_t Below(std::size_t limit);

 private:
  std::array<std::uint64_t, 4> state_;
};

// Sorts `values`. The mean of the middle two of an even number. Requires one.
double SortedMedian(std::vector<double>& values);

// 95 % intervals of medians.
//
// A bootstrap of the median asks which of the sorted values the medians of
// resamples are, and that depends on their number alone: so the 1000 resamples
// are drawn once for each number of values, and give the ranks where the
// interval begins and ends.
//
// With few values that interval is too narrow: of 5 it is the least and the
// greatest, which misses the median 1 time in 16, not 1 in 20. So
//   6 to 200 values  it is widened to the ranks between which the median lies
//                    by the sign test (binomial, exact, any distribution);
//   3 to 5           no two ranks reach 95 %; it spans all values, and at
//                    least Student's interval of the mean, on a logarithmic
//                    scale where all values are above 0. Exact or wider for
//                    normal (log-normal) values, close for symmetric ones, and
//                    the logarithm of a ratio of two alike is symmetric;
//   above 200        the sign test's ranks alone; both are one by then.
// Values that are all the same have an interval of no width.
class MedianIntervals {
 public:
  explicit MedianIntervals(std::uint64_t seed) : seed_(seed) {}
  // Requires at least one value.
  Estimate Of(std::vector<double> values);

 private:
  using Ranks = std::pair<std::size_t, std::size_t>;  // From 0, both included.
  Ranks RanksOf(std::size_t count);
  [[nodiscard]] Ranks BootstrapRanks(std::size_t count) const;

  std::uint64_t seed_;
  std::map<std::size_t, Ranks> ranks_;
};

// Over the values of all blocks; empty without any.
std::optional<Estimate> EstimateOf(const BlockValues& by_block,
                                   MedianIntervals& intervals);

// As PairedRatio of analysis.h, with intervals at hand.
std::optional<Ratio> PairedRatio(const BlockValues& a, const BlockValues& b,
                                 MedianIntervals& intervals);

// a / b in each block that both have and where it is defined (b not 0).
BlockValues RatioByBlock(const BlockValues& a, const BlockValues& b);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_STATISTICS_H_

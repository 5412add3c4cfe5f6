// Two medians whose blocks have nothing to do with each other.
#ifndef WIRETOLL_HARNESS_ANALYSIS_UNPAIRED_H_
#define WIRETOLL_HARNESS_ANALYSIS_UNPAIRED_H_

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "harness/analysis/analysis.h"

namespace wiretoll {

// next / base, of medians.
struct UnpairedRatio {
  double median = 0;                 // The median of one over the other's.
  std::optional<Interval> interval;  // None with under three on either side.
  int base_blocks = 0, next_blocks = 0;
  Verdict verdict = Verdict::kNotDistinguishable;  // Interval over 1, or none.
};

// 95 % intervals of such ratios.
//
// A bootstrap of few blocks is too narrow: of 3 against 3 it spans all ratios,
// and 2 of the 20 orders of six equals lie wholly on one side. So the interval
// is that of Mann and Whitney's rank test (H. B. Mann, D. R. Whitney, 1947; its
// shift as E. L. Lehmann gives it, 1963): of all ratios of a value of the one
// to a value of the other, in order, as many are left out at each end as the
// test's 2.5 % allow. It supposes that the two differ by a factor and in
// nothing else. Whatever the values' distribution, two runs of equals are then
// told apart in at most 5 % of comparisons: the count is exact up to some 50
// blocks a side, by the normal approximation beyond, and equal values make it
// more careful, not less.
//   3 against 3 or 4 the test cannot tell anything at 5 %: 1 of the 20 or 35
//                    orders is more than 2.5 %. The interval spans all
//                    ratios, and at least Student's of the two mean
//                    logarithms. Exact or wider for log-normal values.
// It is widened to hold the ratio of the medians where that lies outside.
class UnpairedIntervals {
 public:
  // Empty if a side has no value or one that is not above 0.
  std::optional<UnpairedRatio> Of(const std::vector<double>& next,
                                  const std::vector<double>& base);

 private:
  // Which ratio from either end (the first is 1) bounds the interval; empty:
  // the test cannot tell.
  std::optional<std::size_t> TailOf(std::size_t a, std::size_t b);
  Interval IntervalOf(const std::vector<double>& next_logs,
                      const std::vector<double>& base_logs);

  std::map<std::pair<std::size_t, std::size_t>, std::optional<std::size_t>>
      tails_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_UNPAIRED_H_

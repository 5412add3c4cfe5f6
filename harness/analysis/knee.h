// Where a curve stops growing.
#ifndef WIRETOLL_HARNESS_ANALYSIS_KNEE_H_
#define WIRETOLL_HARNESS_ANALYSIS_KNEE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/analysis/analysis.h"

namespace wiretoll {

// What more has to bring to count as growth: 5 %.
inline constexpr double kGrowth = 0.05;
inline constexpr std::size_t kLeastKneeSizes = 4;

struct CurvePoint {
  double size = 0;
  BlockValues values;  // Of one metric that is better the larger it is.
};

// The knee of `curve` is the smallest size that no larger one beats by more
// than kGrowth: the smallest s with y(t) <= (1 + kGrowth) y(s) for every t > s,
// y being the medians over blocks. The rule asks nothing of the curve's shape
// before the knee, and a curve that falls again behind it has its knee all the
// same. The interval is the rule's own over 2000 resamples of whole blocks (a
// block's values stay together, so what disturbed a block disturbs all of its
// sizes; percentile bootstrap, 95 %, seeded).
//
// `points` in any order, sizes different. Empty below kLeastKneeSizes sizes.
std::optional<Knee> FindKnee(std::vector<CurvePoint> points,
                             std::uint64_t seed);

// Of throughput against the factor of `study` that says how much is handed
// over (block where it varies, else write), for each of its curves with all
// else equal. Cells of factors or hosts of their own are curves of their own.
std::vector<KneeRow> KneesOf(const std::vector<Study>& studies,
                             const std::vector<Cell>& cells,
                             std::uint64_t seed);

// "80,000 bytes (more than 40,000, at most 400,000)", "no knee in the range:
// ...".
std::string KneeInWords(const Knee& knee);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_KNEE_H_

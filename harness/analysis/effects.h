// What switching one factor does, all else equal.
#ifndef WIRETOLL_HARNESS_ANALYSIS_EFFECTS_H_
#define WIRETOLL_HARNESS_ANALYSIS_EFFECTS_H_

#include <string>
#include <vector>

#include "harness/analysis/analysis.h"
#include "harness/analysis/statistics.h"

namespace wiretoll {

// Of throughput, efficiency, bytes a segment and median latency, wherever both
// cells have the figure.
std::vector<Effect> EffectsOf(const std::vector<Study>& studies,
                              const std::vector<Cell>& cells,
                              MedianIntervals& intervals);

// The cells that differ in nothing but `factor`, in groups. `cells` are
// indexes; factors are those of `varying`.
std::vector<std::vector<std::size_t>> GroupAllElseEqual(
    const std::vector<Cell>& all, const std::vector<std::size_t>& cells,
    const std::vector<std::string>& varying, const std::string& factor);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_EFFECTS_H_

// Two systems side by side, and which end makes the difference.
#ifndef WIRETOLL_HARNESS_ANALYSIS_CONTRAST_H_
#define WIRETOLL_HARNESS_ANALYSIS_CONTRAST_H_

#include <string>
#include <vector>

#include "harness/analysis/analysis.h"
#include "harness/analysis/statistics.h"

namespace wiretoll {

// "speed", "segments_per_write", "sender_cpu", ...
std::string SideFigureName(SideFigure figure);

// One for each two systems (os and stack) that met in a run and study, streams
// and request-responses apart. Where one of the two is Linux it is the first.
// Ratios are paired by block; several pairs of hosts in one direction count as
// their geometric mean in each block.
std::vector<Contrast> ContrastsOf(const std::vector<RunRecord>& runs,
                                  const std::vector<Cell>& cells,
                                  MedianIntervals& intervals);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_CONTRAST_H_

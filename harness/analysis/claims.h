// Published sentences, answered from cells.
#ifndef WIRETOLL_HARNESS_ANALYSIS_CLAIMS_H_
#define WIRETOLL_HARNESS_ANALYSIS_CLAIMS_H_

#include <vector>

#include "harness/analysis/analysis.h"
#include "harness/analysis/statistics.h"

namespace wiretoll {

// Answers every claim of every study of `analysis` (its runs, studies and
// cells are read). The system of a cell's end is what its samples say: "wine"
// is not "windows", so nothing about Windows is ever answered from Wine.
// An answer needs three blocks, because it needs an interval.
std::vector<ClaimResult> AnswerClaims(const Analysis& analysis,
                                      MedianIntervals& intervals);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_CLAIMS_H_

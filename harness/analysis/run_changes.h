// What two runs differ in beside their figures: hosts, facts, the way they
// were run.
#ifndef WIRETOLL_HARNESS_ANALYSIS_RUN_CHANGES_H_
#define WIRETOLL_HARNESS_ANALYSIS_RUN_CHANGES_H_

#include <string>
#include <vector>

#include "harness/analysis/compare.h"
#include "harness/samples/run_folder.h"

namespace wiretoll {

// By name where both runs have it. The others are matched where that keeps
// every pair: by their systems if there is one such way, else by the order in
// which the runs list them; and not at all where their numbers differ.
HostMatch MatchHosts(const RunRecord& base, const RunRecord& next);

// Facts with two values, or observed in one run only. What hosts share in the
// same way is one entry.
std::vector<ChangedFact> ChangedFacts(const RunRecord& base,
                                      const RunRecord& next,
                                      const HostMatch& match);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_RUN_CHANGES_H_

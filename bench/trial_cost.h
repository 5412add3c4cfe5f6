// What a trial costs beyond its own duration.
#ifndef WIRETOLL_BENCH_TRIAL_COST_H_
#define WIRETOLL_BENCH_TRIAL_COST_H_

#include "harness/base/result.h"
#include "harness/lab/lab.h"

namespace wiretoll {

struct TrialCost {
  int trials = 0;
  int ok = 0;
  double total_seconds = 0;  // Of the whole run, samples written.
  double overhead_ms = 0;    // (total - the trials' own time) / trials.
  double mean_trial_ms = 0;  // First Send to end of stream.
};

// A run of `trials` trials that each write for 2 ms.
Outcome<TrialCost> MeasureTrialCost(const Lab& lab, int trials);

}  // namespace wiretoll

#endif  // WIRETOLL_BENCH_TRIAL_COST_H_

// How long a trial should take, and when to give it up.
#ifndef WIRETOLL_HARNESS_RUN_TRIAL_TIME_H_
#define WIRETOLL_HARNESS_RUN_TRIAL_TIME_H_

#include <chrono>

#include "harness/base/units.h"
#include "harness/samples/run_folder.h"
#include "harness/study/study.h"

namespace wiretoll {

// A first guess, for the time left before anything was measured: what the
// study tells it to last, the line's rate where it is known, and the round
// trips of a connection over the link's delay. Above 0. `flows` of that
// workload share the line: with each of them as slow as if all went one way.
Nanoseconds ExpectedTime(const Workload& workload, const RecordedLink& link,
                         int flows = 1);

// Long enough for the trial to end by itself on a slow host and over a long
// link, short enough that a dead one does not hold up the run. From 15 s to
// 4000 s. It bounds the whole trial: what was written but not yet read when a
// stop comes has to be read within it too. With `flows` at once all that the
// line or the machine bounds takes so many times as long.
std::chrono::milliseconds DeadlineFor(const Workload& workload,
                                      const RecordedLink& link, int flows = 1);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_RUN_TRIAL_TIME_H_

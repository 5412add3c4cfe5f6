// `wiretoll sink`: a receiver for senders that are not ours.
#ifndef WIRETOLL_HARNESS_PROGRAMS_SINK_VERB_H_
#define WIRETOLL_HARNESS_PROGRAMS_SINK_VERB_H_

#include "harness/base/result.h"
#include "harness/programs/options.h"

namespace wiretoll {

// Prints the figures of each stream as it ends. kTrialsFailed where one was cut
// short or broke, kNothingRan where nobody came.
Outcome<ExitCode> SinkVerb(const SinkOptions& options);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PROGRAMS_SINK_VERB_H_

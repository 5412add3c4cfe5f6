// `wiretoll observe`: what a capture shows.
#ifndef WIRETOLL_HARNESS_PROGRAMS_OBSERVE_VERB_H_
#define WIRETOLL_HARNESS_PROGRAMS_OBSERVE_VERB_H_

#include "harness/base/result.h"
#include "harness/programs/options.h"

namespace wiretoll {

// Prints each file's figures; a file that is no capture, or holds no such
// flow, is told on standard error, and the code is kUsage then.
Outcome<ExitCode> ObserveVerb(const ObserveOptions& options);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PROGRAMS_OBSERVE_VERB_H_

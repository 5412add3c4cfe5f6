// `wiretoll compare`: two run folders, side by side.
#ifndef WIRETOLL_HARNESS_PROGRAMS_COMPARE_VERB_H_
#define WIRETOLL_HARNESS_PROGRAMS_COMPARE_VERB_H_

#include "harness/base/result.h"
#include "harness/programs/options.h"

namespace wiretoll {

// Prints the comparison, and writes it where --out says. kSomeTrialsFailed
// (1) if --fail-on was given and a cell is slower by more, its whole interval:
// standard error then names it. A failure says what to print and which code.
Outcome<ExitCode> CompareVerb(const CompareOptions& options);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PROGRAMS_COMPARE_VERB_H_

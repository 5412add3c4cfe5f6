// `wiretoll check`: can these hosts be measured between, and what do they see?
#ifndef WIRETOLL_HARNESS_PROGRAMS_CHECK_VERB_H_
#define WIRETOLL_HARNESS_PROGRAMS_CHECK_VERB_H_

#include "harness/base/result.h"
#include "harness/programs/options.h"

namespace wiretoll {

// Prints what was found; the code says whether all is well (CodeOf, in
// harness/check/check.h). A failure is of the file.
Outcome<ExitCode> CheckVerb(const CheckOptions& options);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PROGRAMS_CHECK_VERB_H_

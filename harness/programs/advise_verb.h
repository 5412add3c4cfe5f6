// `wiretoll advise`: which limit holds between two hosts, and what to set.
#ifndef WIRETOLL_HARNESS_PROGRAMS_ADVISE_VERB_H_
#define WIRETOLL_HARNESS_PROGRAMS_ADVISE_VERB_H_

#include "harness/base/result.h"
#include "harness/programs/options.h"

namespace wiretoll {

// Prints the advice; the code says whether it could be had (CodeOf, in
// harness/advise/advise.h). A failure says what to print and which code.
Outcome<ExitCode> AdviseVerb(const AdviseOptions& options);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PROGRAMS_ADVISE_VERB_H_

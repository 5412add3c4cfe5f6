// `wiretoll explain`: the story of one trial.
#ifndef WIRETOLL_HARNESS_PROGRAMS_EXPLAIN_VERB_H_
#define WIRETOLL_HARNESS_PROGRAMS_EXPLAIN_VERB_H_

#include "harness/base/result.h"
#include "harness/programs/options.h"

namespace wiretoll {

// Writes page and slides and prints their names, or prints text or JSON;
// without a trial lists those that have a capture. A failure says what to print
// and which code.
Outcome<ExitCode> ExplainVerb(const ExplainOptions& options);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PROGRAMS_EXPLAIN_VERB_H_

// `wiretoll export`: run folders as tables.
#ifndef WIRETOLL_HARNESS_PROGRAMS_EXPORT_VERB_H_
#define WIRETOLL_HARNESS_PROGRAMS_EXPORT_VERB_H_

#include "harness/base/result.h"
#include "harness/programs/options.h"

namespace wiretoll {

// Says on standard error what was added of each run. A failure says what to
// print and which code: kUsage also where neither --sqlite nor --csv is given.
Outcome<ExitCode> ExportVerb(const ExportOptions& options);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PROGRAMS_EXPORT_VERB_H_

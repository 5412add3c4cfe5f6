// `wiretoll run`: studies, hosts, trials, report.
#ifndef WIRETOLL_HARNESS_PROGRAMS_RUN_VERB_H_
#define WIRETOLL_HARNESS_PROGRAMS_RUN_VERB_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/programs/options.h"
#include "harness/study/study.h"

namespace wiretoll {

// Gives the exit code: kSomeTrialsFailed also where the run was cut short or
// its report could not be written, which is then said. A failure says what to
// print and which code.
Outcome<ExitCode> RunVerb(const RunOptions& options);

// The run folder that `name` means: itself, or, of run.json or samples.jsonl,
// the folder they are in. kUsage for another file. Looks no further.
Outcome<std::filesystem::path> RunFolder(const std::string& name);

// Where the studies that come with wiretoll are; empty if nowhere.
std::filesystem::path CasesFolder();

// A name ("quick") or a file ("./my.toml"). kUsage lists what there is.
Outcome<Study> FindStudy(const std::string& name);

// Takes out the cells that the filter does not want; an empty one wants all.
// kUsage: it is wrong, or leaves none.
Outcome<Done> KeepFiltered(const std::string& expression,
                           std::vector<Study>& studies);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PROGRAMS_RUN_VERB_H_

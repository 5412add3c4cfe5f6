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

// Gives the exit code; a failure says what to print and which code.
Outcome<ExitCode> RunVerb(const RunOptions& options);

// Where the studies that come with wiretoll are; empty if nowhere.
std::filesystem::path CasesFolder();

// A name ("quick") or a file ("./my.toml"). kUsage lists what there is.
Outcome<Study> FindStudy(const std::string& name);

// The lab that the options ask for, with the agent beside this program.
LabSpec ToLabSpec(const LabOptions& options);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PROGRAMS_RUN_VERB_H_

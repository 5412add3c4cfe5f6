// What limits a pair of hosts and what to set: measured by ordinary trials,
// diagnosed by harness/advise/limits.h, and, in a lab, verified.
#ifndef WIRETOLL_HARNESS_ADVISE_ADVISE_H_
#define WIRETOLL_HARNESS_ADVISE_ADVISE_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/advise/changes.h"
#include "harness/advise/evidence.h"
#include "harness/advise/limits.h"
#include "harness/base/result.h"
#include "harness/base/units.h"
#include "harness/run/agent_link.h"
#include "harness/run/hosts.h"
#include "harness/run/progress.h"
#include "harness/samples/run_folder.h"
#include "harness/study/study.h"

namespace wiretoll {

// Runs one command as a host's administrator, through a shell there.
// kNothingRan: it failed, with what it said.
using ApplyCommand = std::function<Outcome<Done>(const std::string& host,
                                                 const std::string& command)>;

struct AdviseSpec {
  Host sender;
  Host receiver;
  RecordedLink link;
  // Asked for where the workload names none; empty: the host's own. A lab has
  // hosts whose defaults differ.
  std::string congestion;
  Workload subject;  // What is diagnosed.
  std::string name;  // Of it, for people; empty: spelled from the workload.
  int repeats = 5;
  Nanoseconds time{1'000'000'000};  // Of each stream of ours, at least.
  std::uint16_t first_port = 0;     // Data ports at the receiver.
  std::uint16_t last_port = 0;
  HandleGuard guard;  // platform's KeepFromChildren.
  // Why the ground carries no trial any more; empty: it does. May be empty.
  std::function<std::string()> trouble;
  ApplyCommand verify;  // Empty: no verification.
};

// One change, tried: blocks of a trial without and one with it, in turn.
struct Verification {
  std::vector<SettingChange> changes;  // Those that were made together.
  std::string not_done;                // Why nothing was tried; else empty.
  Aim aim = Aim::kThroughput;
  std::optional<RepeatedFigure> before, after;  // In the aim's unit.
  std::optional<RepeatedFigure> ratio;          // After over before, by blocks.
  std::vector<std::string> troubles;            // What failed on the way.
};

struct Advice {
  Evidence evidence;
  std::vector<Finding> findings;  // The limit that holds first.
  std::vector<std::vector<SettingChange>> changes;  // Of each finding.
  std::optional<Verification> verification;
};

// The default of what is diagnosed: a stream as a program with 64 KiB calls
// has it, with the hosts' own defaults.
Workload BulkStream(Nanoseconds time);

// kNothingRan: a host's agent cannot be had, or not even a byte passes; it
// names host or pair, and the remedy. kSomeTrialsFailed: it was interrupted.
// Every wait is bounded.
Outcome<Advice> Advise(const AdviseSpec& spec, Progress& progress);

// The findings and changes that follow from evidence.
Advice Diagnose(Evidence evidence);

// Of a recorded run: a cell each, with the evidence its trials hold. kUsage:
// the folder cannot be read.
struct RecordedCell {
  std::string study;
  std::string case_id;
  Factors factors;
  Advice advice;
};
Outcome<std::vector<RecordedCell>> AdviseOnRun(
    const std::filesystem::path& folder);

// kDone: it was found out; kSomeTrialsFailed: trials failed for another reason
// than the limit found.
ExitCode CodeOf(const Advice& advice);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ADVISE_ADVISE_H_

// The run: agents started, blocks of trials in shuffled order, every trial's
// sample on disk before the next begins.
#ifndef WIRETOLL_HARNESS_RUN_RUN_H_
#define WIRETOLL_HARNESS_RUN_RUN_H_

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/plan/plan.h"
#include "harness/run/agent_link.h"
#include "harness/run/hosts.h"
#include "harness/run/progress.h"
#include "harness/samples/run_folder.h"
#include "harness/samples/sample.h"
#include "harness/study/study.h"

namespace wiretoll {

struct RunSpec {
  std::vector<Study> studies;
  std::vector<Host> hosts;
  std::vector<Pair> pairs;
  int blocks = 5;  // At most; RunHooks::enough may end it before.
  std::uint64_t seed = 0;
  std::uint16_t first_port = 0;  // Data ports at the receiver.
  std::uint16_t last_port = 0;
  std::optional<std::chrono::milliseconds> trial_deadline;  // Else by workload.
  std::filesystem::path folder;
  // Of each trial whose study asks for one, or of all.
  bool capture = false;
  std::uint32_t snap_bytes = 128;
  // Of each trial over TCP, a moment this often; else as its study says.
  std::optional<Nanoseconds> series;
  bool resume = false;  // `folder` holds a run: do what is missing.
  // What run.json is to say; Run fills in what the hosts tell.
  RunRecord record;
};

// What the runner is given from other parts of the program.
struct RunHooks {
  // platform's KeepFromChildren.
  HandleGuard guard;
  // Of a sample that both ends reported on: who saw the wire, and what it
  // carried (IP version 4 or 6); and what its capture in the folder holds.
  std::function<void(const std::filesystem::path& folder, int ip_version,
                     Sample& sample)>
      account;
  // Called with every sample, also those of the part already done.
  std::function<void(const Sample&)> seen;
  // Why the ground that hosts stand on carries no trial any more; empty: it
  // does. Asked often. Trials fail with that reason. May be empty.
  std::function<std::string()> trouble;
  // Asked after each block: is it known well enough?
  std::function<bool()> enough;
};

struct RunSummary {
  std::int64_t ok = 0, failed = 0, skipped = 0;
  std::int64_t before = 0;         // Of these, found done by --resume.
  std::int64_t left = 0;           // Planned and not done.
  int blocks = 0;                  // Complete ones.
  bool interrupted = false;        // Ctrl-C, or asked to terminate.
  std::optional<Failure> trouble;  // What ended it before its time.
};

// kNothingRan if no pair has both its hosts, the folder cannot be made, or it
// was interrupted before the first trial;
// kUsage if what is to be resumed is another run. Whatever goes wrong once
// trials run costs those trials and is in their samples.
Outcome<RunSummary> Run(RunSpec spec, const RunHooks& hooks,
                        Progress& progress);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_RUN_RUN_H_

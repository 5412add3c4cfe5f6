// Where a verb that measures does so: hosts of the user's, a lab of ours, or
// loopback where none can be made.
#ifndef WIRETOLL_HARNESS_PROGRAMS_GROUND_H_
#define WIRETOLL_HARNESS_PROGRAMS_GROUND_H_

#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/lab/lab.h"
#include "harness/programs/options.h"
#include "harness/run/hosts.h"
#include "harness/samples/run_folder.h"

namespace wiretoll {

struct Ground {
  std::vector<Host> hosts;
  RecordedLink link;
  std::string congestion;  // For trials whose study names none; may be empty.
  std::optional<Lab> lab;  // Alive as long as this is.
  std::string line_check;  // What is to be told of it before a study runs.
};

struct GroundSpec {
  std::optional<std::string> hosts;  // The file; else a lab.
  LabOptions lab;
  bool quiet = false;
  // The program's own, for where it has to start itself again inside a user
  // namespace to be let make a lab.
  std::vector<std::string> arguments;
};

// kUsage: the file is bad, or no lab can be as asked for. kNothingRan: no lab
// can be made. What is made is told on standard error, unless `quiet`.
Outcome<Ground> FindGround(const GroundSpec& spec);

// What to tell of a lab whose making takes over a second, a line; else empty.
std::string LongLineWarning(const LabOptions& options);

// What to tell of a lab's line as it was measured: a line of figures, not if
// `quiet`, and a line for each that misses what was asked for; else empty.
std::string TellLineCheck(const LinkCheck& check, bool quiet);

// The lab that the options ask for, with the agent beside this program.
LabSpec ToLabSpec(const LabOptions& options);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PROGRAMS_GROUND_H_

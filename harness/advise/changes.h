// What to change for a finding, on which host, by which command: texts alone,
// nothing here runs them.
#ifndef WIRETOLL_HARNESS_ADVISE_CHANGES_H_
#define WIRETOLL_HARNESS_ADVISE_CHANGES_H_

#include <optional>
#include <string>
#include <vector>

#include "harness/advise/evidence.h"
#include "harness/advise/limits.h"
#include "harness/study/study.h"

namespace wiretoll {

inline constexpr const char* kSysctlFile = "/etc/sysctl.d/90-wiretoll.conf";

// What a change is to make better, and a verification measures.
enum class Aim {
  kThroughput,  // bytes/s of payload: more.
  kRound,       // A round of a request-response: shorter.
  kLoadedRtt,   // The round trip beside a stream: shorter.
};

// One way out. Of a host: `now`, each whole on a line for a shell of that
// system, by an administrator; `file` and `line` keep it over a restart where
// there is such a file; `undo` as `now`, with what was read before. Of a
// program: `words` alone.
struct SettingChange {
  std::string host;
  bool windows = false;  // The commands were never run by wiretoll.
  std::string words;     // What it does, and what it costs.
  std::vector<std::string> now;
  std::string file, line;
  std::vector<std::string> undo;
  std::string why_no_undo;  // What was set before could not be read.
  // False: it would take away what makes a lab's line.
  bool lab_safe = true;
  // Of a program: what its trials would do.
  std::optional<Workload> instead;
  Aim aim = Aim::kThroughput;
  // By theory, in the aim's unit (bytes/s, ns): as it is, and as it would be.
  std::optional<double> from, to;
  std::string gain;  // In words, with the theory.
};

// Best first; none where nothing is wrong (the line, a round trip) or nothing
// is known to help.
std::vector<SettingChange> ChangesFor(const Finding& finding,
                                      const Evidence& evidence);

// The room for twice the line's bandwidth-delay product, or for four times what
// is there now, whichever is more; a power of two. At most 64 MiB.
Bytes WindowToAimAt(const Evidence& evidence);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ADVISE_CHANGES_H_

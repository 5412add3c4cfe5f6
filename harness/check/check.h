// Whether hosts can be measured between, and what each will let us see:
// agents started, addresses bound, clocks compared, every ordered pair tried
// with two small trials. Nothing is left running.
#ifndef WIRETOLL_HARNESS_CHECK_CHECK_H_
#define WIRETOLL_HARNESS_CHECK_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/agent/protocol.h"
#include "harness/base/result.h"
#include "harness/base/units.h"
#include "harness/run/agent_link.h"
#include "harness/run/hosts.h"
#include "harness/run/progress.h"
#include "harness/samples/sample.h"

namespace wiretoll {

struct CheckSpec {
  std::string file;  // Of `hosts`, as the user named it.
  std::vector<Host> hosts;
  std::optional<std::int64_t> declared_mtu;  // What [path] says, bytes.
  std::uint16_t first_port = 0;              // Data ports at the receiver.
  std::uint16_t last_port = 0;
  HandleGuard guard;  // platform's KeepFromChildren.
};

// A way out: a sentence, and commands to type, each whole on a line.
struct Remedy {
  std::string words;
  std::vector<std::string> commands;
  bool operator==(const Remedy&) const = default;
};

struct CheckProblem {
  enum class Kind {
    kAgent,     // Does not start, is none, died, or does not answer.
    kVersion,   // Another wiretoll's agent.
    kAddress,   // Not one of the host's, or no data port is free there.
    kReach,     // No connection between two hosts.
    kSegments,  // A byte passes, full segments do not.
    kTrial,     // Any other failure of a trial.
  };
  Kind kind = Kind::kAgent;
  std::string what;  // Names the host or pair, or the option.
  std::vector<Remedy> remedies;
};

// Lower-case, one word: "agent".
std::string_view NameOf(CheckProblem::Kind kind);

// How far a host's wall clock is ahead of this machine's, as one exchange of
// messages shows (RFC 5905, 8): the host's reading lay somewhere between our
// two, so the figure is wrong by half the round trip at most.
struct ClockOffset {
  Nanoseconds ahead{0};   // Below 0: behind.
  Nanoseconds within{0};  // Half of the shortest round trip.
};

// Whether one end of a connection counted something, by name.
struct Sight {
  std::string_view key;   // For programs: "data_segments".
  std::string_view name;  // For people.
  bool seen = false;
};

// What a host's kernel tells of a connection, at one of its ends.
struct Sights {
  bool tried = false;       // Else `seen` is empty and `reason` says why.
  std::vector<Sight> seen;  // In a fixed order.
  std::string reason;       // Why what is not seen is not; the agent's words.
};

// Work that the network card, or the layer above it, does for TCP. With it on,
// a capture on the host shows segments larger than those on the wire.
struct Offload {
  std::string name;  // As the host's facts have it: "tso".
  Observed<bool> on;
};

struct HostCheck {
  Host host;
  std::optional<Hello> hello;  // Also of an agent of another version.
  bool usable = false;         // Trials can be run here.
  std::string interface;       // Carries the address; empty: not known.
  Observed<std::int64_t> mtu_bytes;
  std::vector<Offload> offloads;  // Those the system has a word for.
  Observed<ClockOffset> clock;
  Sights sends;
  Sights receives;
  // `run --capture` can capture here; else why not, and what would allow it.
  // Empty with the reason: not tried.
  std::optional<bool> captures;
  std::string why_no_captures = "its agent was not asked";
  std::vector<std::string> notes;  // What is no problem and good to know.
  std::vector<CheckProblem> problems;
};

struct PairCheck {
  std::string sender;
  std::string receiver;
  // A connection came about and 1-byte messages went both ways. Empty: not
  // tried, and `not_tried` says why.
  std::optional<bool> reaches;
  std::string not_tried;
  Observed<LatencySummary> round_trip;  // Of 1 byte and its answer, no Nagle.
  // 64 KiB went through whole. Empty: not tried.
  std::optional<bool> full_segments;
  Observed<std::int64_t> path_mtu_bytes;  // As the sender's kernel has it.
  // Who counts the segments with data.
  std::optional<bool> sender_counts;
  std::optional<bool> receiver_counts;
  std::vector<std::string> notes;
  std::optional<CheckProblem> problem;
};

struct CheckReport {
  std::string file;
  std::uint16_t first_port = 0;
  std::uint16_t last_port = 0;
  std::vector<HostCheck> hosts;
  std::vector<PairCheck> pairs;  // Every ordered pair.
  bool interrupted = false;      // Ctrl-C, or asked to terminate.
};

// Every problem of hosts, then of pairs.
std::vector<CheckProblem> ProblemsOf(const CheckReport& report);

// kDone: no problem; kSomeTrialsFailed: some, or it was cut short;
// kNothingRan: no agent answered at all.
ExitCode CodeOf(const CheckReport& report);

// Never fails: what goes wrong is what it reports. Each wait is bounded, by
// 20 s at most; a host that does not answer once is not asked again. SIGINT,
// SIGTERM and SIGHUP end it with what was found so far.
CheckReport CheckHosts(const CheckSpec& spec, Progress& progress);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_CHECK_CHECK_H_

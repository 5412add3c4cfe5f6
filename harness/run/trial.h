// Trials, each on one pair, from the coordinator's side: alone or several at
// once.
#ifndef WIRETOLL_HARNESS_RUN_TRIAL_H_
#define WIRETOLL_HARNESS_RUN_TRIAL_H_

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/agent/protocol.h"
#include "harness/run/agent_link.h"
#include "harness/run/hosts.h"
#include "harness/samples/sample.h"
#include "harness/study/study.h"

namespace wiretoll {

// One end of the pair for this trial.
struct TrialEnd {
  const Host* host = nullptr;
  AgentLink* link = nullptr;
};

struct TrialSpec {
  std::string id;
  Workload workload;
  std::uint16_t first_port = 0;  // Data ports at the receiver.
  std::uint16_t last_port = 0;
  std::uint64_t payload_seed = 0;
  std::chrono::milliseconds deadline{0};
  std::string group;  // Of trials that run at once; empty: it runs alone.
  bool log_calls = false;
  std::optional<Nanoseconds> series;  // A moment this often; TCP only.
  // UDP: the sender's clock as the receiver is to read it, or why not.
  std::optional<SenderClock> sender_clock;
  std::string why_no_clock;
};

// From when to when, by the coordinator's clock.
struct TimeSpan {
  SteadyTime begin{};
  SteadyTime end{};
};

// How it ended: outcome, reason, and what each end reported, as far as it
// came. A link that failed is dead afterwards and says so.
struct TrialResult {
  TrialOutcome outcome = TrialOutcome::kFailed;
  std::string reason;
  std::optional<EndReport> sender;
  std::optional<EndReport> receiver;
  std::optional<Datagrams> datagrams;  // UDP, where both ends reported.
  bool cancelled = false;              // `cancel` said so; nothing to record.
  // When its bytes were under way: TCP's as long as the receiver read, UDP's as
  // long as the sender sent, up to when that end told of it. Empty if it gave
  // no time.
  std::optional<TimeSpan> under_way;
};

// One of several trials.
struct FlowRun {
  TrialEnd sender;
  TrialEnd receiver;
  TrialSpec spec;
};

// First each is made ready at both its ends, then all senders are told to go,
// one right after the other. What fails stops nobody else. Bounded by the
// deadlines and a few seconds for each agent that does not answer. Results in
// the order of `flows`.
std::vector<TrialResult> RunFlows(boost::asio::io_context& io,
                                  const std::vector<FlowRun>& flows,
                                  const std::function<bool()>& cancel);

TrialResult RunTrial(boost::asio::io_context& io, const TrialEnd& sender,
                     const TrialEnd& receiver, const TrialSpec& spec,
                     const std::function<bool()>& cancel);

// Round trips on the data path: a byte there and a byte back, with Nagle off,
// so many times or for so long, whichever is less.
Workload PingPong(std::int64_t rounds, Nanoseconds most);

// How much of each one's time all of them were under way, in the same order;
// empty if one of them gave no time.
std::vector<std::optional<double>> Overlaps(
    const std::vector<TrialResult>& results);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_RUN_TRIAL_H_

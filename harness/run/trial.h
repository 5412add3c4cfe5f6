// One trial on one pair, from the coordinator's side.
#ifndef WIRETOLL_HARNESS_RUN_TRIAL_H_
#define WIRETOLL_HARNESS_RUN_TRIAL_H_

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <string>

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
  bool log_calls = false;
};

// How it ended: outcome, reason, and what each end reported, as far as it
// came. A link that failed is dead afterwards and says so.
struct TrialResult {
  TrialOutcome outcome = TrialOutcome::kFailed;
  std::string reason;
  std::optional<EndReport> sender;
  std::optional<EndReport> receiver;
  bool cancelled = false;  // `cancel` said so; nothing to record.
};

TrialResult RunTrial(boost::asio::io_context& io, const TrialEnd& sender,
                     const TrialEnd& receiver, const TrialSpec& spec,
                     const std::function<bool()>& cancel);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_RUN_TRIAL_H_

// One end of one trial, from opening its socket to its report.
#ifndef WIRETOLL_HARNESS_AGENT_TRIAL_H_
#define WIRETOLL_HARNESS_AGENT_TRIAL_H_

#include <cstdint>
#include <functional>

#include "harness/agent/call_recorder.h"
#include "harness/agent/moment_sampler.h"
#include "harness/agent/protocol.h"
#include "harness/agent/trial_control.h"
#include "harness/agent/trial_loop.h"
#include "platform/host_facts.h"

namespace wiretoll {

// What is kept beside the report, to be taken in parts; each only where the
// request asks.
struct TrialRecords {
  // Takes what memory it needs at once.
  explicit TrialRecords(const TrialRequest& request)
      : calls(request.log_calls), moments(request.series, request.deadline) {}

  CallRecorder calls;
  MomentSampler moments;
};

// Runs on the calling thread, which should be the trial's own: it may be
// pinned to a CPU. Calls `ready` with the local port once, as soon as the
// other end may be told of it. Every wait ends at the control's deadline, or
// when the trial is aborted. Fills `records`. The report's host is left empty:
// an agent does not know what it is called.
TrialOutcomeAtEnd RunTrial(const TrialRequest& request, const OsIdentity& self,
                           TrialControl& control, TrialRecords& records,
                           const std::function<void(std::uint16_t)>& ready);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_TRIAL_H_

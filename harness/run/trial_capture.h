// The capture beside one trial, from the coordinator's side: begun on one of
// its hosts, ended, fetched, written into the run folder.
#ifndef WIRETOLL_HARNESS_RUN_TRIAL_CAPTURE_H_
#define WIRETOLL_HARNESS_RUN_TRIAL_CAPTURE_H_

#include <cstdint>
#include <string>

#include "harness/run/trial.h"
#include "harness/run/trial_files.h"
#include "harness/samples/sample.h"

namespace wiretoll {

// What never ends a trial: without a capture the kernels' counters remain, and
// the record says why there is none.
class TrialCapture {
 public:
  explicit TrialCapture(const TrialFiles& files) : files_(files) {}

  // At the sender's host, which sees what its writes became; else at the
  // receiver's. Live when it returns.
  void Begin(const TrialEnd& sender, const TrialEnd& receiver,
             const TrialSpec& spec, std::uint32_t snap_bytes);
  // After the trial, however it ended; links that died meanwhile cost their
  // part. Writes captures/STEM.pcapng and, of a trial that is `ok`,
  // captures/STEM.calls.csv.
  CaptureRecord End(const TrialEnd& sender, const TrialEnd& receiver, bool ok);

 private:
  bool BeginAt(const TrialEnd& here, const TrialEnd& there,
               const TrialSpec& spec, std::uint32_t snap_bytes);
  void FetchFrames();
  void FetchCalls(const TrialEnd& sender, const TrialEnd& receiver);
  void Miss(const std::string& why);

  const TrialFiles& files_;
  AgentLink* link_ = nullptr;  // Of the agent that captures.
  CaptureRecord record_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_RUN_TRIAL_CAPTURE_H_

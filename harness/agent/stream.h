// One-way stream: write and read calls of independent sizes.
#ifndef WIRETOLL_HARNESS_AGENT_STREAM_H_
#define WIRETOLL_HARNESS_AGENT_STREAM_H_

#include <cstdint>
#include <optional>

#include "harness/agent/arrival_marks.h"
#include "harness/agent/loop_buffer.h"
#include "harness/agent/trial_loop.h"
#include "harness/agent/write_plan.h"

namespace wiretoll {

// Writes what the workload's plan has, until it or the time to stop ends it.
class StreamSender : public TrialLoop {
 public:
  StreamSender(const TrialRequest& request, CallRecorder& calls);
  TrialOutcomeAtEnd Run(Socket& socket, TrialControl& control) override;

 private:
  bool WriteAll(Socket& socket, TrialControl& control);
  bool WritePaced(Socket& socket, TrialControl& control);
  // In the loop itself: a call and its return are not free, and what is
  // measured may take no more than a few hundred nanoseconds.
  [[gnu::always_inline]] bool WriteOne(Socket& socket) {
    const std::int64_t size = plan_.NextOfOneSize();
    plan_.TakeOfOneSize(size);
    return sender_.Send(socket, size);
  }
  [[nodiscard]] EndReport Report(SteadyTime ended) const;

  const Workload workload_;
  WritePlan plan_;
  Pacer pacer_;
  PayloadSender sender_;
  SteadyTime begun_{};
};

// Reads with room for workload.read bytes until the end of stream.
class StreamReceiver : public TrialLoop {
 public:
  StreamReceiver(const TrialRequest& request, CallRecorder& calls);
  TrialOutcomeAtEnd Run(Socket& socket, TrialControl& control) override;

 private:
  Error ReadToEnd(Socket& socket, TrialControl& control);
  [[nodiscard]] EndReport Report(SteadyTime ended) const;

  const Workload workload_;
  const std::optional<std::int64_t> expected_;
  CallRecorder& calls_;
  LoopBuffer room_;
  std::optional<PayloadVerifier> verifier_;
  Tally tally_;
  ArrivalMarks marks_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_STREAM_H_

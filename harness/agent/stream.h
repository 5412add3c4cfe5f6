// One-way stream: write and read calls of independent sizes.
#ifndef WIRETOLL_HARNESS_AGENT_STREAM_H_
#define WIRETOLL_HARNESS_AGENT_STREAM_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "harness/agent/loop_buffer.h"
#include "harness/agent/trial_loop.h"

namespace wiretoll {

// Writes messages of workload.write bytes until the first stop condition. The
// last one is shortened so that exactly stop_bytes are sent.
class StreamSender : public TrialLoop {
 public:
  StreamSender(const TrialRequest& request, CallRecorder& calls);
  TrialOutcomeAtEnd Run(Socket& socket, TrialControl& control) override;

 private:
  bool WriteAll(Socket& socket, TrialControl& control);
  bool WritePaced(Socket& socket, TrialControl& control);
  [[nodiscard]] bool More() const {
    return messages_ < most_messages_ && sender_.tally().bytes < most_bytes_;
  }
  // In the loop itself: a call and its return are not free, and what is
  // measured may take no more than a few hundred nanoseconds.
  [[gnu::always_inline]] bool WriteOne(Socket& socket) {
    const std::int64_t left = most_bytes_ - sender_.tally().bytes;
    ++messages_;
    return sender_.Send(socket, std::min(workload_.write.count, left));
  }
  [[nodiscard]] SteadyTime NextDue(SteadyTime written) const;
  [[nodiscard]] EndReport Report(SteadyTime ended) const;

  const Workload workload_;
  const std::int64_t most_bytes_;
  const std::int64_t most_messages_;
  PayloadSender sender_;
  LatencyHistogram pauses_;
  std::int64_t messages_ = 0;
  SteadyTime begun_{};
};

// Reads with room for workload.read bytes until the end of stream.
class StreamReceiver : public TrialLoop {
 public:
  StreamReceiver(const TrialRequest& request, CallRecorder& calls);
  TrialOutcomeAtEnd Run(Socket& socket, TrialControl& control) override;

 private:
  static constexpr std::int64_t kNever =
      std::numeric_limits<std::int64_t>::max();

  Error ReadToEnd(Socket& socket);
  void Mark();
  [[nodiscard]] EndReport Report(SteadyTime ended) const;
  void FillSteady(SteadyTime ended, EndReport& report) const;

  const Workload workload_;
  const std::optional<std::int64_t> expected_;
  CallRecorder& calls_;
  LoopBuffer room_;
  std::optional<PayloadVerifier> verifier_;
  Tally tally_;
  // Bytes at which the loop next looks at the clock: with the first byte, and
  // where a tenth has come.
  std::int64_t next_mark_ = 1;
  SteadyTime first_read_{};
  std::int64_t first_read_bytes_ = 0;
  std::optional<SteadyTime> steady_from_;
  std::int64_t steady_after_ = 0;
};

// What a stream will carry, if that is known before; a time limit may still
// end it sooner.
std::optional<std::int64_t> PlannedBytes(const Workload& workload);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_STREAM_H_

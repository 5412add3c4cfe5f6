// Request and response: each side's message is a list of writes.
#ifndef WIRETOLL_HARNESS_AGENT_REQUEST_RESPONSE_H_
#define WIRETOLL_HARNESS_AGENT_REQUEST_RESPONSE_H_

#include <cstdint>
#include <optional>

#include "harness/agent/loop_buffer.h"
#include "harness/agent/trial_loop.h"

namespace wiretoll {

// How a round, or a part of it, went.
enum class RoundEnd {
  kDone,
  kClosed,        // The peer closed where a round may end.
  kClosedInside,  // The peer closed in the middle of a round.
  kFailed,        // See the error beside it.
};

// Writes each part of the request with its own Send, then reads until the
// whole reply has come; times each round.
class RequestClient : public TrialLoop {
 public:
  RequestClient(const TrialRequest& request, CallRecorder& calls);
  TrialOutcomeAtEnd Run(Socket& socket, TrialControl& control) override;

 private:
  RoundEnd RunRounds(Socket& socket, TrialControl& control);
  RoundEnd RunRound(Socket& socket);
  RoundEnd ReadReply(Socket& socket);
  [[nodiscard]] bool More() const;
  void AddRound(Nanoseconds took);
  [[nodiscard]] EndReport Report(SteadyTime ended) const;
  [[nodiscard]] LatencySummary Summary() const;

  const Workload workload_;
  const std::int64_t reply_bytes_;
  LoopBuffer room_;
  PayloadSender sender_;
  LatencyHistogram rounds_;
  LatencyHistogram pauses_;
  std::int64_t over_30ms_ = 0;
  SteadyTime begun_{};
  Error error_;
};

// Reads until a whole request has come, then writes each part of the reply
// with its own Send; until the client's end of stream.
class RequestServer : public TrialLoop {
 public:
  RequestServer(const TrialRequest& request, CallRecorder& calls);
  TrialOutcomeAtEnd Run(Socket& socket, TrialControl& control) override;

 private:
  RoundEnd RunRounds(Socket& socket);
  RoundEnd ReadRequest(Socket& socket);
  bool Take(Socket& socket, std::int64_t moved);
  [[nodiscard]] EndReport Report(SteadyTime ended) const;

  const Workload workload_;
  const std::int64_t request_bytes_;
  LoopBuffer room_;
  std::optional<PayloadVerifier> verifier_;
  PayloadSender sender_;
  Tally tally_;               // Of what came.
  std::int64_t pending_ = 0;  // Of a request that is not yet whole.
  SteadyTime first_read_{};
  std::int64_t first_read_bytes_ = 0;
  Error error_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_REQUEST_RESPONSE_H_

// One-way stream of datagrams: what one Send call is given is one datagram.
#ifndef WIRETOLL_HARNESS_AGENT_DATAGRAMS_H_
#define WIRETOLL_HARNESS_AGENT_DATAGRAMS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/agent/arrival_marks.h"
#include "harness/agent/datagram_figures.h"
#include "harness/agent/datagram_header.h"
#include "harness/agent/loop_buffer.h"
#include "harness/agent/trial_loop.h"
#include "harness/agent/write_plan.h"
#include "platform/datagram.h"

namespace wiretoll {

// What a trial's datagrams carry: all of them, so that the shortest decides.
struct DatagramKind {
  explicit DatagramKind(const TrialRequest& request);

  std::uint32_t tag = 0;
  std::int64_t shortest = 0;  // Of what is sent, and kept of it.
  bool numbered = false;      // Tag and number.
  bool timed = false;
};

// Sends what the workload's plan has. What a call did not get away is counted
// by its reason, and has had its turn: a program that goes on does not send it
// again.
class DatagramSender : public TrialLoop {
 public:
  DatagramSender(const TrialRequest& request, CallRecorder& calls);
  TrialOutcomeAtEnd Run(Socket& socket, TrialControl& control) override;

 private:
  bool SendAll(Socket& socket, TrialControl& control);
  [[nodiscard]] bool More() const {
    return plan_.More() && next_number_ < kMostDatagrams;
  }
  bool SendNext(Socket& socket);
  Result<int> Call(Socket& socket, std::int64_t size, int count);
  void Head(std::int64_t size, int count);
  bool GoesOnAfter(const Error& error, TrialControl& control);
  bool CountNotSent(const Error& error);
  [[nodiscard]] TrialFailure Failure(const Socket& socket,
                                     const TrialControl& control) const;
  [[nodiscard]] std::string TooLarge(const Socket& socket) const;
  [[nodiscard]] EndReport Report(const Socket& socket, SteadyTime ended) const;

  const Workload workload_;
  const DatagramKind kind_;
  CallRecorder& calls_;
  WritePlan plan_;
  Pacer pacer_;
  LoopBuffer data_;
  Tally tally_;
  std::int64_t next_number_ = 0;
  NotSent not_sent_;
  int failed_in_a_row_ = 0;
  Error error_;
  SteadyTime begun_{};
};

// Receives until all that was sent is there, or nothing comes any more.
class DatagramReceiver : public TrialLoop {
 public:
  DatagramReceiver(const TrialRequest& request, CallRecorder& calls);
  TrialOutcomeAtEnd Run(Socket& socket, TrialControl& control) override;

 private:
  Error ReceiveToEnd(Socket& socket, TrialControl& control);
  Result<int> Call(Socket& socket);
  void Take(int count, SteadyTime began, const TrialControl& control);
  void TakeOne(const Datagram& datagram, const std::byte* data, SteadyTime now);
  [[nodiscard]] Arrival Judge(const Datagram& datagram, const std::byte* data);
  void Verify(std::int64_t size, const std::byte* data);
  bool Over(const TrialControl& control);
  [[nodiscard]] std::int64_t Unique() const {
    return kind_.numbered ? order_.unique() : received_;
  }
  [[nodiscard]] EndReport Report() const;
  void FillNumbers(EndReport& report) const;

  const Workload workload_;
  const DatagramKind kind_;
  CallRecorder& calls_;
  const std::int64_t room_bytes_;  // For each datagram.
  LoopBuffer room_;
  LoopBuffer pattern_;
  std::vector<Datagram> got_;
  ArrivalMarks marks_;
  ArrivalOrder order_;
  DelayTimes delays_;
  Tally tally_;             // Of calls; its bytes are those of all that came.
  std::int64_t bytes_ = 0;  // Of this trial's, each datagram once.
  std::int64_t received_ = 0;
  std::int64_t cut_ = 0;
  std::int64_t stale_ = 0;
  SteadyTime last_{};
  std::optional<std::int64_t> first_wrong_byte_;
  std::string ended_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_DATAGRAMS_H_

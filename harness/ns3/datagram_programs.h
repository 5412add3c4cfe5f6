// Sender and receiver of simulated datagrams: those of harness/agent without a
// system below them.
#ifndef WIRETOLL_HARNESS_NS3_DATAGRAM_PROGRAMS_H_
#define WIRETOLL_HARNESS_NS3_DATAGRAM_PROGRAMS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "harness/agent/arrival_marks.h"
#include "harness/agent/datagram_figures.h"
#include "harness/agent/datagrams.h"
#include "harness/agent/payload.h"
#include "harness/agent/protocol.h"
#include "harness/agent/trial_loop.h"
#include "harness/agent/write_plan.h"
#include "harness/ns3/programs.h"
#include "harness/ns3/world.h"
#include "harness/samples/sample.h"

namespace wiretoll {

class SimulatedDatagramSender : public sim::UdpSender {
 public:
  // `request` outlives it; so with the receiver.
  explicit SimulatedDatagramSender(const TrialRequest& request);

  sim::Action Next(std::int64_t now_ns) override;
  std::pair<const unsigned char*, std::int64_t> Front(
      std::int64_t now_ns, std::int64_t bytes) override;
  void Sent(std::int64_t now_ns, std::int64_t bytes,
            const std::string& error) override;

  [[nodiscard]] std::int64_t sent() const { return next_number_; }
  [[nodiscard]] EndReport Report() const;

 private:
  const bool whole_;  // All of the payload travels, for it is verified.
  const DatagramKind kind_;
  WritePlan plan_;
  SimulatedPace pace_;
  LoopBuffer data_;
  Tally tally_;
  NotSent not_sent_;
  std::int64_t next_number_ = 0;
  std::int64_t tried_ = 0;
  std::int64_t ended_ns_ = 0;
};

class SimulatedDatagramReceiver : public sim::UdpReceiver {
 public:
  // `sender` outlives it: what it sent decides when all has come.
  SimulatedDatagramReceiver(const TrialRequest& request,
                            const SimulatedDatagramSender& sender);

  // Of each datagram, what it has to be shown.
  [[nodiscard]] std::int64_t shown_bytes() const;
  void Came(std::int64_t now_ns, std::int64_t bytes, std::int64_t kept,
            const unsigned char* data) override;
  bool Over(std::int64_t now_ns, std::int64_t shut_ns) override;

  [[nodiscard]] EndReport Report() const;

 private:
  [[nodiscard]] Arrival Judge(std::int64_t kept, const std::byte* data);
  void Verify(std::int64_t size, const std::byte* data);
  [[nodiscard]] std::int64_t Unique() const {
    return kind_.numbered ? order_.unique() : received_;
  }
  void FillNumbers(EndReport& report) const;
  void FillTimes(EndReport& report) const;

  const Workload& workload_;
  const SimulatedDatagramSender& sender_;
  const DatagramKind kind_;
  LoopBuffer pattern_;
  ArrivalMarks marks_;
  ArrivalOrder order_;
  DelayTimes delays_;
  Tally tally_;
  std::int64_t bytes_ = 0;
  std::int64_t received_ = 0;
  std::int64_t cut_ = 0;
  std::int64_t stale_ = 0;
  std::int64_t last_ns_ = 0;
  std::optional<std::int64_t> first_wrong_byte_;
  std::string ended_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_NS3_DATAGRAM_PROGRAMS_H_

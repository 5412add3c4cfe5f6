// The programs of a trial, as they run at the ends of a simulated connection:
// the loops of harness/agent without a system below them. Times are the
// simulation's, as time points since it began.
#ifndef WIRETOLL_HARNESS_NS3_PROGRAMS_H_
#define WIRETOLL_HARNESS_NS3_PROGRAMS_H_

#include <cstdint>
#include <optional>

#include "harness/agent/arrival_marks.h"
#include "harness/agent/payload.h"
#include "harness/agent/protocol.h"
#include "harness/agent/trial_loop.h"
#include "harness/agent/write_plan.h"
#include "harness/base/histogram.h"
#include "harness/ns3/world.h"
#include "harness/samples/sample.h"

namespace wiretoll {

// When the next write of a stream is due, in simulated time: the gap, the rate
// and the time to stop.
class SimulatedPace {
 public:
  explicit SimulatedPace(const Workload& workload) : workload_(workload) {}

  // The first write is made at `now`; also when it stops.
  void Begin(std::int64_t now_ns);
  [[nodiscard]] bool begun() const { return begun_ns_.has_value(); }
  // When the write after those that `plan` has taken is due; or nothing if the
  // time to stop comes before.
  std::optional<std::int64_t> Due(std::int64_t now_ns, const WritePlan& plan);
  // Requires that Due() gave nothing.
  [[nodiscard]] std::int64_t stop_ns() const { return stop_ns_; }
  [[nodiscard]] std::int64_t begun_ns() const { return begun_ns_.value_or(0); }
  // Pauses kept.
  void Fill(EndReport& report) const;

 private:
  const Workload& workload_;
  std::optional<std::int64_t> begun_ns_;
  std::int64_t stop_ns_ = 0;
  LatencyHistogram pauses_;
};

// elapsed_ns; or why there is none.
void FillElapsed(std::int64_t begun_ns, std::int64_t ended_ns,
                 EndReport& report);

// At either end; the report is asked for once the simulation is over.
class TrialProgram : public sim::TcpProgram {
 public:
  [[nodiscard]] virtual EndReport Report() const = 0;
};

class SimulatedStreamSender : public TrialProgram {
 public:
  // `request` outlives it; so with the others.
  explicit SimulatedStreamSender(const TrialRequest& request);

  sim::Action Next(std::int64_t now_ns) override;
  const unsigned char* Payload(std::int64_t offset) override;
  void Wrote(std::int64_t now_ns, std::int64_t bytes) override;
  void Read(std::int64_t now_ns, std::int64_t bytes,
            const unsigned char* data) override;
  void End(std::int64_t now_ns) override;
  [[nodiscard]] EndReport Report() const override;

 private:
  WritePlan plan_;
  SimulatedPace pace_;
  LoopBuffer payload_;
  Tally tally_;
  std::int64_t ended_ns_ = 0;
};

class SimulatedStreamReceiver : public TrialProgram {
 public:
  explicit SimulatedStreamReceiver(const TrialRequest& request);

  sim::Action Next(std::int64_t now_ns) override;
  const unsigned char* Payload(std::int64_t offset) override;
  void Wrote(std::int64_t now_ns, std::int64_t bytes) override;
  void Read(std::int64_t now_ns, std::int64_t bytes,
            const unsigned char* data) override;
  void End(std::int64_t now_ns) override;
  [[nodiscard]] EndReport Report() const override;

 private:
  ArrivalMarks marks_;
  std::optional<PayloadVerifier> verifier_;
  Tally tally_;
  std::optional<std::int64_t> ended_ns_;
};

class SimulatedClient : public TrialProgram {
 public:
  explicit SimulatedClient(const TrialRequest& request);

  sim::Action Next(std::int64_t now_ns) override;
  const unsigned char* Payload(std::int64_t offset) override;
  void Wrote(std::int64_t now_ns, std::int64_t bytes) override;
  void Read(std::int64_t now_ns, std::int64_t bytes,
            const unsigned char* data) override;
  void End(std::int64_t now_ns) override;
  [[nodiscard]] EndReport Report() const override;

 private:
  [[nodiscard]] bool More(std::int64_t now_ns) const;
  [[nodiscard]] sim::Action BetweenRounds(std::int64_t now_ns);
  [[nodiscard]] std::int64_t StopNs() const;

  const Workload& workload_;
  const std::int64_t reply_bytes_;
  LoopBuffer payload_;
  Tally tally_;
  LatencyHistogram rounds_;
  LatencyHistogram pauses_;
  std::int64_t over_30ms_ = 0;
  std::optional<std::int64_t> begun_ns_;
  std::int64_t asked_ns_ = 0;
  std::int64_t ended_ns_ = 0;
  std::size_t next_part_ = 0;
  std::int64_t reply_left_ = 0;
};

class SimulatedServer : public TrialProgram {
 public:
  explicit SimulatedServer(const TrialRequest& request);

  sim::Action Next(std::int64_t now_ns) override;
  const unsigned char* Payload(std::int64_t offset) override;
  void Wrote(std::int64_t now_ns, std::int64_t bytes) override;
  void Read(std::int64_t now_ns, std::int64_t bytes,
            const unsigned char* data) override;
  void End(std::int64_t now_ns) override;
  [[nodiscard]] EndReport Report() const override;

 private:
  const Workload& workload_;
  const std::int64_t request_bytes_;
  LoopBuffer payload_;
  std::optional<PayloadVerifier> verifier_;
  Tally tally_;
  std::int64_t pending_ = 0;
  std::size_t next_part_;
  std::int64_t first_ns_ = 0;
  std::int64_t first_bytes_ = 0;
  std::optional<std::int64_t> ended_ns_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_NS3_PROGRAMS_H_

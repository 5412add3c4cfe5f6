// What the measuring loops share: an interface, counting, sending.
#ifndef WIRETOLL_HARNESS_AGENT_TRIAL_LOOP_H_
#define WIRETOLL_HARNESS_AGENT_TRIAL_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/agent/call_recorder.h"
#include "harness/agent/payload.h"
#include "harness/agent/protocol.h"
#include "harness/agent/trial_control.h"
#include "harness/base/histogram.h"
#include "harness/base/result.h"
#include "harness/base/units.h"
#include "harness/samples/sample.h"
#include "platform/socket.h"

namespace wiretoll {

// Why a trial gave no report. `skip`: this host cannot do what was asked.
struct TrialFailure {
  std::string message;
  bool skip = false;
};

using TrialOutcomeAtEnd = Result<EndReport, TrialFailure>;

// One end's loop. Whatever it needs is allocated when it is made, so that
// nothing but the loop happens once the connection stands.
class TrialLoop {
 public:
  virtual ~TrialLoop() = default;
  // Moves the payload over the connected socket. Over TCP a sending loop ends
  // with ShutdownSend(); a receiving one with the end of stream, which it has
  // read when it returns. Fills calls, bytes, sizes, times and what else
  // belongs to the loop; a field left empty has its reason in why_null.
  virtual TrialOutcomeAtEnd Run(Socket& socket, TrialControl& control) = 0;
};

// `calls` outlives the loop.
std::unique_ptr<TrialLoop> MakeTrialLoop(const TrialRequest& request,
                                         CallRecorder& calls);

// What calls moved.
struct Tally {
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  SizeHistogram sizes;

  // Requires moved >= 1.
  void Add(std::int64_t moved) {
    ++calls;
    bytes += moved;
    sizes.Add(moved);
  }
};

// Sends messages of the payload's pattern and counts.
class PayloadSender {
 public:
  // `largest` message in bytes. With `follow` each byte is the one that a
  // PayloadVerifier expects at its place; without, every message is the
  // pattern's start again, as with a program that has one buffer.
  PayloadSender(std::uint64_t seed, std::int64_t largest, bool follow,
                CallRecorder& calls)
      : follow_(follow),
        calls_(calls),
        payload_(MakePayload(seed, static_cast<std::size_t>(largest) +
                                       (follow ? kPayloadPeriod : 0))) {}

  // One message of `size` bytes: one Send, or as many as the kernel makes of
  // it. False if it failed, see error().
  bool Send(Socket& socket, std::int64_t size) {
    do {
      const SteadyTime began = calls_.Begin();
      const Result<Bytes> sent = socket.Send(
          {payload_.data() + start_, static_cast<std::size_t>(size)});
      if (!sent.has_value()) return Failed(sent.error());
      const std::int64_t moved = sent.value().count;
      if (moved <= 0) return Failed({});
      calls_.Add(began, moved);
      tally_.Add(moved);
      size -= moved;
      if (follow_) {
        start_ = (start_ + static_cast<std::size_t>(moved)) % kPayloadPeriod;
      }
    } while (size > 0);
    return true;
  }

  [[nodiscard]] const Tally& tally() const { return tally_; }
  [[nodiscard]] Error error() const { return error_; }

 private:
  bool Failed(Error error) {
    error_ = error;
    return false;
  }

  const bool follow_;
  CallRecorder& calls_;
  const LoopBuffer payload_;
  std::size_t start_ = 0;
  Tally tally_;
  Error error_;
};

// CPU time of the calling thread from construction on.
class CpuSpan {
 public:
  CpuSpan();
  [[nodiscard]] Observed<std::int64_t> Elapsed() const;

 private:
  Result<Nanoseconds> begun_;
};

// CPU time that was counted in steps of `step`, where it is enough of them to
// be a measurement.
Observed<std::int64_t> CpuTimeIn(Nanoseconds counted, Nanoseconds step);

// For the report.
void FillTally(const Tally& tally, EndReport& report);
void FillCpu(const Observed<std::int64_t>& cpu, EndReport& report);
void FillPauses(const LatencyHistogram& pauses, bool asked, EndReport& report);
void FillVerification(const std::optional<PayloadVerifier>& verifier,
                      EndReport& report);
void FillVerification(bool asked, std::optional<std::int64_t> first_wrong_byte,
                      EndReport& report);

// What a trial that was cut short, or met `error`, says: "aborted", or
// "LATE within 30 s: PROGRESS", or "DOING: Connection reset by peer:
// PROGRESS".
struct LoopTrouble {
  std::string late;
  std::string doing;
  std::string progress;
};
TrialFailure Explain(const LoopTrouble& trouble, const TrialControl& control,
                     const Error& error);

// "5 of 20 bytes were written"; `total` empty: "5 bytes were written".
std::string Progress(std::int64_t bytes, std::optional<std::int64_t> total,
                     const std::string& participle);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_TRIAL_LOOP_H_

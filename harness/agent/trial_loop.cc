#include "harness/agent/trial_loop.h"

#include <fmt/format.h>

#include <cmath>

#include "harness/agent/datagrams.h"
#include "harness/agent/request_response.h"
#include "harness/agent/stream.h"
#include "platform/cpu_time.h"

namespace wiretoll {

std::unique_ptr<TrialLoop> MakeTrialLoop(const TrialRequest& request,
                                         CallRecorder& calls) {
  const bool sender = request.role == Role::kSender;
  if (request.workload.transport == Transport::kUdp) {
    if (sender) return std::make_unique<DatagramSender>(request, calls);
    return std::make_unique<DatagramReceiver>(request, calls);
  }
  if (request.workload.pattern == Pattern::kRequestResponse) {
    if (sender) return std::make_unique<RequestClient>(request, calls);
    return std::make_unique<RequestServer>(request, calls);
  }
  if (sender) return std::make_unique<StreamSender>(request, calls);
  return std::make_unique<StreamReceiver>(request, calls);
}

CpuSpan::CpuSpan() : begun_(ThreadCpuTime()) {}

Observed<std::int64_t> CpuSpan::Elapsed() const {
  const Result<Nanoseconds> now = ThreadCpuTime();
  if (!begun_.has_value() || !now.has_value()) {
    return Observed<std::int64_t>::Not("the system does not tell: " +
                                       now.error().message());
  }
  return CpuTimeIn(now.value() - begun_.value(), ThreadCpuTimeStep());
}

Observed<std::int64_t> CpuTimeIn(Nanoseconds counted, Nanoseconds step) {
  // One step more or less is then a tenth at most.
  constexpr int kFewestSteps = 10;
  if (counted >= kFewestSteps * step) {
    return Observed<std::int64_t>::Of(counted.count());
  }
  using Milliseconds = std::chrono::duration<double, std::milli>;
  return Observed<std::int64_t>::Not(fmt::format(
      "this system counts CPU time in steps of {:.1f} ms, and the loop took "
      "fewer than {} of them",
      Milliseconds(step).count(), kFewestSteps));
}

void FillTally(const Tally& tally, EndReport& report) {
  report.calls = tally.calls;
  report.bytes = tally.bytes;
  report.call_sizes = tally.sizes.Bins();
}

void FillCpu(const Observed<std::int64_t>& cpu, EndReport& report) {
  report.cpu_ns = cpu.value;
  if (!cpu.value) report.why_null["cpu_ns"] = cpu.reason;
}

void FillPauses(const LatencyHistogram& pauses, bool asked, EndReport& report) {
  if (pauses.count() > 0) {
    report.gap_median_ns = pauses.Quantile(0.5);
    report.gap_mean_ns = pauses.Mean();
    return;
  }
  const char* why =
      asked ? "it ended before the first pause was over" : "no pause was asked";
  report.why_null["gap_median_ns"] = why;
  report.why_null["gap_mean_ns"] = why;
}

void FillVerification(const std::optional<PayloadVerifier>& verifier,
                      EndReport& report) {
  FillVerification(verifier.has_value(),
                   verifier ? verifier->first_wrong_byte() : std::nullopt,
                   report);
}

void FillVerification(bool asked, std::optional<std::int64_t> first_wrong_byte,
                      EndReport& report) {
  if (!asked) {
    report.why_null["verified"] = "not asked";
    report.why_null["first_wrong_byte"] = "not asked";
    return;
  }
  report.first_wrong_byte = first_wrong_byte;
  report.verified = !report.first_wrong_byte.has_value();
  if (*report.verified) {
    report.why_null["first_wrong_byte"] = "every byte was as sent";
  }
}

TrialFailure Explain(const LoopTrouble& trouble, const TrialControl& control,
                     const Error& error) {
  switch (control.cut()) {
    case Cut::kAborted:
      return {.message = "aborted"};
    case Cut::kDeadline:
      return {.message =
                  fmt::format("{} within {}: {}", trouble.late,
                              DeadlineInWords(control), trouble.progress)};
    case Cut::kNone:
      break;
  }
  const std::string what =
      error ? error.message() : "the peer closed the connection too early";
  return {.message =
              fmt::format("{}: {}: {}", trouble.doing, what, trouble.progress)};
}

std::string Progress(std::int64_t bytes, std::optional<std::int64_t> total,
                     const std::string& participle) {
  return total ? fmt::format("{} of {} bytes {}", bytes, *total, participle)
               : fmt::format("{} bytes {}", bytes, participle);
}

}  // namespace wiretoll

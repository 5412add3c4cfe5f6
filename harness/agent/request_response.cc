#include "harness/agent/request_response.h"

#include <algorithm>
#include <limits>

#include "platform/clock.h"
#include "platform/options.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

// A delayed acknowledgment waits 40 ms and more; nothing else on a link that
// is worth measuring takes this long for one round.
constexpr Nanoseconds kStall = 30ms;

std::int64_t Sum(const std::vector<Bytes>& parts) {
  std::int64_t sum = 0;
  for (const Bytes part : parts) sum += part.count;
  return sum;
}

std::int64_t Largest(const std::vector<Bytes>& parts) {
  std::int64_t largest = 1;
  for (const Bytes part : parts) largest = std::max(largest, part.count);
  return largest;
}

bool SendParts(PayloadSender& sender, Socket& socket,
               const std::vector<Bytes>& parts) {
  for (const Bytes part : parts) {
    if (!sender.Send(socket, part.count)) return false;
  }
  return true;
}

}  // namespace

RequestClient::RequestClient(const TrialRequest& request, CallRecorder& calls)
    : workload_(request.workload),
      reply_bytes_(Sum(workload_.reply)),
      room_(static_cast<std::size_t>(workload_.read.count)),
      sender_(request.payload_seed, Largest(workload_.request),
              workload_.verify, calls) {}

TrialOutcomeAtEnd RequestClient::Run(Socket& socket, TrialControl& control) {
  const CpuSpan cpu;
  begun_ = MonotonicNow();
  if (workload_.stop_time) control.StopAt(begun_ + *workload_.stop_time);
  const RoundEnd end = RunRounds(socket, control);
  const SteadyTime ended = MonotonicNow();
  const auto cpu_used = cpu.Elapsed();
  const Result<Done> shut = socket.ShutdownSend();

  if (end != RoundEnd::kDone || !shut.has_value() ||
      control.cut() != Cut::kNone) {
    return Explain({"the rounds did not end", "request and reply",
                    std::to_string(rounds_.count()) + " rounds were done"},
                   control, end == RoundEnd::kDone ? shut.error() : error_);
  }
  EndReport report = Report(ended);
  FillCpu(cpu_used, report);
  return report;
}

RoundEnd RequestClient::RunRounds(Socket& socket, TrialControl& control) {
  std::optional<FineTimers> fine;
  if (workload_.gap.count() > 0) fine.emplace();
  while (true) {
    const SteadyTime asked = MonotonicNow();
    const RoundEnd end = RunRound(socket);
    if (end != RoundEnd::kDone) return end;
    const SteadyTime answered = MonotonicNow();
    AddRound(answered - asked);
    if (!More() || !control.GoesOn(socket)) return RoundEnd::kDone;
    if (!fine) continue;
    if (!control.PauseUntil(answered + workload_.gap)) return RoundEnd::kDone;
    pauses_.Add((MonotonicNow() - answered).count());
  }
}

RoundEnd RequestClient::RunRound(Socket& socket) {
  if (!SendParts(sender_, socket, workload_.request)) {
    error_ = sender_.error();
    return RoundEnd::kFailed;
  }
  return ReadReply(socket);
}

RoundEnd RequestClient::ReadReply(Socket& socket) {
  for (std::int64_t left = reply_bytes_; left > 0;) {
    const Result<Bytes> got = socket.Receive(room_);
    if (!got.has_value()) {
      error_ = got.error();
      return RoundEnd::kFailed;
    }
    if (got.value().count == 0) return RoundEnd::kClosedInside;
    left -= got.value().count;
  }
  return RoundEnd::kDone;
}

bool RequestClient::More() const {
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  return rounds_.count() < workload_.stop_messages.value_or(kNoLimit) &&
         sender_.tally().bytes <
             workload_.stop_bytes.value_or(Bytes{kNoLimit}).count;
}

void RequestClient::AddRound(Nanoseconds took) {
  rounds_.Add(took.count());
  if (took > kStall) ++over_30ms_;
}

EndReport RequestClient::Report(SteadyTime ended) const {
  EndReport report;
  FillTally(sender_.tally(), report);
  report.elapsed_ns = Nanoseconds{ended - begun_}.count();
  FillPauses(pauses_, workload_.gap.count() > 0, report);
  report.latency = Summary();
  return report;
}

LatencySummary RequestClient::Summary() const {
  LatencySummary summary;
  summary.count = rounds_.count();
  summary.min_ns = rounds_.min();
  summary.p50_ns = rounds_.Quantile(0.5);
  summary.p90_ns = rounds_.Quantile(0.9);
  summary.p99_ns = rounds_.Quantile(0.99);
  summary.p999_ns = rounds_.Quantile(0.999);
  summary.max_ns = rounds_.max();
  summary.mean_ns = rounds_.Mean();
  summary.over_30ms = over_30ms_;
  return summary;
}

RequestServer::RequestServer(const TrialRequest& request, CallRecorder& calls)
    : workload_(request.workload),
      request_bytes_(Sum(workload_.request)),
      room_(static_cast<std::size_t>(workload_.read.count)),
      sender_(request.payload_seed, Largest(workload_.reply), false, calls) {
  if (workload_.verify) verifier_.emplace(request.payload_seed);
}

TrialOutcomeAtEnd RequestServer::Run(Socket& socket, TrialControl& control) {
  const CpuSpan cpu;
  const RoundEnd end = RunRounds(socket);
  const SteadyTime ended = MonotonicNow();
  const auto cpu_used = cpu.Elapsed();

  if (end != RoundEnd::kClosed || control.cut() != Cut::kNone) {
    return Explain({"no end of the requests", "request and reply",
                    Progress(tally_.bytes, std::nullopt, "had come")},
                   control, error_);
  }
  EndReport report = Report(ended);
  FillCpu(cpu_used, report);
  return report;
}

RoundEnd RequestServer::RunRounds(Socket& socket) {
  while (true) {
    const RoundEnd end = ReadRequest(socket);
    if (end != RoundEnd::kDone) return end;
    if (!SendParts(sender_, socket, workload_.reply)) {
      error_ = sender_.error();
      return RoundEnd::kFailed;
    }
  }
}

RoundEnd RequestServer::ReadRequest(Socket& socket) {
  while (pending_ < request_bytes_) {
    const Result<Bytes> got = socket.Receive(room_);
    if (!got.has_value()) {
      error_ = got.error();
      return RoundEnd::kFailed;
    }
    if (got.value().count == 0) {
      return pending_ == 0 ? RoundEnd::kClosed : RoundEnd::kClosedInside;
    }
    if (!Take(socket, got.value().count)) return RoundEnd::kFailed;
  }
  pending_ -= request_bytes_;
  return RoundEnd::kDone;
}

bool RequestServer::Take(Socket& socket, std::int64_t moved) {
  if (tally_.calls == 0) {
    first_read_ = MonotonicNow();
    first_read_bytes_ = moved;
  }
  tally_.Add(moved);
  pending_ += moved;
  if (verifier_) {
    verifier_->Check({room_.data(), static_cast<std::size_t>(moved)});
  }
  if (workload_.quickack != Quickack::kEach) return true;
  const Result<Done> set = SetOption(socket, SocketOption::kQuickack, 1);
  error_ = set.error();
  return set.has_value();
}

EndReport RequestServer::Report(SteadyTime ended) const {
  EndReport report;
  FillTally(tally_, report);
  if (tally_.calls > 0) {
    report.elapsed_ns = Nanoseconds{ended - first_read_}.count();
    report.first_read_bytes = first_read_bytes_;
  } else {
    report.why_null["elapsed_ns"] = "nothing came";
    report.why_null["first_read_bytes"] = "nothing came";
  }
  const char* const why = "request and response are no steady stream";
  report.why_null["steady_bytes"] = why;
  report.why_null["steady_elapsed_ns"] = why;
  FillVerification(verifier_, report);
  return report;
}

}  // namespace wiretoll

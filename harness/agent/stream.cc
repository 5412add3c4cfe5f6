#include "harness/agent/stream.h"

#include "platform/clock.h"
#include "platform/options.h"

namespace wiretoll {

StreamSender::StreamSender(const TrialRequest& request, CallRecorder& calls)
    : workload_(request.workload),
      plan_(workload_),
      pacer_(workload_),
      sender_(request.payload_seed, workload_.write.count, workload_.verify,
              calls) {}

TrialOutcomeAtEnd StreamSender::Run(Socket& socket, TrialControl& control) {
  const bool straight = !pacer_.paced() && !plan_.in_blocks();
  const CpuSpan cpu;
  begun_ = MonotonicNow();
  if (workload_.stop_time) control.StopAt(begun_ + *workload_.stop_time);
  const bool written =
      straight ? WriteAll(socket, control) : WritePaced(socket, control);
  const SteadyTime ended = MonotonicNow();
  const auto cpu_used = cpu.Elapsed();
  // At once, as a program would: this is when Nagle lets the tail go.
  const Result<Done> shut = socket.ShutdownSend();

  if (!written || !shut.has_value() || control.cut() != Cut::kNone) {
    return Explain({"writing did not end", "write",
                    Progress(sender_.tally().bytes, PlannedBytes(workload_),
                             "were written")},
                   control, written ? shut.error() : sender_.error());
  }
  EndReport report = Report(ended);
  FillCpu(cpu_used, report);
  return report;
}

// The loop that is measured: a call, its count, three compares.
bool StreamSender::WriteAll(Socket& socket, TrialControl& control) {
  do {
    if (!WriteOne(socket)) return false;
  } while (plan_.More() && control.GoesOn(socket));
  return true;
}

// In blocks or in time, whatever that costs between two calls.
bool StreamSender::WritePaced(Socket& socket, TrialControl& control) {
  std::optional<FineTimers> fine;
  if (pacer_.paced()) fine.emplace();
  pacer_.Begin(begun_);
  while (true) {
    const std::int64_t size = plan_.Next();
    plan_.Take(size);
    if (!sender_.Send(socket, size)) return false;
    if (!plan_.More() || !control.GoesOn(socket)) return true;
    if (!pacer_.Await(control, plan_)) return true;
  }
}

EndReport StreamSender::Report(SteadyTime ended) const {
  EndReport report;
  FillTally(sender_.tally(), report);
  report.elapsed_ns = Nanoseconds{ended - begun_}.count();
  pacer_.Fill(report);
  return report;
}

StreamReceiver::StreamReceiver(const TrialRequest& request, CallRecorder& calls)
    : workload_(request.workload),
      expected_(PlannedBytes(workload_)),
      calls_(calls),
      room_(static_cast<std::size_t>(workload_.read.count)),
      marks_(expected_, workload_.warmup) {
  if (workload_.verify) verifier_.emplace(request.payload_seed);
}

TrialOutcomeAtEnd StreamReceiver::Run(Socket& socket, TrialControl& control) {
  const CpuSpan cpu;
  const Error error = ReadToEnd(socket, control);
  const SteadyTime ended = MonotonicNow();
  const auto cpu_used = cpu.Elapsed();

  // An interrupted Receive looks like an end of stream.
  if (error || control.cut() != Cut::kNone) {
    return Explain({"no end of stream", "read",
                    Progress(tally_.bytes, expected_, "had come")},
                   control, error);
  }
  EndReport report = Report(ended);
  FillCpu(cpu_used, report);
  return report;
}

Error StreamReceiver::ReadToEnd(Socket& socket, TrialControl& control) {
  const bool quickack = workload_.quickack == Quickack::kEach;
  while (true) {
    const SteadyTime began = calls_.Begin();
    const Result<Bytes> got = socket.Receive(room_);
    if (!got.has_value()) return got.error();
    const std::int64_t moved = got.value().count;
    calls_.Add(began, moved);
    if (moved == 0) return {};
    // For its looks only: what ends a reader is the end of the stream.
    static_cast<void>(control.GoesOn(socket));
    tally_.Add(moved);
    if (marks_.Due(tally_.bytes)) marks_.Mark(tally_.bytes, MonotonicNow());
    if (verifier_) {
      verifier_->Check({room_.data(), static_cast<std::size_t>(moved)});
    }
    if (quickack) {
      const Result<Done> set = SetOption(socket, SocketOption::kQuickack, 1);
      if (!set.has_value()) return set.error();
    }
  }
}

EndReport StreamReceiver::Report(SteadyTime ended) const {
  EndReport report;
  FillTally(tally_, report);
  marks_.Fill(tally_.bytes, ended, report);
  FillVerification(verifier_, report);
  return report;
}

}  // namespace wiretoll

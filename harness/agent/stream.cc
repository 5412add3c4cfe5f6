#include "harness/agent/stream.h"

#include <algorithm>
#include <cmath>

#include "platform/clock.h"
#include "platform/options.h"

namespace wiretoll {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

}  // namespace

StreamSender::StreamSender(const TrialRequest& request, CallRecorder& calls)
    : workload_(request.workload),
      most_bytes_(workload_.stop_bytes.value_or(Bytes{kNoLimit}).count),
      most_messages_(workload_.stop_messages.value_or(kNoLimit)),
      sender_(request.payload_seed, workload_.write.count, workload_.verify,
              calls) {}

TrialOutcomeAtEnd StreamSender::Run(Socket& socket, TrialControl& control) {
  const bool paced = workload_.gap.count() > 0 || workload_.rate.has_value();
  const CpuSpan cpu;
  begun_ = MonotonicNow();
  if (workload_.stop_time) control.StopAt(begun_ + *workload_.stop_time);
  const bool written =
      paced ? WritePaced(socket, control) : WriteAll(socket, control);
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
  } while (More() && control.GoesOn(socket));
  return true;
}

bool StreamSender::WritePaced(Socket& socket, TrialControl& control) {
  const FineTimers fine;
  while (true) {
    if (!WriteOne(socket)) return false;
    if (!More() || !control.GoesOn(socket)) return true;
    const SteadyTime written = MonotonicNow();
    if (!control.PauseUntil(NextDue(written))) return true;
    if (workload_.gap.count() > 0) {
      pauses_.Add((MonotonicNow() - written).count());
    }
  }
}

// A message that is late goes at once; the schedule is not moved for it.
SteadyTime StreamSender::NextDue(SteadyTime written) const {
  SteadyTime due = written + workload_.gap;
  if (workload_.rate) {
    const double bits = 8.0 * static_cast<double>(messages_) *
                        static_cast<double>(workload_.write.count);
    constexpr double kLongestNs = 1e17;  // Three years: never.
    const double ns = std::min(1e9 * bits / workload_.rate->value, kLongestNs);
    due = std::max(due, begun_ + Nanoseconds(std::llround(ns)));
  }
  return due;
}

EndReport StreamSender::Report(SteadyTime ended) const {
  EndReport report;
  FillTally(sender_.tally(), report);
  report.elapsed_ns = Nanoseconds{ended - begun_}.count();
  FillPauses(pauses_, workload_.gap.count() > 0, report);
  return report;
}

StreamReceiver::StreamReceiver(const TrialRequest& request, CallRecorder& calls)
    : workload_(request.workload),
      expected_(PlannedBytes(workload_)),
      calls_(calls),
      room_(static_cast<std::size_t>(workload_.read.count)) {
  if (workload_.verify) verifier_.emplace(request.payload_seed);
}

TrialOutcomeAtEnd StreamReceiver::Run(Socket& socket, TrialControl& control) {
  const CpuSpan cpu;
  const Error error = ReadToEnd(socket);
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

Error StreamReceiver::ReadToEnd(Socket& socket) {
  const bool quickack = workload_.quickack == Quickack::kEach;
  while (true) {
    const SteadyTime began = calls_.Begin();
    const Result<Bytes> got = socket.Receive(room_);
    if (!got.has_value()) return got.error();
    const std::int64_t moved = got.value().count;
    calls_.Add(began, moved);
    if (moved == 0) return {};
    tally_.Add(moved);
    if (tally_.bytes >= next_mark_) Mark();
    if (verifier_) {
      verifier_->Check({room_.data(), static_cast<std::size_t>(moved)});
    }
    if (quickack) {
      const Result<Done> set = SetOption(socket, SocketOption::kQuickack, 1);
      if (!set.has_value()) return set.error();
    }
  }
}

void StreamReceiver::Mark() {
  const SteadyTime now = MonotonicNow();
  if (tally_.calls == 1) {
    first_read_ = now;
    first_read_bytes_ = tally_.bytes;
    // Rounded up: the first tenth has wholly come.
    next_mark_ = expected_ ? *expected_ / 10 + (*expected_ % 10 > 0) : kNever;
  }
  if (tally_.bytes >= next_mark_) {
    steady_from_ = now;
    steady_after_ = tally_.bytes;
    next_mark_ = kNever;
  }
}

EndReport StreamReceiver::Report(SteadyTime ended) const {
  EndReport report;
  FillTally(tally_, report);
  if (tally_.calls > 0) {
    report.elapsed_ns = Nanoseconds{ended - first_read_}.count();
    report.first_read_bytes = first_read_bytes_;
  } else {
    report.why_null["elapsed_ns"] = "nothing came";
    report.why_null["first_read_bytes"] = "nothing came";
  }
  FillSteady(ended, report);
  FillVerification(verifier_, report);
  return report;
}

void StreamReceiver::FillSteady(SteadyTime ended, EndReport& report) const {
  if (steady_from_ && tally_.bytes > steady_after_) {
    report.steady_bytes = tally_.bytes - steady_after_;
    report.steady_elapsed_ns = Nanoseconds{ended - *steady_from_}.count();
    return;
  }
  const char* why = "all of it came with the read that ended the first tenth";
  if (!steady_from_) why = "less than a tenth of what was planned came";
  if (!expected_) why = "how many bytes would come was not known before";
  report.why_null["steady_bytes"] = why;
  report.why_null["steady_elapsed_ns"] = why;
}

std::optional<std::int64_t> PlannedBytes(const Workload& workload) {
  std::optional<std::int64_t> planned;
  if (workload.stop_bytes) planned = workload.stop_bytes->count;
  const std::int64_t write = workload.write.count;
  if (workload.stop_messages && *workload.stop_messages <= kNoLimit / write) {
    planned =
        std::min(planned.value_or(kNoLimit), *workload.stop_messages * write);
  }
  return planned;
}

}  // namespace wiretoll

#include "harness/ns3/datagram_programs.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/agent/datagram_header.h"

namespace wiretoll {
namespace {

// A receiver's patience once the sender is done: docs/protocol.md.
constexpr std::int64_t kQuietAfterAllNs = 20'000'000;
constexpr std::int64_t kQuietAfterLastNs = 500'000'000;

std::int64_t HeadBytes(const DatagramKind& kind) {
  if (kind.timed) return kTimedBytes;
  return kind.numbered ? kNumberedBytes : 0;
}

std::string NoRoom(const DatagramKind& kind, std::int64_t needed) {
  return fmt::format("a datagram of {} bytes has no room for it; {} have",
                     kind.shortest, needed);
}

}  // namespace

SimulatedDatagramSender::SimulatedDatagramSender(const TrialRequest& request)
    : whole_(request.workload.verify),
      kind_(request),
      plan_(request.workload),
      pace_(request.workload),
      data_(MakePayload(
          request.payload_seed,
          static_cast<std::size_t>(request.workload.write.count))) {}

sim::Action SimulatedDatagramSender::Next(std::int64_t now_ns) {
  using Kind = sim::Action::Kind;
  if (!pace_.begun()) pace_.Begin(now_ns);
  std::int64_t due = now_ns;
  if (tried_ > 0) {
    if (!plan_.More()) return {Kind::kShut, now_ns, 0};
    const auto next = pace_.Due(now_ns, plan_);
    if (!next) {
      ended_ns_ = pace_.stop_ns();
      return {Kind::kShut, ended_ns_, 0};
    }
    due = *next;
  }
  ++tried_;
  const std::int64_t size = plan_.Next();
  plan_.Take(size);
  return {Kind::kWrite, due, size};
}

std::pair<const unsigned char*, std::int64_t> SimulatedDatagramSender::Front(
    std::int64_t now_ns, std::int64_t bytes) {
  if (kind_.numbered) {
    PutNetworkOrder(kind_.tag, data_.data() + kTagAt);
    PutNetworkOrder(static_cast<std::uint32_t>(next_number_),
                    data_.data() + kNumberAt);
  }
  if (kind_.timed) {
    PutNetworkOrder(static_cast<std::uint64_t>(now_ns), data_.data() + kTimeAt);
  }
  return {reinterpret_cast<const unsigned char*>(data_.data()),
          whole_ ? bytes : std::min(bytes, HeadBytes(kind_))};
}

void SimulatedDatagramSender::Sent(std::int64_t now_ns, std::int64_t bytes,
                                   const std::string& error) {
  ended_ns_ = now_ns;
  if (error.empty()) {
    ++next_number_;
    tally_.Add(bytes);
  } else if (not_sent_.other++ == 0) {
    not_sent_.first_other = error;
  }
}

EndReport SimulatedDatagramSender::Report() const {
  EndReport report;
  FillTally(tally_, report);
  FillElapsed(pace_.begun_ns(), ended_ns_, report);
  pace_.Fill(report);
  DatagramReport& datagrams = report.datagrams.emplace();
  datagrams.sent = next_number_;
  datagrams.not_sent = not_sent_;
  return report;
}

SimulatedDatagramReceiver::SimulatedDatagramReceiver(
    const TrialRequest& request, const SimulatedDatagramSender& sender)
    : workload_(request.workload),
      sender_(sender),
      kind_(request),
      marks_(PlannedBytes(workload_), workload_.warmup),
      order_(kind_.numbered ? PlannedWrites(workload_) : 0),
      delays_(SenderClock{}) {
  if (workload_.verify) {
    pattern_ = MakePayload(request.payload_seed,
                           static_cast<std::size_t>(workload_.write.count));
  }
}

std::int64_t SimulatedDatagramReceiver::shown_bytes() const {
  return workload_.verify ? workload_.write.count : HeadBytes(kind_);
}

void SimulatedDatagramReceiver::Came(std::int64_t now_ns, std::int64_t bytes,
                                     std::int64_t kept,
                                     const unsigned char* data) {
  const SteadyTime now{Nanoseconds(now_ns)};
  const auto* const shown = reinterpret_cast<const std::byte*>(data);
  const std::int64_t taken = std::min(bytes, workload_.read.count);
  const Arrival arrival = Judge(kept, shown);
  tally_.Add(taken);
  if (arrival == Arrival::kAbsurd) {
    ++stale_;
    return;
  }
  ++received_;
  last_ns_ = now_ns;
  if (taken < bytes) ++cut_;
  if (arrival == Arrival::kAgain) return;
  bytes_ += taken;
  if (marks_.Due(bytes_)) marks_.Mark(bytes_, now);
  if (kind_.timed)
    delays_.Add(GetNetworkOrder<std::uint64_t>(shown + kTimeAt), now);
  if (workload_.verify) Verify(std::min(taken, kept), shown);
}

Arrival SimulatedDatagramReceiver::Judge(std::int64_t kept,
                                         const std::byte* data) {
  if (!kind_.numbered) return Arrival::kNew;
  if (kept < HeadBytes(kind_) ||
      GetNetworkOrder<std::uint32_t>(data + kTagAt) != kind_.tag) {
    return Arrival::kAbsurd;
  }
  return order_.Add(GetNetworkOrder<std::uint32_t>(data + kNumberAt));
}

void SimulatedDatagramReceiver::Verify(std::int64_t size,
                                       const std::byte* data) {
  const std::int64_t from = HeadBytes(kind_);
  if (first_wrong_byte_ || size <= from) return;
  const auto wrong =
      std::mismatch(data + from, data + size, pattern_.data() + from).first;
  if (wrong != data + size) first_wrong_byte_ = bytes_ - size + (wrong - data);
}

bool SimulatedDatagramReceiver::Over(std::int64_t now_ns,
                                     std::int64_t shut_ns) {
  const bool all = Unique() >= sender_.sent();
  const std::int64_t since = std::max(last_ns_, shut_ns);
  if (now_ns - since < (all ? kQuietAfterAllNs : kQuietAfterLastNs))
    return false;
  ended_ = all ? "all came" : "nothing came for 500 ms";
  return true;
}

EndReport SimulatedDatagramReceiver::Report() const {
  EndReport report;
  FillTally(tally_, report);
  report.bytes = bytes_;
  marks_.Fill(bytes_, SteadyTime(Nanoseconds(last_ns_)), report);
  if (Unique() == 1) {
    report.elapsed_ns.reset();
    report.why_null["elapsed_ns"] = "one datagram takes no time";
  }
  DatagramReport& datagrams = report.datagrams.emplace();
  datagrams.received = received_;
  datagrams.cut = cut_;
  datagrams.ended = ended_;
  datagrams.strangers = 0;  // Nobody else is in this world.
  FillNumbers(report);
  FillTimes(report);
  FillVerification(workload_.verify, first_wrong_byte_, report);
  return report;
}

void SimulatedDatagramReceiver::FillNumbers(EndReport& report) const {
  DatagramReport& datagrams = *report.datagrams;
  if (!kind_.numbered) {
    for (const char* field : {"duplicated", "reordered", "late", "stale"}) {
      report.why_null[std::string("datagrams.") + field] =
          NoRoom(kind_, kNumberedBytes);
    }
    return;
  }
  datagrams.duplicated = order_.duplicated();
  datagrams.reordered = order_.reordered();
  datagrams.late = order_.late();
  datagrams.stale = stale_;
}

void SimulatedDatagramReceiver::FillTimes(EndReport& report) const {
  if (kind_.timed) {
    delays_.Fill(report);
    return;
  }
  for (const char* field :
       {"delay", "delay_error_ns", "jitter_mean_ns", "jitter_rfc3550_ns"}) {
    report.why_null[std::string("datagrams.") + field] =
        NoRoom(kind_, kTimedBytes);
  }
}

}  // namespace wiretoll

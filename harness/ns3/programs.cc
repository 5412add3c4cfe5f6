#include "harness/ns3/programs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wiretoll {
namespace {

using Kind = sim::Action::Kind;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

SteadyTime At(std::int64_t ns) { return SteadyTime(Nanoseconds(ns)); }

std::span<const std::byte> AsBytes(const unsigned char* data,
                                   std::int64_t bytes) {
  return std::as_bytes(std::span(data, static_cast<std::size_t>(bytes)));
}

const unsigned char* From(const LoopBuffer& payload, std::int64_t offset) {
  return reinterpret_cast<const unsigned char*>(payload.data()) + offset;
}

// A payload that goes on from write to write, as PayloadSender's does.
std::int64_t PlaceInPeriod(std::int64_t bytes) {
  return bytes % static_cast<std::int64_t>(kPayloadPeriod);
}

LoopBuffer FollowedPayload(std::uint64_t seed, std::int64_t largest) {
  return MakePayload(seed, static_cast<std::size_t>(largest) + kPayloadPeriod);
}

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

std::int64_t StopOf(const Workload& workload, std::int64_t begun_ns) {
  return workload.stop_time ? begun_ns + workload.stop_time->count() : kNever;
}

}  // namespace

void SimulatedPace::Begin(std::int64_t now_ns) {
  begun_ns_ = now_ns;
  stop_ns_ = StopOf(workload_, now_ns);
}

std::optional<std::int64_t> SimulatedPace::Due(std::int64_t now_ns,
                                               const WritePlan& plan) {
  constexpr double kLongestNs = 1e17;  // Three years: never.
  const bool pause = workload_.gap.count() > 0 && plan.AtBlockEnd();
  std::int64_t due = pause ? now_ns + workload_.gap.count() : now_ns;
  if (workload_.rate) {
    const double ns =
        8e9 * static_cast<double>(plan.taken_bytes()) / workload_.rate->value;
    due = std::max<std::int64_t>(
        due, *begun_ns_ + std::llround(std::min(ns, kLongestNs)));
  }
  if (due >= stop_ns_) {
    stop_ns_ = std::max(stop_ns_, now_ns);
    return std::nullopt;
  }
  if (pause) pauses_.Add(due - now_ns);
  return due;
}

void SimulatedPace::Fill(EndReport& report) const {
  FillPauses(pauses_, workload_.gap.count() > 0, report);
}

void FillElapsed(std::int64_t begun_ns, std::int64_t ended_ns,
                 EndReport& report) {
  if (ended_ns > begun_ns) {
    report.elapsed_ns = ended_ns - begun_ns;
  } else {
    report.elapsed_ns.reset();
    report.why_null["elapsed_ns"] =
        "no simulated time passed: a simulated call takes none";
  }
}

SimulatedStreamSender::SimulatedStreamSender(const TrialRequest& request)
    : plan_(request.workload),
      pace_(request.workload),
      payload_(FollowedPayload(request.payload_seed,
                               request.workload.write.count)) {}

sim::Action SimulatedStreamSender::Next(std::int64_t now_ns) {
  if (!pace_.begun()) pace_.Begin(now_ns);
  ended_ns_ = now_ns;
  std::int64_t due = now_ns;
  if (tally_.calls > 0) {
    if (!plan_.More()) return {Kind::kShut, now_ns, 0};
    const auto next = pace_.Due(now_ns, plan_);
    if (!next) {
      ended_ns_ = pace_.stop_ns();
      return {Kind::kShut, ended_ns_, 0};
    }
    due = *next;
  }
  const std::int64_t size = plan_.Next();
  plan_.Take(size);
  return {Kind::kWrite, due, size};
}

const unsigned char* SimulatedStreamSender::Payload(std::int64_t offset) {
  return From(payload_, PlaceInPeriod(tally_.bytes) + offset);
}

void SimulatedStreamSender::Wrote(std::int64_t now_ns, std::int64_t bytes) {
  ended_ns_ = now_ns;
  tally_.Add(bytes);
}

void SimulatedStreamSender::Read(std::int64_t /*now_ns*/,
                                 std::int64_t /*bytes*/,
                                 const unsigned char* /*data*/) {}

void SimulatedStreamSender::End(std::int64_t /*now_ns*/) {}

EndReport SimulatedStreamSender::Report() const {
  EndReport report;
  FillTally(tally_, report);
  FillElapsed(pace_.begun_ns(), ended_ns_, report);
  pace_.Fill(report);
  return report;
}

SimulatedStreamReceiver::SimulatedStreamReceiver(const TrialRequest& request)
    : marks_(PlannedBytes(request.workload), request.workload.warmup) {
  if (request.workload.verify) verifier_.emplace(request.payload_seed);
}

sim::Action SimulatedStreamReceiver::Next(std::int64_t now_ns) {
  return {ended_ns_ ? Kind::kShut : Kind::kRead, now_ns, 0};
}

const unsigned char* SimulatedStreamReceiver::Payload(std::int64_t /*offset*/) {
  return nullptr;
}

void SimulatedStreamReceiver::Wrote(std::int64_t /*now_ns*/,
                                    std::int64_t /*bytes*/) {}

void SimulatedStreamReceiver::Read(std::int64_t now_ns, std::int64_t bytes,
                                   const unsigned char* data) {
  tally_.Add(bytes);
  if (marks_.Due(tally_.bytes)) marks_.Mark(tally_.bytes, At(now_ns));
  if (verifier_) verifier_->Check(AsBytes(data, bytes));
}

void SimulatedStreamReceiver::End(std::int64_t now_ns) { ended_ns_ = now_ns; }

EndReport SimulatedStreamReceiver::Report() const {
  EndReport report;
  FillTally(tally_, report);
  marks_.Fill(tally_.bytes, At(ended_ns_.value_or(0)), report);
  if (report.elapsed_ns) FillElapsed(0, *report.elapsed_ns, report);
  FillVerification(verifier_, report);
  return report;
}

SimulatedClient::SimulatedClient(const TrialRequest& request)
    : workload_(request.workload),
      reply_bytes_(Sum(workload_.reply)),
      payload_(
          FollowedPayload(request.payload_seed, Largest(workload_.request))) {}

sim::Action SimulatedClient::Next(std::int64_t now_ns) {
  std::int64_t due = now_ns;
  if (!begun_ns_) {
    begun_ns_ = asked_ns_ = now_ns;
  } else if (next_part_ == workload_.request.size()) {
    if (reply_left_ > 0) return {Kind::kRead, now_ns, 0};
    const sim::Action next = BetweenRounds(now_ns);
    if (next.kind == Kind::kShut) return next;
    due = asked_ns_ = next.due_ns;
    next_part_ = 0;
  }
  const std::int64_t size = workload_.request[next_part_++].count;
  if (next_part_ == workload_.request.size()) reply_left_ = reply_bytes_;
  return {Kind::kWrite, due, size};
}

sim::Action SimulatedClient::BetweenRounds(std::int64_t now_ns) {
  ended_ns_ = now_ns;
  if (!More(now_ns)) return {Kind::kShut, now_ns, 0};
  const std::int64_t gap = workload_.gap.count();
  const std::int64_t due = now_ns + gap;
  if (due >= StopNs()) {
    ended_ns_ = StopNs();
    return {Kind::kShut, ended_ns_, 0};
  }
  if (gap > 0) pauses_.Add(gap);
  return {Kind::kWrite, due, 0};
}

bool SimulatedClient::More(std::int64_t now_ns) const {
  return rounds_.count() < workload_.stop_messages.value_or(kNever) &&
         tally_.bytes < workload_.stop_bytes.value_or(Bytes{kNever}).count &&
         now_ns < StopNs();
}

std::int64_t SimulatedClient::StopNs() const {
  return StopOf(workload_, begun_ns_.value_or(0));
}

const unsigned char* SimulatedClient::Payload(std::int64_t offset) {
  return From(payload_, PlaceInPeriod(tally_.bytes) + offset);
}

void SimulatedClient::Wrote(std::int64_t /*now_ns*/, std::int64_t bytes) {
  tally_.Add(bytes);
}

void SimulatedClient::Read(std::int64_t now_ns, std::int64_t bytes,
                           const unsigned char* /*data*/) {
  constexpr std::int64_t kStallNs = 30'000'000;  // LatencySummary's.
  reply_left_ -= bytes;
  if (reply_left_ > 0) return;
  const std::int64_t took = now_ns - asked_ns_;
  rounds_.Add(took);
  if (took > kStallNs) ++over_30ms_;
}

void SimulatedClient::End(std::int64_t /*now_ns*/) {}

EndReport SimulatedClient::Report() const {
  EndReport report;
  FillTally(tally_, report);
  FillElapsed(begun_ns_.value_or(0), ended_ns_, report);
  FillPauses(pauses_, workload_.gap.count() > 0, report);
  LatencySummary& latency = report.latency.emplace();
  latency.count = rounds_.count();
  latency.min_ns = rounds_.min();
  latency.p50_ns = rounds_.Quantile(0.5);
  latency.p90_ns = rounds_.Quantile(0.9);
  latency.p99_ns = rounds_.Quantile(0.99);
  latency.p999_ns = rounds_.Quantile(0.999);
  latency.max_ns = rounds_.max();
  latency.mean_ns = rounds_.Mean();
  latency.over_30ms = over_30ms_;
  return report;
}

SimulatedServer::SimulatedServer(const TrialRequest& request)
    : workload_(request.workload),
      request_bytes_(Sum(workload_.request)),
      payload_(MakePayload(request.payload_seed,
                           static_cast<std::size_t>(Largest(workload_.reply)))),
      next_part_(workload_.reply.size()) {
  if (workload_.verify) verifier_.emplace(request.payload_seed);
}

sim::Action SimulatedServer::Next(std::int64_t now_ns) {
  if (ended_ns_) return {Kind::kShut, now_ns, 0};
  if (next_part_ == workload_.reply.size()) {
    if (pending_ < request_bytes_) return {Kind::kRead, now_ns, 0};
    pending_ -= request_bytes_;
    next_part_ = 0;
  }
  return {Kind::kWrite, now_ns, workload_.reply[next_part_++].count};
}

const unsigned char* SimulatedServer::Payload(std::int64_t offset) {
  return From(payload_, offset);
}

void SimulatedServer::Wrote(std::int64_t /*now_ns*/, std::int64_t /*bytes*/) {}

void SimulatedServer::Read(std::int64_t now_ns, std::int64_t bytes,
                           const unsigned char* data) {
  if (tally_.calls == 0) {
    first_ns_ = now_ns;
    first_bytes_ = bytes;
  }
  tally_.Add(bytes);
  pending_ += bytes;
  if (verifier_) verifier_->Check(AsBytes(data, bytes));
}

void SimulatedServer::End(std::int64_t now_ns) { ended_ns_ = now_ns; }

EndReport SimulatedServer::Report() const {
  EndReport report;
  FillTally(tally_, report);
  FillElapsed(first_ns_, ended_ns_.value_or(first_ns_), report);
  report.first_read_bytes = first_bytes_;
  const char* const why = "request and response are no steady stream";
  report.why_null["steady_bytes"] = why;
  report.why_null["steady_elapsed_ns"] = why;
  FillVerification(verifier_, report);
  return report;
}

}  // namespace wiretoll

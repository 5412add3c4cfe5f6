#include "harness/run/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "harness/base/words.h"
#include "harness/samples/datagrams.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// The agents keep the deadline themselves and say what they were waiting for;
// this much later the coordinator stops waiting for them to say it.
constexpr auto kGrace = 2s;
// To bind a socket takes an agent no time; a slow ssh is allowed for.
constexpr std::chrono::milliseconds kTimeToPrepare = 5s;

// What one end has said so far in this trial.
struct Side {
  Side(const TrialEnd& its_end, Role its_role) : end(its_end), role(its_role) {}

  TrialEnd end;
  Role role;
  std::int64_t id = 0;
  std::optional<std::uint16_t> port;
  std::optional<EndReport> report;
  SteadyTime heard{};  // When the report came.
  std::optional<std::string> error;
  bool skip = false;
  bool mute = false;  // Said nothing when it had to.

  [[nodiscard]] bool Finished() const { return report || error; }
};

void TakeReply(Side& side, const std::string& line) {
  auto reply = DecodeReply(line, side.role);
  if (!reply.has_value()) {
    side.error = line.starts_with('{')
                     ? reply.error().message
                     : "the agent said what is no answer: " + QuoteBytes(line);
    side.end.link->Kill(*side.error);
    return;
  }
  Reply& said = reply.value();
  if (said.id != side.id) return;  // Late word of a trial given up.
  if (said.ready_port) side.port = said.ready_port;
  if (said.end) {
    side.report = std::move(said.end);
    side.report->host = side.end.host->name;
    side.heard = Clock::now();
  }
  if (said.error) {
    side.error = std::move(said.error);
    side.skip = said.skip;
  }
}

void Listen(Side& side) {
  while (!side.Finished()) {
    const auto line = side.end.link->TakeLineFor(side.id);
    if (!line) break;
    TakeReply(side, *line);
  }
  if (!side.Finished() && !side.end.link->alive()) {
    side.error = side.end.link->Trouble();
  }
}

// Its part in a group of trials goes step by step, so that many go on at once.
class TrialRun {
 public:
  TrialRun(boost::asio::io_context& io, const FlowRun& flow,
           const std::function<bool()>& cancel)
      : io_(io),
        spec_(flow.spec),
        cancel_(cancel),
        sender_(flow.sender, Role::kSender),
        receiver_(flow.receiver, Role::kReceiver) {}

  // Both ends are ready to go, or it is over.
  void Prepare() {
    bound_ = Clock::now() + spec_.deadline + kGrace;
    if (MakeReady()) {
      phase_ = Phase::kReady;
      return;
    }
    Stop();
    PumpUntil(io_, bound_, [this] { return Step(); });
    Step();
    Bury();
  }

  void Go() {
    if (phase_ != Phase::kReady) return;
    Request go;
    go.id = sender_.id;
    go.verb = "go";
    go.port = *receiver_.port;
    sender_.end.link->Send(go);
    phase_ = Phase::kMoving;
  }

  // Hears what the agents have said and does what follows. True once it is
  // over.
  bool Step() {
    if (phase_ == Phase::kMoving) Move();
    if (phase_ == Phase::kStopping) AwaitStop();
    return phase_ == Phase::kOver;
  }

  // When there is something to do even if nobody says anything.
  [[nodiscard]] SteadyTime bound() const { return bound_; }

  // Neither agent may still be at it when the next trial starts.
  void Bury() {
    for (Side* side : {&sender_, &receiver_}) {
      if (side->id == 0 || side->Finished()) continue;
      side->end.link->Kill("no answer");
    }
  }

  TrialResult Conclude() {
    TrialResult result;
    result.cancelled = cancelled_;
    result.sender = sender_.report;
    result.receiver = receiver_.report;
    result.under_way = UnderWay();
    const bool complete = sender_.report && receiver_.report;
    if (!complete) {
      const Side& culprit = Culprit();
      result.outcome =
          culprit.skip ? TrialOutcome::kSkipped : TrialOutcome::kFailed;
      result.reason = Words(culprit);
      return result;
    }
    if (IsUdp()) ExplainNoDelay(*result.receiver);
    result.reason = WhatDoesNotAddUp(result.datagrams);
    result.outcome =
        result.reason.empty() ? TrialOutcome::kOk : TrialOutcome::kFailed;
    return result;
  }

 private:
  enum class Phase { kPreparing, kReady, kMoving, kStopping, kOver };

  // The sender binds first, so that the receiver can be told whom to take.
  bool MakeReady() {
    Begin(sender_, 0);
    if (!AwaitPort(sender_)) return false;
    Begin(receiver_, *sender_.port);
    return AwaitPort(receiver_) && IsDataPort(receiver_);
  }

  // Nobody is sent to another service of the host.
  bool IsDataPort(Side& side) {
    if (spec_.first_port == 0 ||
        (*side.port >= spec_.first_port && *side.port <= spec_.last_port)) {
      return true;
    }
    side.error = fmt::format(
        "its agent said that it listens on port {}, which "
        "is none of {} to {}",
        *side.port, spec_.first_port, spec_.last_port);
    first_ = &side;
    return false;
  }

  // Sooner than the agents' own deadline: else the one that waits in vain
  // would be the first to complain.
  bool AwaitPort(Side& side) {
    const auto patience = std::min(kTimeToPrepare, spec_.deadline / 2);
    const auto until = Clock::now() + patience;
    if (Await(until, [&] { return side.port.has_value(); })) return true;
    if (!side.Finished() && first_ == nullptr && !cancel_()) side.mute = true;
    return false;
  }

  void Move() {
    Hear(sender_);
    Hear(receiver_);
    if (sender_.report && receiver_.report) {
      phase_ = Phase::kOver;
    } else if (sender_.error || receiver_.error || cancel_() ||
               Clock::now() >= bound_) {
      Stop();
    } else if (IsUdp() && sender_.report) {
      TellWhatWasSent();
    }
  }

  [[nodiscard]] bool IsUdp() const {
    return spec_.workload.transport == Transport::kUdp;
  }

  // Datagrams have no end of their own: the receiver has to be told that there
  // will be no more, and how many there were.
  void TellWhatWasSent() {
    if (told_) return;
    told_ = true;
    const EndReport& report = *sender_.report;
    Request sent;
    sent.id = receiver_.id;
    sent.verb = "sent";
    sent.sent.datagrams =
        report.datagrams ? report.datagrams->sent.value_or(0) : 0;
    sent.sent.bytes = report.bytes;
    receiver_.end.link->Send(sent);
  }

  void Begin(Side& side, std::uint16_t peer_port) {
    const Side& other = &side == &sender_ ? receiver_ : sender_;
    TrialRequest trial;
    trial.trial = spec_.id;
    trial.role = side.role;
    trial.workload = spec_.workload;
    trial.local_address = side.end.host->address;
    trial.peer_address = other.end.host->address;
    trial.peer_port = peer_port;
    trial.first_port = spec_.first_port;
    trial.last_port = spec_.last_port;
    trial.payload_seed = spec_.payload_seed;
    trial.deadline = spec_.deadline;
    trial.group = spec_.group;
    trial.log_calls = spec_.log_calls;
    trial.series = spec_.series;
    if (side.role == Role::kReceiver) trial.sender_clock = spec_.sender_clock;
    Request request;
    request.id = side.id = side.end.link->NextId();
    request.verb = "trial";
    request.trial = std::move(trial);
    side.end.link->Send(request);
  }

  // True once `done`; false if an end failed, time ran out or we were told to
  // stop.
  template <class Predicate>
  bool Await(SteadyTime until, Predicate done) {
    PumpUntil(io_, until, [&] {
      Hear(sender_);
      Hear(receiver_);
      return done() || sender_.error || receiver_.error || cancel_();
    });
    return done() && !sender_.error && !receiver_.error;
  }

  void Hear(Side& side) {
    if (side.id == 0 || side.Finished()) return;
    Listen(side);
    if (side.error && first_ == nullptr) first_ = &side;
  }

  void Stop() {
    cancelled_ = cancel_() && first_ == nullptr;
    for (Side* side : {&sender_, &receiver_}) {
      if (side->id == 0 || side->Finished()) continue;
      Request abort;
      abort.id = side->id;
      abort.verb = "abort";
      side->end.link->Send(abort);
    }
    bound_ = Clock::now() + kGrace;
    phase_ = Phase::kStopping;
  }

  void AwaitStop() {
    const bool sender_over = Over(sender_);
    const bool receiver_over = Over(receiver_);
    const bool over = sender_over && receiver_over;
    if (!over && Clock::now() < bound_) return;
    sender_.mute = sender_.mute || !sender_over;
    receiver_.mute = receiver_.mute || !receiver_over;
    phase_ = Phase::kOver;
  }

  static bool Over(Side& side) {
    if (side.id == 0) return true;
    if (!side.Finished()) Listen(side);
    return side.Finished();
  }

  [[nodiscard]] std::optional<TimeSpan> UnderWay() const {
    const Side& side = IsUdp() ? sender_ : receiver_;
    if (!side.report || !side.report->elapsed_ns) return std::nullopt;
    const Nanoseconds elapsed{*side.report->elapsed_ns};
    return TimeSpan{side.heard - elapsed, side.heard};
  }

  // Whose error to tell: an agent that gave no answer at all, or is gone,
  // rather than the one that waited for it, else the first that came.
  const Side& Culprit() const {
    if (sender_.mute) return sender_;
    if (receiver_.mute) return receiver_;
    for (const Side* side : {&sender_, &receiver_}) {
      if (side->error && !side->end.link->alive()) return *side;
    }
    // Whoever cannot do what was asked ends the trial, whatever its peer made
    // of that and however soon it said so.
    for (const Side* side : {&sender_, &receiver_}) {
      if (side->skip) return *side;
    }
    if (first_ != nullptr) return *first_;
    return sender_.report ? receiver_ : sender_;
  }

  static std::string Words(const Side& side) {
    const char* role = side.role == Role::kSender ? "sender" : "receiver";
    const std::string what =
        side.mute ? "the agent gave no answer (stopped, or its host is gone?)"
                  : side.error.value_or("no report");
    return fmt::format("{} {}: {}", role, side.end.host->name, what);
  }

  // The receiver knows only that it was told no clock.
  void ExplainNoDelay(EndReport& receiver) const {
    if (spec_.sender_clock || spec_.why_no_clock.empty()) return;
    if (!receiver.datagrams || receiver.datagrams->delay) return;
    for (const char* field : {"datagrams.delay", "datagrams.delay_error_ns"}) {
      receiver.why_null[field] = spec_.why_no_clock;
    }
  }

  // Of datagrams also what became of them.
  std::string WhatDoesNotAddUp(std::optional<Datagrams>& datagrams) const {
    const EndReport& sender = *sender_.report;
    const EndReport& receiver = *receiver_.report;
    if (IsUdp()) {
      auto account = AccountDatagrams(sender, receiver);
      if (!account.has_value()) return account.error().message;
      datagrams = std::move(account).value();
    } else if (sender.bytes != receiver.bytes) {
      return fmt::format("sender {} wrote {} bytes, receiver {} read {}",
                         sender.host, sender.bytes, receiver.host,
                         receiver.bytes);
    }
    if (receiver.verified == false) {
      return fmt::format("payload differs from what was sent, from byte {} on",
                         receiver.first_wrong_byte.value_or(0));
    }
    return {};
  }

  boost::asio::io_context& io_;
  const TrialSpec& spec_;
  const std::function<bool()>& cancel_;
  Phase phase_ = Phase::kPreparing;
  SteadyTime bound_{};  // Of the whole trial, then of stopping.
  Side sender_;
  Side receiver_;
  const Side* first_ = nullptr;
  bool told_ = false;  // The receiver, what was sent.
  bool cancelled_ = false;
};

bool StepAll(std::deque<TrialRun>& runs) {
  bool over = true;
  for (TrialRun& run : runs) over = run.Step() && over;
  return over;
}

// The next bound of those that are not over.
SteadyTime NextBound(std::deque<TrialRun>& runs) {
  SteadyTime next = SteadyTime::max();
  for (TrialRun& run : runs) {
    if (!run.Step()) next = std::min(next, run.bound());
  }
  return next;
}

}  // namespace

std::vector<TrialResult> RunFlows(boost::asio::io_context& io,
                                  const std::vector<FlowRun>& flows,
                                  const std::function<bool()>& cancel) {
  std::deque<TrialRun> runs;
  for (const FlowRun& flow : flows) {
    flow.sender.link->ForgetAnswers();
    flow.receiver.link->ForgetAnswers();
    runs.emplace_back(io, flow, cancel);
  }
  for (TrialRun& run : runs) run.Prepare();
  for (TrialRun& run : runs) run.Go();
  while (!StepAll(runs)) {
    PumpUntil(io, NextBound(runs), [&] { return StepAll(runs); });
  }
  std::vector<TrialResult> results;
  for (TrialRun& run : runs) {
    run.Bury();
    results.push_back(run.Conclude());
  }
  return results;
}

Workload PingPong(std::int64_t rounds, Nanoseconds most) {
  Workload work;
  work.pattern = Pattern::kRequestResponse;
  work.request = {Bytes{1}};
  work.reply = {Bytes{1}};
  work.nagle = false;
  work.stop_messages = rounds;
  work.stop_time = most;
  return work;
}

TrialResult RunTrial(boost::asio::io_context& io, const TrialEnd& sender,
                     const TrialEnd& receiver, const TrialSpec& spec,
                     const std::function<bool()>& cancel) {
  return std::move(RunFlows(io, {{sender, receiver, spec}}, cancel).front());
}

std::vector<std::optional<double>> Overlaps(
    const std::vector<TrialResult>& results) {
  std::vector<std::optional<double>> shares(results.size());
  TimeSpan all{SteadyTime::min(), SteadyTime::max()};
  for (const TrialResult& result : results) {
    if (!result.under_way) return shares;
    all.begin = std::max(all.begin, result.under_way->begin);
    all.end = std::min(all.end, result.under_way->end);
  }
  const Nanoseconds together =
      std::max(Nanoseconds{0}, Nanoseconds{all.end - all.begin});
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Nanoseconds own =
        results[i].under_way->end - results[i].under_way->begin;
    if (own.count() <= 0) continue;
    shares[i] = static_cast<double>(together.count()) /
                static_cast<double>(own.count());
  }
  return shares;
}

}  // namespace wiretoll

#include "harness/run/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/base/words.h"

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
  TrialEnd end;
  Role role;
  std::int64_t id = 0;
  std::optional<std::uint16_t> port;
  std::optional<EndReport> report;
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
  }
  if (said.error) {
    side.error = std::move(said.error);
    side.skip = said.skip;
  }
}

void Listen(Side& side) {
  while (!side.Finished()) {
    const auto line = side.end.link->TakeLine();
    if (!line) break;
    TakeReply(side, *line);
  }
  if (!side.Finished() && !side.end.link->alive()) {
    side.error = side.end.link->Trouble();
  }
}

class TrialRun {
 public:
  TrialRun(boost::asio::io_context& io, const TrialEnd& sender,
           const TrialEnd& receiver, const TrialSpec& spec,
           const std::function<bool()>& cancel)
      : io_(io),
        spec_(spec),
        cancel_(cancel),
        until_(Clock::now() + spec.deadline + kGrace),
        sender_{sender, Role::kSender, 0, {}, {}, {}, false, false},
        receiver_{receiver, Role::kReceiver, 0, {}, {}, {}, false, false} {}

  TrialResult Run() {
    const bool ran = Prepare() && Transfer();
    if (!ran) Abandon();
    return Conclude();
  }

 private:
  // The sender binds first, so that the receiver can be told whom to take.
  bool Prepare() {
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

  bool Transfer() {
    Request go;
    go.id = sender_.id;
    go.verb = "go";
    go.port = *receiver_.port;
    sender_.end.link->Send(go);
    return Await(until_, [&] {
      return sender_.report.has_value() && receiver_.report.has_value();
    });
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
    trial.log_calls = spec_.log_calls;
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

  // Neither agent may still be at it when the next trial starts.
  void Abandon() {
    cancelled_ = cancel_() && first_ == nullptr;
    for (Side* side : {&sender_, &receiver_}) {
      if (side->id == 0 || side->Finished()) continue;
      Request abort;
      abort.id = side->id;
      abort.verb = "abort";
      side->end.link->Send(abort);
    }
    const auto until = Clock::now() + kGrace;
    PumpUntil(io_, until, [&] { return Over(sender_) && Over(receiver_); });
    for (Side* side : {&sender_, &receiver_}) {
      if (side->id == 0 || side->Finished()) continue;
      side->mute = true;
      side->end.link->Kill("no answer");
    }
  }

  static bool Over(Side& side) {
    if (side.id == 0) return true;
    if (!side.Finished()) Listen(side);
    return side.Finished();
  }

  TrialResult Conclude() {
    TrialResult result;
    result.cancelled = cancelled_;
    result.sender = sender_.report;
    result.receiver = receiver_.report;
    const bool complete = sender_.report && receiver_.report;
    if (!complete) {
      const Side& culprit = Culprit();
      result.outcome =
          culprit.skip ? TrialOutcome::kSkipped : TrialOutcome::kFailed;
      result.reason = Words(culprit);
      return result;
    }
    result.reason = WhatDoesNotAddUp();
    result.outcome =
        result.reason.empty() ? TrialOutcome::kOk : TrialOutcome::kFailed;
    return result;
  }

  // Whose error to tell: an agent that gave no answer at all, or is gone,
  // rather than the one that waited for it, else the first that came.
  const Side& Culprit() const {
    if (sender_.mute) return sender_;
    if (receiver_.mute) return receiver_;
    for (const Side* side : {&sender_, &receiver_}) {
      if (side->error && !side->end.link->alive()) return *side;
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

  std::string WhatDoesNotAddUp() const {
    const EndReport& sender = *sender_.report;
    const EndReport& receiver = *receiver_.report;
    if (sender.bytes != receiver.bytes) {
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
  SteadyTime until_;
  Side sender_;
  Side receiver_;
  const Side* first_ = nullptr;
  bool cancelled_ = false;
};

}  // namespace

TrialResult RunTrial(boost::asio::io_context& io, const TrialEnd& sender,
                     const TrialEnd& receiver, const TrialSpec& spec,
                     const std::function<bool()>& cancel) {
  return TrialRun(io, sender, receiver, spec, cancel).Run();
}

}  // namespace wiretoll

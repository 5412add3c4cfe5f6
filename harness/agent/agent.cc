#include "harness/agent/agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "harness/agent/capture_job.h"
#include "harness/agent/line_reader.h"
#include "harness/agent/protocol.h"
#include "harness/agent/trial.h"
#include "harness/agent/trial_control.h"
#include "harness/base/version.h"
#include "harness/samples/series.h"
#include "platform/clock.h"
#include "platform/host_facts.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

// Interrupting a trial takes microseconds; what takes longer is stuck.
constexpr auto kTimeToEnd = 1s;
// Flows of one group that are kept in mind, and so may run, at once.
constexpr std::size_t kMostAtOnce = 64;

// Whole lines, whichever thread has something to say.
class ReplyWriter {
 public:
  explicit ReplyWriter(std::FILE* out) : out_(out) {}

  // A pipe that nobody reads any more is no error here: standard input ends
  // with it, and the agent with that.
  void Write(const Reply& reply, Role role) {
    const std::string line = EncodeReply(reply, role) + "\n";
    const std::lock_guard lock(mutex_);
    std::fwrite(line.data(), 1, line.size(), out_);
    std::fflush(out_);
  }

  void Refuse(std::int64_t id, const std::string& why) {
    Reply reply;
    reply.id = id;
    reply.error = why;
    Write(reply, Role::kSender);
  }

 private:
  std::mutex mutex_;
  std::FILE* out_;
};

RecordedFact Record(const Fact& fact) {
  RecordedFact record{fact.name, {}, {}, fact.reason};
  if (const auto* flag = std::get_if<bool>(&fact.value)) record.value = *flag;
  if (const auto* count = std::get_if<std::int64_t>(&fact.value)) {
    record.value = *count;
  }
  if (const auto* text = std::get_if<std::string>(&fact.value)) {
    record.value = *text;
  }
  if (const auto* number = std::get_if<double>(&fact.value)) {
    record.number = *number;
  }
  return record;
}

// A trial on its own thread.
class RunningTrial {
 public:
  // `ends` counts the trials that have ended; it outlives this one.
  RunningTrial(const Request& request, const OsIdentity& self,
               ReplyWriter& writer, std::atomic<std::int64_t>& ends)
      : id_(request.id),
        request_(*request.trial),
        self_(self),
        writer_(writer),
        ends_(ends),
        control_(request_.deadline),
        records_(request_),
        thread_([this] { Run(); }) {}

  // Requires Ended() or WaitForEnd(), lest it blocks for as long as the trial.
  ~RunningTrial() { thread_.join(); }
  RunningTrial(const RunningTrial&) = delete;
  RunningTrial& operator=(const RunningTrial&) = delete;

  [[nodiscard]] std::int64_t id() const { return id_; }
  [[nodiscard]] Role role() const { return request_.role; }
  [[nodiscard]] const std::string& group() const { return request_.group; }
  [[nodiscard]] bool OverUdp() const {
    return request_.workload.transport == Transport::kUdp;
  }
  // What was kept, as lines. Requires Ended().
  [[nodiscard]] std::string Kept(PartOf of, Nanoseconds wall) const {
    const char* end = role() == Role::kSender ? "sender" : "receiver";
    return of == PartOf::kCalls
               ? EndCallsText(end, records_.calls.Calls(wall))
               : EndSeriesText(end, records_.moments.Moments(wall));
  }
  TrialControl& control() { return control_; }

  // Its last reply is written or about to be.
  [[nodiscard]] bool Ended() const { return end_ > 0; }
  // Which trial of the agent's it was to end; 0: it runs.
  [[nodiscard]] std::int64_t end() const { return end_; }
  // Its last reply is written. False if that took longer than `time`.
  bool WaitForEnd(std::chrono::milliseconds time) {
    return gone_future_.wait_for(time) == std::future_status::ready;
  }

 private:
  void Run() {
    const Reply reply = Conclude();
    // Before the reply: whoever has read it may start the next trial.
    end_ = ++ends_;
    writer_.Write(reply, request_.role);
    gone_.set_value();
  }

  Reply Conclude() {
    Reply reply;
    reply.id = id_;
    try {
      TrialOutcomeAtEnd outcome =
          RunTrial(request_, self_, control_, records_,
                   [this](std::uint16_t port) { Tell(port); });
      if (outcome.has_value()) {
        reply.end = std::move(outcome).value();
      } else {
        reply.error = outcome.error().message;
        reply.skip = outcome.error().skip;
      }
    } catch (const std::exception& exception) {  // No memory, above all.
      reply.error = fmt::format("the trial failed: {}", exception.what());
    }
    return reply;
  }

  void Tell(std::uint16_t port) {
    Reply reply;
    reply.id = id_;
    reply.ready_port = port;
    writer_.Write(reply, request_.role);
  }

  const std::int64_t id_;
  const TrialRequest request_;
  const OsIdentity& self_;
  ReplyWriter& writer_;
  std::atomic<std::int64_t>& ends_;
  TrialControl control_;
  TrialRecords records_;
  std::atomic<std::int64_t> end_{0};
  std::promise<void> gone_;
  std::future<void> gone_future_ = gone_.get_future();
  std::thread thread_;  // Last: it uses all of the above.
};

class Agent {
 public:
  explicit Agent(std::FILE* out) : self_(IdentifyOs()), writer_(out) {}

  void Handle(const std::string& line);
  void RefuseLongLine() {
    writer_.Refuse(0,
                   fmt::format("request: longer than {} bytes", kMaxLineBytes));
  }
  // Ends the process if a trial cannot be ended.
  void End();

 private:
  void SayHello(std::int64_t id);
  void TellFacts(std::int64_t id, const std::string& address);
  void TellTime(std::int64_t id);
  void StartTrial(const Request& request);
  // Why it may not run beside those that do; nothing if it may.
  [[nodiscard]] std::optional<std::string> InTheWay(
      const TrialRequest& trial) const;
  void MakeRoom(const TrialRequest& trial);
  void StartCapture(const Request& request);
  void EndCapture(std::int64_t id);
  void TellPart(const Request& request);
  // What parts are taken of; nullptr if there is nothing yet.
  const std::string* Whole(const PartRequest& part);
  void Go(const Request& request);
  void TakeSent(const Request& request);
  void Abort(const Request& request);
  // nullptr if trial `id` has been answered already, or never was (which is
  // refused).
  RunningTrial* Find(const Request& request);

  const OsIdentity self_;
  const std::string clock_ = ClockIdentity();
  ReplyWriter writer_;
  std::atomic<std::int64_t> ends_{0};
  // Those that run are of one group; those that have ended are known by id
  // until another group begins.
  std::vector<std::unique_ptr<RunningTrial>> trials_;
  std::unique_ptr<CaptureJob> capture_;
  bool capturing_ = false;
  std::map<PartOf, std::string> kept_;  // Of the trial whose parts are taken.
  // Wall minus monotonic clock as the capture began, or the trial without one:
  // frames and calls are told by it whatever becomes of the wall clock.
  Nanoseconds wall_{0};
};

void Agent::Handle(const std::string& line) {
  const Outcome<Request> decoded = DecodeRequest(line);
  if (!decoded.has_value()) {
    writer_.Refuse(IdOf(line), decoded.error().message);
    return;
  }
  const Request& request = decoded.value();
  if (request.verb == "hello") SayHello(request.id);
  if (request.verb == "facts") TellFacts(request.id, request.address);
  if (request.verb == "clock") TellTime(request.id);
  if (request.verb == "trial") StartTrial(request);
  if (request.verb == "go") Go(request);
  if (request.verb == "sent") TakeSent(request);
  if (request.verb == "abort") Abort(request);
  if (request.verb == "capture") StartCapture(request);
  if (request.verb == "capture-end") EndCapture(request.id);
  if (request.verb == "part") TellPart(request);
}

void Agent::End() {
  for (const auto& trial : trials_) trial->control().Abort();
  const SteadyTime patience = MonotonicNow() + kTimeToEnd;
  for (const auto& trial : trials_) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(patience - MonotonicNow());
    if (!trial->WaitForEnd(std::max(left, 0ms))) std::_Exit(0);
  }
  trials_.clear();
}

void Agent::SayHello(std::int64_t id) {
  Reply reply;
  reply.id = id;
  reply.hello = Hello{kVersion, self_.os, self_.stack, self_.description};
  writer_.Write(reply, Role::kSender);
}

void Agent::TellFacts(std::int64_t id, const std::string& address) {
  Reply reply;
  reply.id = id;
  reply.facts.emplace();
  for (const Fact& fact : ReadHostFacts(address)) {
    reply.facts->push_back(Record(fact));
  }
  writer_.Write(reply, Role::kSender);
}

void Agent::TellTime(std::int64_t id) {
  Reply reply;
  reply.id = id;
  const Nanoseconds now = MonotonicNow().time_since_epoch();
  reply.clock = ClockReading{now + WallMinusMonotonic(), now, clock_};
  writer_.Write(reply, Role::kSender);
}

void Agent::StartTrial(const Request& request) {
  if (const auto reason = InTheWay(*request.trial)) {
    writer_.Refuse(request.id, *reason);
    return;
  }
  try {
    MakeRoom(*request.trial);
    trials_.push_back(
        std::make_unique<RunningTrial>(request, self_, writer_, ends_));
  } catch (const std::exception& exception) {  // No thread to be had.
    writer_.Refuse(request.id,
                   fmt::format("the trial cannot start: {}", exception.what()));
  }
}

std::optional<std::string> Agent::InTheWay(const TrialRequest& trial) const {
  std::size_t running = 0;
  for (const auto& other : trials_) {
    if (other->Ended()) continue;
    ++running;
    if (trial.group.empty() || other->group() != trial.group) {
      return fmt::format("trial {} still runs; abort it first", other->id());
    }
  }
  if (running < kMostAtOnce) return std::nullopt;
  return fmt::format("{} trials of group \"{}\" run already; that is the most",
                     running, trial.group);
}

// Requires that nothing is in the way of `trial`. Whoever goes is joined: its
// thread is gone or going.
void Agent::MakeRoom(const TrialRequest& trial) {
  const auto ended = [](const auto& other) { return other->Ended(); };
  if (std::ranges::all_of(trials_, ended)) {
    kept_.clear();
    if (!capturing_) wall_ = WallMinusMonotonic();
    const bool goes_on = !trial.group.empty() && !trials_.empty() &&
                         trials_.back()->group() == trial.group;
    if (!goes_on) trials_.clear();
  }
  if (trials_.size() < kMostAtOnce) return;
  trials_.erase(std::ranges::find_if(trials_, ended));
}

void Agent::StartCapture(const Request& request) {
  if (capturing_) {
    writer_.Refuse(request.id, "a capture still runs; end it first");
    return;
  }
  capture_ = nullptr;  // Its file goes with it.
  wall_ = WallMinusMonotonic();
  auto started = CaptureJob::Start(request.capture, wall_);
  if (!started.has_value()) {
    writer_.Refuse(request.id, started.error());
    return;
  }
  capture_ = std::move(started).value();
  capturing_ = true;
  Reply reply;
  reply.id = request.id;
  reply.capturing = capture_->interface_name();
  writer_.Write(reply, Role::kSender);
}

void Agent::EndCapture(std::int64_t id) {
  if (!capturing_) {
    writer_.Refuse(id, "no capture runs");
    return;
  }
  capturing_ = false;
  Reply reply;
  reply.id = id;
  reply.captured = capture_->End();
  writer_.Write(reply, Role::kSender);
}

void Agent::TellPart(const Request& request) {
  const std::string* whole = Whole(request.part);
  if (whole == nullptr) {
    writer_.Refuse(request.id, "there is nothing yet to take a part of");
    return;
  }
  const std::size_t from =
      std::min(whole->size(), static_cast<std::size_t>(request.part.offset));
  Reply reply;
  reply.id = request.id;
  reply.part.emplace();
  reply.part->data = whole->substr(from, kPartBytes);
  reply.part->left =
      static_cast<std::int64_t>(whole->size() - from - reply.part->data.size());
  writer_.Write(reply, Role::kSender);
}

const std::string* Agent::Whole(const PartRequest& part) {
  if (part.of == PartOf::kCapture) {
    return capture_ && !capturing_ ? &capture_->file() : nullptr;
  }
  // Whatever ends meanwhile: parts of one whole.
  const auto before = kept_.find(part.of);
  if (before != kept_.end() && part.offset > 0) return &before->second;
  const auto last = std::ranges::max_element(
      trials_, {}, [](const auto& trial) { return trial->end(); });
  if (last == trials_.end() || !(*last)->Ended()) return nullptr;
  return &(kept_[part.of] = (*last)->Kept(part.of, wall_));
}

void Agent::Go(const Request& request) {
  RunningTrial* trial = Find(request);
  if (trial == nullptr) return;
  if (trial->role() == Role::kSender) {
    trial->control().Go(request.port);
  } else {
    writer_.Refuse(request.id, "go is for a sender; this end receives");
  }
}

void Agent::TakeSent(const Request& request) {
  RunningTrial* trial = Find(request);
  if (trial == nullptr) return;
  if (trial->role() == Role::kReceiver && trial->OverUdp()) {
    trial->control().Sent(request.sent);
  } else {
    writer_.Refuse(request.id,
                   "sent is for a receiver of UDP, which this end is not");
  }
}

void Agent::Abort(const Request& request) {
  RunningTrial* trial = Find(request);
  if (trial == nullptr) return;
  trial->control().Abort();
  // So that a trial requested right after this finds the agent free.
  trial->WaitForEnd(kTimeToEnd);
}

RunningTrial* Agent::Find(const Request& request) {
  const auto found = std::ranges::find_if(
      trials_, [&](const auto& trial) { return trial->id() == request.id; });
  if (found == trials_.end()) {
    writer_.Refuse(request.id, fmt::format("no trial {} is known here to {}",
                                           request.id, request.verb));
    return nullptr;
  }
  return (*found)->Ended() ? nullptr : found->get();
}

}  // namespace

int RunAgent(std::FILE* in, std::FILE* out) {
  Agent agent(out);
  LineReader lines(in, kMaxLineBytes);
  std::string line;
  while (true) {
    switch (lines.Next(line)) {
      case LineRead::kLine:
        agent.Handle(line);
        break;
      case LineRead::kTooLong:
        agent.RefuseLongLine();
        break;
      case LineRead::kEnd:
        agent.End();
        return 0;
    }
  }
}

}  // namespace wiretoll

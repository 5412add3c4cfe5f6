#include "harness/advise/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <utility>
#include <variant>

#include "harness/analysis/statistics.h"
#include "harness/base/words.h"
#include "harness/run/crew.h"
#include "harness/run/trial.h"
#include "harness/run/trial_time.h"
#include "harness/run/watch.h"
#include "harness/theory/overhead.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr std::int64_t kRounds = 500;
constexpr Nanoseconds kTimeForRounds = 600ms;
constexpr std::chrono::milliseconds kReachDeadline = 8s;
// 45 full segments, which a path that passes full packets has had long before.
constexpr Bytes kSmallBulk{65536};
constexpr std::chrono::milliseconds kSmallDeadline = 2500ms;
constexpr Nanoseconds kLeastLoaded = 600ms;
constexpr int kRoundsBeside = 100;
constexpr int kStreams = 4;
constexpr Bytes kLeastLarge{4'194'304};
constexpr Nanoseconds kProbeTime = 300ms;
// A window opens within ten round trips or so; it should be open for most of a
// stream.
constexpr int kRoundTripsOfAStream = 40;
constexpr Nanoseconds kLongestStream = 5s;
// RFC 791 3.2: what every host takes whole.
constexpr std::int64_t kSmallPacket = 576;
constexpr std::int64_t kDatagramsOfASize = 8;

Workload Rounds() { return PingPong(kRounds, kTimeForRounds); }

Workload SmallBulk() {
  Workload work;
  work.write = Bytes{16384};
  work.stop_bytes = kSmallBulk;
  return work;
}

// Headers of UDP over the IP of `address`.
std::int64_t DatagramHeaders(const std::string& address) {
  const bool v6 = address.find(':') != std::string::npos;
  return (v6 ? kIpv6Header : kIpv4Header).count + kUdpHeader.count;
}

Workload Datagrams(std::int64_t payload) {
  Workload work;
  work.transport = Transport::kUdp;
  work.write = Bytes{payload};
  return work;
}

// What a trial gave, of the pair or of several flows at once.
struct Tried {
  std::vector<TrialResult> results;
  std::string reason;  // Why the first that did not end well did not.

  [[nodiscard]] bool ok() const { return reason.empty(); }
  [[nodiscard]] const TrialResult& first() const { return results.front(); }
};

struct Part {
  std::string id;
  Workload workload;
};

class Advisor {
 public:
  Advisor(const AdviseSpec& spec, Progress& progress)
      : spec_(spec),
        progress_(progress),
        watch_(io_, progress),
        crew_(
            io_, {spec.sender, spec.receiver}, spec.guard,
            [this] { return watch_.interrupted(); }, watch_.Waiting()) {}

  Outcome<Advice> Go() {
    if (auto met = Meet(); !met.has_value()) return met.error();
    if (auto measured = Measure(); !measured.has_value())
      return measured.error();
    Advice advice = Diagnose(std::move(evidence_));
    if (spec_.verify) advice.verification = Verify(advice);
    if (watch_.interrupted()) return Stopped();
    return advice;
  }

 private:
  static Failure Stopped() {
    return {ExitCode::kSomeTrialsFailed,
            "stopped before the limit was found; nothing was changed"};
  }

  // --- Hosts -----------------------------------------------------------------

  Outcome<Done> Meet() {
    const auto recorded = crew_.Muster();
    if (watch_.interrupted()) return Stopped();
    for (const Host* host : {&spec_.sender, &spec_.receiver}) {
      const std::string& trouble = crew_.trouble(host->name);
      if (trouble.empty()) continue;
      return Failure{ExitCode::kNothingRan,
                     fmt::format("host {}: {}", host->name, trouble)};
    }
    evidence_.sender = HostOf(recorded, spec_.sender);
    evidence_.receiver = HostOf(recorded, spec_.receiver);
    evidence_.link = spec_.link.description;
    evidence_.in_lab = spec_.link.kind == "lab";
    evidence_.declared_loss = spec_.link.loss;
    return Done{};
  }

  static PairHost HostOf(const std::vector<RecordedHost>& recorded,
                         const Host& host) {
    PairHost pair_host{host.name, host.address, "", {}, ""};
    for (const RecordedHost& one : recorded) {
      if (one.name != host.name) continue;
      pair_host.os = one.os;
      pair_host.facts = one.facts;
    }
    if (pair_host.facts.empty())
      pair_host.why_no_facts = "its agent told no facts";
    return pair_host;
  }

  // --- Trials ----------------------------------------------------------------

  // All at once, one after the other if it is one alone. From the sender to the
  // receiver.
  Tried Run(const std::string& what, const std::vector<Part>& parts,
            std::optional<std::chrono::milliseconds> deadline = {}) {
    std::vector<FlowRun> flows;
    Tried tried;
    const std::string group = parts.size() > 1 ? parts.front().id : "";
    AgentLink* sender = crew_.Get(spec_.sender.name);
    AgentLink* receiver = crew_.Get(spec_.receiver.name);
    flows.reserve(parts.size());
    for (const Part& part : parts) {
      flows.push_back(
          {{&spec_.sender, sender},
           {&spec_.receiver, receiver},
           SpecOf(part, group, deadline, static_cast<int>(parts.size()))});
    }
    if (sender == nullptr || receiver == nullptr) {
      const Host& missing = sender == nullptr ? spec_.sender : spec_.receiver;
      tried.reason =
          fmt::format("host {}: {}", missing.name, crew_.trouble(missing.name));
      tried.results.resize(parts.size());
      return tried;
    }
    Show(what, flows.front().spec.deadline);
    const auto begin = Steady::now();
    tried.results = RunFlows(io_, flows, cancel_);
    Finish(Steady::now() - begin);
    for (const TrialResult& result : tried.results) {
      if (result.outcome != TrialOutcome::kOk && tried.reason.empty())
        tried.reason = ReasonOf(result);
    }
    return tried;
  }

  TrialSpec SpecOf(const Part& part, const std::string& group,
                   std::optional<std::chrono::milliseconds> deadline,
                   int flows) {
    TrialSpec spec;
    spec.id = part.id;
    spec.workload = part.workload;
    spec.workload.streams = 1;
    if (!spec.workload.congestion && !spec_.congestion.empty() &&
        spec.workload.transport == Transport::kTcp) {
      spec.workload.congestion = spec_.congestion;
    }
    spec.first_port = spec_.first_port;
    spec.last_port = spec_.last_port;
    spec.payload_seed = 1;
    spec.deadline =
        deadline.value_or(DeadlineFor(part.workload, spec_.link, flows));
    spec.group = group;
    spec.why_no_clock = "no one-way delay was asked for";
    return spec;
  }

  std::string ReasonOf(const TrialResult& result) const {
    if (spec_.trouble) {
      std::string trouble = spec_.trouble();
      if (!trouble.empty()) return trouble;
    }
    if (!result.reason.empty()) return result.reason;
    return result.cancelled ? "stopped" : "it failed for no reason told";
  }

  // --- Progress --------------------------------------------------------------

  void Plan(Nanoseconds expected) {
    time_left_.Plan(std::max(expected, Nanoseconds{1}), 1);
    ++planned_;
  }

  void PlanAll() {
    const Nanoseconds stream = ExpectedTime(subject_, spec_.link) + 50ms;
    const Nanoseconds ping = ExpectedTime(Rounds(), spec_.link) + 50ms;
    Plan(ExpectedTime(SmallBulk(), spec_.link));
    for (int i = 0; i < spec_.repeats; ++i) Plan(stream);
    if (IsStream()) {
      Plan(stream);
      Plan(stream);
      if (!evidence_.line) Plan(kProbeTime + 300ms);
    }
    Plan(ping);
    if (!spec_.verify) return;
    for (int i = 0; i < 2 * spec_.repeats; ++i) Plan(stream);
  }

  void Show(const std::string& what, std::chrono::milliseconds deadline) {
    const auto trials =
        static_cast<std::int64_t>(std::max(planned_, finished_ + 1));
    progress_.Show({1, 1, static_cast<std::int64_t>(finished_), trials, 0, 0,
                    time_left_.Estimate(),
                    fmt::format("{} > {} {}", spec_.sender.name,
                                spec_.receiver.name, what),
                    deadline});
  }

  void Finish(Nanoseconds took) {
    if (finished_ < planned_) time_left_.Finished(finished_, took);
    ++finished_;
    io_.poll();
    if (io_.stopped()) io_.restart();
  }

  // --- What is measured ------------------------------------------------------

  [[nodiscard]] bool IsStream() const {
    return subject_.pattern == Pattern::kStream;
  }

  Outcome<Done> Measure() {
    if (auto reached = MeasureFirstRtt(); !reached.has_value()) return reached;
    SetSubject();
    TakeLine();
    PlanAll();
    if (FullPacketsPass()) {
      MeasureSubject();
      if (IsStream()) MeasureAround();
    }
    if (!watch_.interrupted()) {
      evidence_.last_rtt = PingPongNow("round trip, again");
      if (auto change = RttChange(evidence_))
        evidence_.notes.push_back(*change);
    }
    if (watch_.interrupted()) return Stopped();
    return Done{};
  }

  std::optional<LatencySummary> PingPongNow(const std::string& what) {
    const Tried tried = Run(what, {{"advise-rtt", Rounds()}}, kReachDeadline);
    why_no_rtt_ = tried.reason;
    if (!tried.ok() || !tried.first().sender) return std::nullopt;
    return tried.first().sender->latency;
  }

  Outcome<Done> MeasureFirstRtt() {
    Plan(ExpectedTime(Rounds(), spec_.link) + 50ms);
    evidence_.first_rtt = PingPongNow("round trip");
    if (watch_.interrupted()) return Stopped();
    if (evidence_.first_rtt) return Done{};
    return Failure{
        ExitCode::kNothingRan,
        fmt::format("{} to {}: not a byte passes, so that there is nothing to "
                    "advise on: {}; `wiretoll check` tells what to do",
                    spec_.sender.name, spec_.receiver.name, why_no_rtt_)};
  }

  // Long enough to be fast for most of it.
  void SetSubject() {
    subject_ = spec_.subject;
    const auto rtt = BaseRtt(evidence_);
    const bool endless = IsStream() && subject_.stop_time &&
                         !subject_.stop_bytes && !subject_.stop_messages;
    if (!rtt || !endless) return;
    subject_.stop_time =
        std::max(*subject_.stop_time,
                 std::min(kLongestStream, kRoundTripsOfAStream * *rtt));
  }

  void TakeLine() {
    if (!spec_.link.rate_bits_per_second) return;
    evidence_.line = LineFigure{BitsPerSecond{*spec_.link.rate_bits_per_second},
                                false, "as declared"};
  }

  // --- Full packets ----------------------------------------------------------

  // Where they do not, no stream would come to its end: the largest that pass
  // are looked for instead.
  bool FullPacketsPass() {
    const Tried tried =
        Run("64 KiB", {{"advise-small", SmallBulk()}},
            std::max(kSmallDeadline,
                     std::chrono::duration_cast<std::chrono::milliseconds>(
                         3 * ExpectedTime(SmallBulk(), spec_.link))));
    if (tried.ok() || watch_.interrupted()) return tried.ok();
    FindLargestPacket();
    if (!evidence_.least_lost) return true;
    evidence_.subject = FiguresOf(NameOfSubject(), subject_, {});
    evidence_.subject.trials = evidence_.subject.failed = 1;
    evidence_.subject.failure = tried.reason;
    return false;
  }

  enum class Passage { kPassed, kLost, kRefused };

  // By datagrams that must not be cut: needs no ICMP to come back.
  Passage TryPacket(std::int64_t packet) {
    Workload work = Datagrams(packet - headers_);
    work.dont_fragment = true;
    work.stop_messages = kDatagramsOfASize;
    work.gap = 2ms;
    const Tried tried =
        Run(fmt::format("packets of {} bytes", packet),
            {{fmt::format("advise-packet-{}", packet), work}}, kReachDeadline);
    const TrialResult& result = tried.first();
    if (result.datagrams && result.datagrams->received > 0)
      return Passage::kPassed;
    const bool told = result.sender && result.sender->datagrams &&
                      result.sender->datagrams->not_sent &&
                      result.sender->datagrams->not_sent->too_large > 0;
    if (told || !result.datagrams) return Passage::kRefused;
    return Passage::kLost;
  }

  // Halves what is left between one that passes and one that does not. A
  // sender that was told of the path's MTU is no black hole's.
  void FindLargestPacket() {
    headers_ = DatagramHeaders(spec_.receiver.address);
    std::int64_t lost =
        NumberFact(evidence_.sender, "mtu_bytes").value_or(1500);
    if (TryPacket(lost) != Passage::kLost) return;
    std::int64_t passed = kSmallPacket;
    if (TryPacket(passed) != Passage::kPassed) return;
    while (lost - passed > 1 && !watch_.interrupted()) {
      const std::int64_t between = passed + (lost - passed) / 2;
      const Passage passage = TryPacket(between);
      if (passage == Passage::kRefused) break;
      (passage == Passage::kPassed ? passed : lost) = between;
    }
    evidence_.largest_passed = passed;
    evidence_.least_lost = lost;
  }

  // --- The subject -----------------------------------------------------------

  [[nodiscard]] std::string NameOfSubject() const {
    return spec_.name.empty() ? SpellWorkload(subject_) : spec_.name;
  }

  void MeasureSubject() {
    std::vector<EndPair> trials;
    int failed = 0;
    std::string failure;
    for (int i = 0; i < spec_.repeats && !watch_.interrupted(); ++i) {
      Tried tried = Run(NameOfSubject(),
                        {{fmt::format("advise-subject-{}", i), subject_}});
      if (tried.ok()) {
        trials.push_back({*tried.first().sender, *tried.first().receiver});
        continue;
      }
      if (watch_.interrupted()) break;
      if (++failed == 1) failure = tried.reason;
      // What takes its whole deadline does so again.
      if (failed == 2 && trials.empty()) break;
    }
    evidence_.subject = FiguresOf(NameOfSubject(), subject_, trials);
    evidence_.subject.trials += failed;
    evidence_.subject.failed = failed;
    evidence_.subject.failure = failure;
    if (failed > 0) {
      evidence_.notes.push_back(fmt::format("{} of {} trials failed: {}",
                                            failed, evidence_.subject.trials,
                                            failure));
    }
  }

  // What else tells one limit from another.
  void MeasureAround() {
    if (!watch_.interrupted()) MeasureLoaded();
    if (!watch_.interrupted()) MeasureStreams();
    if (!watch_.interrupted() && !evidence_.line) ProbeLine();
    if (!watch_.interrupted() && !evidence_.subject.window_share)
      MeasureLargeBuffers();
  }

  // Rounds at even times: without a pause most of them would be over before the
  // stream has filled anything. They end a little before it does.
  [[nodiscard]] std::vector<Part> LoadedPair(Workload stream) const {
    Workload rounds = Rounds();
    const Nanoseconds time =
        std::max(kLeastLoaded, stream.stop_time.value_or(spec_.time));
    if (stream.stop_time) stream.stop_time = time;
    rounds.gap = time / kRoundsBeside;
    rounds.stop_time = time * 4 / 5;
    rounds.stop_messages.reset();
    return {{"advise-load", stream}, {"advise-loaded-rtt", rounds}};
  }

  void MeasureLoaded() {
    const Tried tried = Run("round trip beside a stream", LoadedPair(subject_));
    if (tried.results.back().sender)
      evidence_.loaded_rtt = tried.results.back().sender->latency;
    if (!tried.ok())
      evidence_.notes.push_back("round trip beside a stream: " + tried.reason);
  }

  static double Together(const Tried& tried) {
    double sum = 0;
    for (const TrialResult& result : tried.results) {
      if (!result.receiver || result.receiver->elapsed_ns.value_or(0) <= 0)
        continue;
      sum += static_cast<double>(result.receiver->bytes) * 1e9 /
             static_cast<double>(*result.receiver->elapsed_ns);
    }
    return sum;
  }

  void MeasureStreams() {
    std::vector<Part> parts;
    parts.reserve(kStreams);
    for (int i = 0; i < kStreams; ++i) {
      parts.push_back({fmt::format("advise-streams-{}", i), subject_});
    }
    const Tried tried = Run(fmt::format("{} streams at once", kStreams), parts);
    evidence_.streams = kStreams;
    if (tried.ok()) {
      evidence_.streams_bytes_per_second = Together(tried);
    } else {
      evidence_.why_no_streams = tried.reason;
    }
  }

  void MeasureLargeBuffers() {
    const auto bdp = BdpOf(evidence_);
    const Bytes size = std::max(kLeastLarge, Bytes{bdp ? 4 * bdp->count : 0});
    Workload work = subject_;
    work.rcvbuf = work.sndbuf = std::min(size, Bytes{std::int64_t{64} << 20});
    const Tried tried =
        Run("a stream with large buffers", {{"advise-large-buffers", work}});
    if (!tried.ok()) return;
    evidence_.large_buffers = work.rcvbuf;
    evidence_.large_bytes_per_second = Together(tried);
  }

  // Datagrams as fast as the sender gets rid of them: what arrives is what the
  // line carries if the sender had more, which shows by what got lost on the
  // way, or by a sender that waited.
  void ProbeLine() {
    const std::int64_t headers = DatagramHeaders(spec_.receiver.address);
    const std::int64_t mtu =
        std::min(NumberFact(evidence_.sender, "mtu_bytes").value_or(1500),
                 NumberFact(evidence_.receiver, "mtu_bytes").value_or(1500));
    Workload work = Datagrams(std::min<std::int64_t>(mtu - headers, 8972));
    work.stop_time = kProbeTime;
    const Tried tried = Run("the line, by datagrams", {{"advise-line", work}});
    const TrialResult& result = tried.first();
    if (!result.sender || !result.receiver || !result.datagrams ||
        result.receiver->elapsed_ns.value_or(0) <= 0) {
      evidence_.why_no_line = tried.reason;
      return;
    }
    TakeProbe(work.write, result);
  }

  // The sender had more than the line took: it got lost on the way or at the
  // sender's own queue, or the interface's speed was reached. A lab without a
  // rate has no line to fill.
  [[nodiscard]] bool FilledBy(BitsPerSecond rate, double lost,
                              const EndReport& sender) const {
    if (IsOnOneMachine(spec_.link)) return false;
    const bool dropped = sender.datagrams && sender.datagrams->not_sent &&
                         sender.datagrams->not_sent->no_buffers > 0;
    if (lost >= 0.05 || dropped) return true;
    for (const PairHost* host : {&evidence_.sender, &evidence_.receiver}) {
      const auto speed = NumberFact(*host, "speed_mbit");
      if (speed && rate.value >= 0.85e6 * static_cast<double>(*speed))
        return true;
    }
    return false;
  }

  void TakeProbe(Bytes payload, const TrialResult& result) {
    const HeaderStack stack{
        spec_.receiver.address.find(':') != std::string::npos ? 6 : 4,
        Transport::kUdp, false, false};
    const FrameCost frame = CostOfFrame(payload, stack);
    const double frames = static_cast<double>(result.datagrams->received);
    const double seconds =
        static_cast<double>(*result.receiver->elapsed_ns) / 1e9;
    const double lost =
        static_cast<double>(result.datagrams->lost_on_path.value_or(0)) /
        static_cast<double>(std::max<std::int64_t>(1, result.datagrams->sent));
    LineFigure line{BitsPerSecond{frames * static_cast<double>(frame.l1.count) *
                                  8 / seconds},
                    false, "by datagrams back to back"};
    line.at_least = !FilledBy(line.rate, lost, *result.sender);
    // A stream that was faster has shown more than they did.
    const auto& speed = evidence_.subject.bytes_per_second;
    evidence_.line = line;
    const auto capacity = LineCapacity(evidence_);
    if (speed && capacity && speed->median > *capacity) {
      evidence_.line->rate.value *= speed->median / *capacity;
      evidence_.line->at_least = true;
      evidence_.line->how = "by the stream itself";
    }
  }

  // --- Verification ----------------------------------------------------------

  Verification Verify(const Advice& advice) {
    Verification verification;
    verification.changes = ToVerify(advice);
    if (verification.changes.empty()) {
      verification.not_done = "there is nothing that a lab could change";
      return verification;
    }
    verification.aim = verification.changes.front().aim;
    BlockValues before;
    BlockValues after;
    for (int block = 0; block < spec_.repeats && !watch_.interrupted(); ++block)
      VerifyBlock(block, advice, verification, before, after);
    Conclude(before, after, verification);
    return verification;
  }

  // The first that can be made here; a window that cannot scale may need both
  // ends.
  static std::vector<SettingChange> ToVerify(const Advice& advice) {
    std::vector<SettingChange> usable;
    for (const SettingChange& change : advice.changes.front()) {
      const bool can =
          change.lab_safe &&
          (change.instead || (!change.windows && !change.now.empty()));
      if (can) usable.push_back(change);
    }
    const bool all = advice.findings.front().limit == Limit::kWindowScaling;
    if (!all && usable.size() > 1) usable.resize(1);
    return usable;
  }

  // Which of the two goes first alternates, so that what drifts hits both.
  void VerifyBlock(int block, const Advice& advice, Verification& verification,
                   BlockValues& before, BlockValues& after) {
    const bool black_hole = advice.findings.front().limit == Limit::kPathMtu;
    const auto without = [&] {
      // It was seen already that nothing passes, which takes a whole deadline.
      const auto value =
          black_hole ? std::optional(0.0) : Value(subject_, verification);
      if (value) before[block] = *value;
    };
    const auto with = [&] {
      Workload work = subject_;
      for (const SettingChange& change : verification.changes) {
        if (change.instead) work = Instead(*change.instead);
      }
      if (!Make(verification, true)) return;
      if (const auto value = Value(work, verification)) after[block] = *value;
      Make(verification, false);
    };
    if (block % 2 == 0) {
      without();
      with();
    } else {
      with();
      without();
    }
  }

  // The program's change, with the stop that the subject was given.
  Workload Instead(Workload instead) const {
    instead.stop_time = subject_.stop_time;
    return instead;
  }

  // Makes the changes, or takes them back. What cannot be made is taken back at
  // once.
  bool Make(Verification& verification, bool forward) {
    for (const SettingChange& change : verification.changes) {
      if (change.instead) continue;
      for (const std::string& command : forward ? change.now : change.undo) {
        const auto done = spec_.verify(change.host, command);
        if (done.has_value()) continue;
        verification.troubles.push_back(done.error().message);
        if (!forward) continue;
        Make(verification, false);
        return false;
      }
    }
    return true;
  }

  // The aim's figure of one trial.
  std::optional<double> Value(const Workload& work,
                              Verification& verification) {
    std::vector<Part> parts;
    if (verification.aim == Aim::kLoadedRtt) {
      parts = LoadedPair(work);
    } else {
      parts.push_back({"advise-verify", work});
    }
    const Tried tried = Run("verifying", parts);
    if (!tried.ok()) {
      verification.troubles.push_back(tried.reason);
      return std::nullopt;
    }
    if (verification.aim == Aim::kThroughput) return Together(tried);
    const auto& latency = tried.results.back().sender->latency;
    if (!latency) return std::nullopt;
    return static_cast<double>(latency->p50_ns);
  }

  static std::vector<double> ValuesOf(const BlockValues& blocks) {
    std::vector<double> values;
    for (const auto& [block, value] : blocks) values.push_back(value);
    return values;
  }

  static void Conclude(const BlockValues& before, const BlockValues& after,
                       Verification& verification) {
    verification.before = RepeatedOf(ValuesOf(before));
    verification.after = RepeatedOf(ValuesOf(after));
    const BlockValues ratios = RatioByBlock(after, before);
    verification.ratio = RepeatedOf(ValuesOf(ratios));
  }

  boost::asio::io_context io_;
  const AdviseSpec& spec_;
  Progress& progress_;
  Watch watch_;
  Crew crew_;
  TimeLeft time_left_;
  std::size_t planned_ = 0;
  std::size_t finished_ = 0;
  Workload subject_;
  Evidence evidence_;
  std::string why_no_rtt_;
  std::int64_t headers_ = 28;
  const std::function<bool()> cancel_ = [this] {
    return watch_.interrupted() || (spec_.trouble && !spec_.trouble().empty());
  };
};

// A buffer that is not what the program asked for is said, limit or not.
void NoteBuffer(const char* name, const PairHost& host,
                const std::optional<OptionReading>& option,
                std::vector<std::string>& notes) {
  if (!option || option->reason.empty()) return;
  const auto* asked = std::get_if<std::int64_t>(&option->requested);
  const auto* got = std::get_if<std::int64_t>(&option->effective);
  if (asked == nullptr || got == nullptr) return;
  notes.push_back(fmt::format("{}: {} of {} asked for, {} in force: {}",
                              host.name, name, GroupDigits(*asked),
                              GroupDigits(*got), option->reason));
}

}  // namespace

Workload BulkStream(Nanoseconds time) {
  Workload work;
  work.write = Bytes{65536};
  work.stop_time = time;
  return work;
}

Advice Diagnose(Evidence evidence) {
  Advice advice;
  advice.evidence = std::move(evidence);
  NoteBuffer("SO_RCVBUF", advice.evidence.receiver,
             advice.evidence.subject.rcvbuf, advice.evidence.notes);
  NoteBuffer("SO_SNDBUF", advice.evidence.sender,
             advice.evidence.subject.sndbuf, advice.evidence.notes);
  advice.findings = FindLimits(advice.evidence);
  for (const Finding& finding : advice.findings)
    advice.changes.push_back(ChangesFor(finding, advice.evidence));
  return advice;
}

Outcome<Advice> Advise(const AdviseSpec& spec, Progress& progress) {
  return Advisor(spec, progress).Go();
}

ExitCode CodeOf(const Advice& advice) {
  const bool explained = advice.findings.front().limit == Limit::kPathMtu;
  const bool failed = advice.evidence.subject.failed > 0 && !explained;
  const bool unverified = advice.verification &&
                          !advice.verification->troubles.empty() && !explained;
  return failed || unverified ? ExitCode::kSomeTrialsFailed : ExitCode::kDone;
}

}  // namespace wiretoll

#include "harness/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <utility>
#include <variant>

#include "harness/base/version.h"
#include "harness/check/remedies.h"
#include "harness/run/crew.h"
#include "harness/run/trial.h"
#include "harness/run/watch.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;
using Wall = std::chrono::system_clock;

// Facts take a while where the system has to be asked by way of its shell.
constexpr auto kTimeToAnswer = 10s;
constexpr int kClockExchanges = 8;
// Enough for a median; the time bounds it on a long line.
constexpr std::int64_t kRounds = 40;
constexpr Nanoseconds kTimeForRounds = 2s;
// 45 full segments of Ethernet, two seconds of a 256 kbit/s line.
constexpr Bytes kBulk{65536};
// Two SYNs more than the first (after 1 s and 3 s, RFC 6298 5.7), and the
// rounds of a long line.
constexpr std::chrono::milliseconds kReachDeadline = 6s;
constexpr std::chrono::milliseconds kBulkDeadline = 12s;
// Clocks that are kept by NTP are nearer.
constexpr auto kFarApart = 1s;
// RunTrial's own patience beyond a deadline.
constexpr auto kGrace = 5s;

struct SightField {
  std::string_view key;
  std::string_view name;
  TcpCounters::Count TcpCounters::*member;
};
constexpr std::array<SightField, 5> kSending{{
    {"segments", "segments", &TcpCounters::segments_out},
    {"data_segments", "data segments", &TcpCounters::data_segments_out},
    {"retransmissions", "retransmissions",
     &TcpCounters::retransmitted_segments},
    {"round_trip", "round trip", &TcpCounters::rtt_ns},
    {"peer_window", "peer's window", &TcpCounters::peer_window_bytes},
}};
constexpr std::array<SightField, 2> kReceiving{{
    {"segments", "segments", &TcpCounters::segments_in},
    {"data_segments", "data segments", &TcpCounters::data_segments_in},
}};

template <std::size_t kCount>
void Look(const TcpCounters& counters,
          const std::array<SightField, kCount>& fields, Sights& sights) {
  if (sights.tried) return;  // Another pair has shown it.
  sights.tried = true;
  sights.reason.clear();
  bool all = true;
  for (const SightField& field : fields) {
    const bool seen = (counters.*field.member).has_value();
    sights.seen.push_back({field.key, field.name, seen});
    all = all && seen;
  }
  if (!all) sights.reason = counters.reason;
}

Workload Rounds() { return PingPong(kRounds, kTimeForRounds); }

Workload Bulk() {
  Workload work;
  work.write = Bytes{16384};
  work.verify = true;
  work.stop_bytes = kBulk;
  return work;
}

const RecordedFact* FindFact(const std::vector<RecordedFact>& facts,
                             std::string_view name) {
  const auto found =
      std::find_if(facts.begin(), facts.end(),
                   [&](const RecordedFact& fact) { return fact.name == name; });
  return found == facts.end() ? nullptr : &*found;
}

constexpr std::array<std::string_view, 6> kOffloads{
    "tso", "gso", "gro", "rsc", "tx_checksum_offload", "rx_checksum_offload"};

void TakeOffloads(const std::vector<RecordedFact>& facts, HostCheck& host) {
  for (const std::string_view name : kOffloads) {
    const RecordedFact* fact = FindFact(facts, name);
    if (fact == nullptr) continue;
    Offload offload{std::string(name), Observed<bool>::Not(fact->reason)};
    if (const auto* flag = std::get_if<bool>(&fact->value)) {
      offload.on = Observed<bool>::Of(*flag);
    } else if (offload.on.reason.empty()) {
      offload.on.reason = "not observed";
    }
    host.offloads.push_back(std::move(offload));
  }
}

void TakeFacts(const std::vector<RecordedFact>& facts, HostCheck& host) {
  TakeOffloads(facts, host);
  if (const RecordedFact* fact = FindFact(facts, "interface")) {
    if (const auto* name = std::get_if<std::string>(&fact->value))
      host.interface = *name;
  }
  const RecordedFact* mtu = FindFact(facts, "mtu_bytes");
  if (mtu == nullptr) {
    host.mtu_bytes.reason = "the agent tells no MTU";
  } else if (const auto* bytes = std::get_if<std::int64_t>(&mtu->value)) {
    host.mtu_bytes = Observed<std::int64_t>::Of(*bytes);
  } else {
    host.mtu_bytes.reason = mtu->reason.empty() ? "not observed" : mtu->reason;
  }
}

RemedyEnd EndOf(const HostCheck& host) {
  return {host.host.name, host.host.address,
          host.hello ? host.hello->os : std::string()};
}

class Checker {
 public:
  Checker(const CheckSpec& spec, Progress& progress)
      : spec_(spec),
        progress_(progress),
        watch_(io_, progress),
        crew_(
            io_, spec.hosts, spec.guard,
            [this] { return watch_.interrupted(); }, watch_.Waiting()) {}

  CheckReport Go() {
    report_.file = spec_.file;
    report_.first_port = spec_.first_port;
    report_.last_port = spec_.last_port;
    for (const Host& host : spec_.hosts) report_.hosts.push_back(Meet(host));
    for (HostCheck& sender : report_.hosts) {
      for (HostCheck& receiver : report_.hosts) {
        if (&sender != &receiver)
          report_.pairs.push_back(Try(sender, receiver));
      }
    }
    report_.interrupted = watch_.interrupted();
    return std::move(report_);
  }

 private:
  // --- A host ---------------------------------------------------------------

  HostCheck Meet(const Host& host) {
    HostCheck check;
    check.host = host;
    for (Sights* sights : {&check.sends, &check.receives})
      sights->reason = "no trial came to its end here";
    check.mtu_bytes.reason = check.clock.reason = "its agent was not asked";
    if (!Start(check)) return check;
    check.usable = true;
    AskFacts(check);
    if (check.usable) AskToListen(check);
    if (check.usable) CompareClocks(check);
    if (check.usable) TryCapture(check);
    return check;
  }

  bool Start(HostCheck& check) {
    const std::string& name = check.host.name;
    if (!watch_.interrupted() && crew_.Get(name) != nullptr) {
      check.hello = crew_.greeting(name);
      if (check.hello->os == "wine") {
        check.notes.emplace_back(
            "Wine is not Windows: it runs the agent's Windows build over the "
            "TCP of its Linux host, and nothing measured here is Windows'");
      }
      return true;
    }
    if (watch_.interrupted()) return false;
    check.hello = crew_.greeting(name);
    const bool other = check.hello && check.hello->version != kVersion;
    AddProblem(
        other ? CheckProblem::Kind::kVersion : CheckProblem::Kind::kAgent,
        crew_.trouble(name), AgentRemedies(check.host, crew_.trouble(name)),
        check);
    return false;
  }

  static void AddProblem(CheckProblem::Kind kind, const std::string& why,
                         std::vector<Remedy> remedies, HostCheck& check) {
    check.usable = false;
    check.problems.push_back({kind,
                              fmt::format("host {}: {}", check.host.name, why),
                              std::move(remedies)});
  }

  // A refusal is a Failure and leaves the host usable; an agent that died or
  // is silent is a problem of the host as well.
  Outcome<Reply> AskHost(HostCheck& check, Request request) {
    AgentLink* link = crew_.Get(check.host.name);
    if (link == nullptr || watch_.interrupted()) {
      const std::string why =
          watch_.interrupted() ? "stopped" : crew_.trouble(check.host.name);
      if (!watch_.interrupted())
        AddProblem(CheckProblem::Kind::kAgent, why, {}, check);
      check.usable = false;
      return Failure{ExitCode::kNothingRan, why};
    }
    const auto until = Steady::now() + kTimeToAnswer;
    progress_.Wait("the agent of host " + check.host.name, until);
    auto reply = Ask(io_, *link, std::move(request), until,
                     [this] { return watch_.interrupted(); });
    progress_.WaitIsOver();
    if (reply.has_value() || link->alive()) return reply;
    check.usable = false;
    if (!watch_.interrupted())
      AddProblem(CheckProblem::Kind::kAgent, reply.error().message, {}, check);
    return reply;
  }

  void AskFacts(HostCheck& check) {
    Request request;
    request.verb = "facts";
    request.address = check.host.address;
    const auto reply = AskHost(check, std::move(request));
    if (!reply.has_value()) {
      check.mtu_bytes.reason = reply.error().message;
    } else if (!reply.value().facts) {
      check.mtu_bytes.reason = "the agent told no facts";
    } else {
      TakeFacts(*reply.value().facts, check);
    }
  }

  // As the receiver of a trial would: the address must be the host's own, and
  // a data port free. What no pair has to find out takes no pair's time.
  void AskToListen(HostCheck& check) {
    TrialRequest trial;
    trial.trial = "check-listen";
    trial.role = Role::kReceiver;
    trial.workload = Rounds();
    trial.local_address = trial.peer_address = check.host.address;
    trial.peer_port = spec_.first_port;  // Nobody comes.
    trial.first_port = spec_.first_port;
    trial.last_port = spec_.last_port;
    trial.deadline = kTimeToAnswer;
    Request request;
    request.verb = "trial";
    request.trial = std::move(trial);
    const auto reply = AskHost(check, std::move(request));
    if (reply.has_value() && !reply.value().ready_port) {
      return AddProblem(CheckProblem::Kind::kAgent,
                        "the agent answered a trial with something else", {},
                        check);
    }
    if (!reply.has_value()) {
      if (!check.usable) return;
      const std::string& why = reply.error().message;
      AddProblem(CheckProblem::Kind::kAddress, why,
                 AddressRemedies(EndOf(check), spec_, why), check);
      return;
    }
    // Its "aborted" comes before the answer to whatever is asked next.
    Request abort;
    abort.id = reply.value().id;
    abort.verb = "abort";
    if (AgentLink* link = crew_.Get(check.host.name)) link->Send(abort);
  }

  // Between the host and itself: there is nothing to be seen of others.
  void TryCapture(HostCheck& check) {
    Request begin;
    begin.verb = "capture";
    begin.capture.local_address = begin.capture.peer_address =
        check.host.address;
    const auto begun = AskHost(check, std::move(begin));
    check.captures = begun.has_value() && begun.value().capturing.has_value();
    check.why_no_captures =
        begun.has_value() ? std::string() : begun.error().message;
    if (!check.usable) check.captures.reset();
    if (check.captures != true) return;
    Request end;
    end.verb = "capture-end";
    // What goes wrong here is noted as what goes wrong with the agent.
    static_cast<void>(AskHost(check, std::move(end)));
  }

  void CompareClocks(HostCheck& check) {
    std::optional<ClockOffset> best;
    for (int exchange = 0; exchange < kClockExchanges; ++exchange) {
      Request request;
      request.verb = "clock";
      const auto wall = Wall::now();
      const auto begin = Steady::now();
      const auto reply = AskHost(check, std::move(request));
      const Nanoseconds half = (Steady::now() - begin) / 2;
      if (!reply.has_value() || !reply.value().clock) {
        check.clock.reason = reply.has_value() ? "the agent told no time"
                                               : reply.error().message;
        break;
      }
      if (best && best->within <= half) continue;
      best = ClockOffset{reply.value().clock->wall -
                             (Nanoseconds{wall.time_since_epoch()} + half),
                         half};
    }
    if (!best) return;
    check.clock = Observed<ClockOffset>::Of(*best);
    const Nanoseconds off = std::chrono::abs(best->ahead);
    if (off - best->within < kFarApart) return;
    check.notes.push_back(fmt::format(
        "its clock is {} {} this machine's. Figures do not suffer, each end "
        "times itself; captures and logs cannot be laid side by side. Set it: "
        "{}",
        FormatDuration(off), best->ahead.count() > 0 ? "ahead of" : "behind",
        check.hello->os == "windows" ? "w32tm /resync"
                                     : "sudo timedatectl set-ntp true"));
  }

  // --- A pair ---------------------------------------------------------------

  PairCheck Try(HostCheck& sender, HostCheck& receiver) {
    PairCheck pair;
    pair.sender = sender.host.name;
    pair.receiver = receiver.host.name;
    pair.round_trip.reason = pair.path_mtu_bytes.reason = "not tried";
    pair.not_tried = WhyNot(sender, receiver);
    if (!pair.not_tried.empty()) return pair;
    TryToReach(sender, receiver, pair);
    if (pair.reaches == true && !pair.problem)
      TrySegments(sender, receiver, pair);
    CompareMtus(sender, receiver, pair);
    return pair;
  }

  [[nodiscard]] std::string WhyNot(const HostCheck& sender,
                                   const HostCheck& receiver) const {
    if (watch_.interrupted()) return "stopped";
    for (const HostCheck* host : {&sender, &receiver}) {
      if (!host->usable)
        return fmt::format("host {} cannot be used", host->host.name);
    }
    return {};
  }

  void TryToReach(HostCheck& sender, HostCheck& receiver, PairCheck& pair) {
    const Tried tried = RunSmall(sender, receiver, Rounds(), kReachDeadline);
    const TrialResult& result = tried.result;
    if (result.outcome == TrialOutcome::kOk && result.sender &&
        result.sender->latency) {
      pair.reaches = true;
      pair.round_trip = Observed<LatencySummary>::Of(*result.sender->latency);
      return;
    }
    if (AgentsFailed(tried, pair)) return;
    // Both ends have come to their end: what is wrong is what they say.
    pair.reaches = result.sender && result.receiver;
    if (*pair.reaches) {
      pair.round_trip.reason = "the trial failed";
      pair.problem = CheckProblem{
          CheckProblem::Kind::kTrial,
          Words(pair, result.reason.empty()
                          ? "the sender's report holds no round trips"
                          : result.reason),
          {}};
      return;
    }
    pair.round_trip.reason = "no connection";
    const bool reach = MayBeAFirewall(result.reason) ||
                       result.reason.find("connect ") != std::string::npos;
    pair.problem = CheckProblem{
        reach ? CheckProblem::Kind::kReach : CheckProblem::Kind::kTrial,
        Words(pair, result.reason),
        reach ? ReachRemedies(EndOf(sender), EndOf(receiver), spec_,
                              result.reason)
              : std::vector<Remedy>{}};
  }

  void TrySegments(HostCheck& sender, HostCheck& receiver, PairCheck& pair) {
    const Tried tried = RunSmall(sender, receiver, Bulk(), kBulkDeadline);
    const TrialResult& result = tried.result;
    if (result.outcome == TrialOutcome::kOk) {
      pair.full_segments = true;
      const TcpCounters& sent = result.sender->counters;
      const TcpCounters& got = result.receiver->counters;
      Look(sent, kSending, sender.sends);
      Look(got, kReceiving, receiver.receives);
      pair.sender_counts = sent.data_segments_out.has_value();
      pair.receiver_counts = got.data_segments_in.has_value();
      pair.path_mtu_bytes =
          sent.path_mtu_bytes
              ? Observed<std::int64_t>::Of(*sent.path_mtu_bytes)
              : Observed<std::int64_t>::Not(sent.reason.empty() ? "not observed"
                                                                : sent.reason);
      return;
    }
    if (AgentsFailed(tried, pair)) return;
    pair.full_segments = false;
    pair.problem = CheckProblem{
        CheckProblem::Kind::kSegments,
        Words(pair, "1-byte messages pass, 64 KiB do not: " + result.reason),
        SegmentRemedies(EndOf(sender), EndOf(receiver))};
  }

  // How a trial went, and whose agent it cost.
  struct Tried {
    TrialResult result;
    std::vector<HostCheck*> dead;
  };

  Tried RunSmall(HostCheck& sender, HostCheck& receiver,
                 const Workload& workload, std::chrono::milliseconds deadline) {
    Tried tried;
    std::array<AgentLink*, 2> links{};
    const std::array<HostCheck*, 2> hosts{&sender, &receiver};
    for (std::size_t end = 0; end < hosts.size(); ++end) {
      links[end] = crew_.Get(hosts[end]->host.name);
      if (links[end] != nullptr) continue;
      tried.result.reason = crew_.trouble(hosts[end]->host.name);
      tried.dead.push_back(hosts[end]);
    }
    if (!tried.dead.empty()) return tried;
    TrialSpec spec;
    spec.id = fmt::format("check-{}-{}", sender.host.name, receiver.host.name);
    spec.workload = workload;
    spec.first_port = spec_.first_port;
    spec.last_port = spec_.last_port;
    spec.payload_seed = 1;
    spec.deadline = deadline;
    progress_.Wait(
        fmt::format("{} to reach {}", sender.host.name, receiver.host.name),
        Steady::now() + deadline + kGrace);
    tried.result =
        RunTrial(io_, {&sender.host, links[0]}, {&receiver.host, links[1]},
                 spec, [this] { return watch_.interrupted(); });
    progress_.WaitIsOver();
    for (std::size_t end = 0; end < hosts.size(); ++end) {
      if (!links[end]->alive()) tried.dead.push_back(hosts[end]);
    }
    return tried;
  }

  // What is an agent's fault, or ours, is not the pair's. True if so.
  bool AgentsFailed(const Tried& tried, PairCheck& pair) {
    if (tried.result.cancelled || watch_.interrupted()) {
      pair.not_tried = "stopped";
      return true;
    }
    for (HostCheck* host : tried.dead) {
      AddProblem(CheckProblem::Kind::kAgent,
                 fmt::format("in a trial from {} to {}: {}", pair.sender,
                             pair.receiver, tried.result.reason),
                 {}, *host);
      pair.not_tried = fmt::format("the agent of host {} failed in the trial",
                                   host->host.name);
    }
    return !tried.dead.empty();
  }

  static std::string Words(const PairCheck& pair, const std::string& reason) {
    return fmt::format("{} to {}: {}", pair.sender, pair.receiver, reason);
  }

  void CompareMtus(const HostCheck& sender, const HostCheck& receiver,
                   PairCheck& pair) const {
    const auto& ours = sender.mtu_bytes.value;
    const auto& theirs = receiver.mtu_bytes.value;
    if (ours && theirs && *ours != *theirs) {
      pair.notes.push_back(fmt::format(
          "the interfaces' MTUs differ, {} and {} bytes: segments are made "
          "for the smaller",
          *ours, *theirs));
    }
    const auto& path = pair.path_mtu_bytes.value;
    if (path && spec_.declared_mtu && *path != *spec_.declared_mtu) {
      pair.notes.push_back(
          fmt::format("the path's MTU is {} bytes, {} says {}: correct `mtu` "
                      "under [path], theory goes by it",
                      *path, spec_.file, *spec_.declared_mtu));
    }
  }

  boost::asio::io_context io_;
  const CheckSpec& spec_;
  Progress& progress_;
  Watch watch_;
  Crew crew_;
  CheckReport report_;
};

}  // namespace

std::string_view NameOf(CheckProblem::Kind kind) {
  switch (kind) {
    case CheckProblem::Kind::kAgent:
      return "agent";
    case CheckProblem::Kind::kVersion:
      return "version";
    case CheckProblem::Kind::kAddress:
      return "address";
    case CheckProblem::Kind::kReach:
      return "reach";
    case CheckProblem::Kind::kSegments:
      return "segments";
    case CheckProblem::Kind::kTrial:
      return "trial";
  }
  return "trial";
}

std::vector<CheckProblem> ProblemsOf(const CheckReport& report) {
  std::vector<CheckProblem> problems;
  for (const HostCheck& host : report.hosts)
    problems.insert(problems.end(), host.problems.begin(), host.problems.end());
  for (const PairCheck& pair : report.pairs) {
    if (pair.problem) problems.push_back(*pair.problem);
  }
  return problems;
}

ExitCode CodeOf(const CheckReport& report) {
  const bool any =
      std::any_of(report.hosts.begin(), report.hosts.end(),
                  [](const HostCheck& host) { return host.hello.has_value(); });
  if (!any) return ExitCode::kNothingRan;
  return report.interrupted || !ProblemsOf(report).empty()
             ? ExitCode::kSomeTrialsFailed
             : ExitCode::kDone;
}

CheckReport CheckHosts(const CheckSpec& spec, Progress& progress) {
  return Checker(spec, progress).Go();
}

}  // namespace wiretoll

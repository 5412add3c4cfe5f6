#include "bench/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <thread>

#include "bench/programs.h"
#include "harness/analysis/statistics.h"
#include "harness/run/agent_link.h"
#include "harness/run/trial.h"
#include "platform/process.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

// Where the loops run is worth more than what they do: every contestant gets
// the same place, the reader on the CPU that takes the frames in (the lab's
// RPS), the writer on the other.
constexpr int kReaderCpu = 0;
constexpr int kWriterCpu = 1;

// What each contestant is asked to do.
struct Task {
  std::int64_t write = 1;
  std::int64_t read = 65536;
  bool nagle = true;
  double seconds = 1;  // How long it should take wiretoll.
};

// Either may be missing: a tool that is not there, or does not tell.
struct Speed {
  std::optional<double> writes;    // Send calls/s, by the sender's clock.
  std::optional<double> received;  // bytes/s, by the receiver's.
};

std::string Spell(const Task& task) {
  return fmt::format("{} B writes, Nagle {}, {} B reader", task.write,
                     task.nagle ? "on" : "off", task.read);
}

class Contest {
 public:
  Contest(const Lab& lab, const BenchSpec& spec) : lab_(lab), spec_(spec) {
    for (const LabHost& host : lab.hosts()) {
      hosts_.push_back({host.name, host.address, host.agent});
      links_.push_back(
          std::make_unique<AgentLink>(io_, host.agent, KeepFromChildren));
    }
  }

  // Long enough to fill the time, by how fast it went the last time.
  std::int64_t Count(const Task& task) {
    auto& known = counts_[Spell(task)];
    if (known == 0) {
      known = task.write < 1000 ? 100000 : 2000;
      const Speed probe = Ours(task, known);
      if (probe.writes)
        known = static_cast<std::int64_t>(*probe.writes * task.seconds) + 1;
    }
    return known;
  }

  Speed Ours(const Task& task) { return Ours(task, Count(task)); }

  Speed Ours(const Task& task, std::int64_t count) {
    TrialSpec trial;
    trial.id = "bench";
    trial.workload = WorkloadOf(task, count);
    trial.first_port = kFirstPort;
    trial.last_port = kLastPort;
    trial.deadline = kDeadline;
    const auto result =
        RunTrial(io_, {&hosts_[0], links_[0].get()},
                 {&hosts_[1], links_[1].get()}, trial, [] { return false; });
    Speed speed;
    if (result.outcome != TrialOutcome::kOk) {
      std::fprintf(stderr, "bench: %s\n", result.reason.c_str());
      return speed;
    }
    speed.writes = PerSecond(result.sender->calls, *result.sender->elapsed_ns);
    speed.received =
        PerSecond(result.receiver->bytes, *result.receiver->elapsed_ns);
    return speed;
  }

  Speed Bare(const Task& task) {
    const std::int64_t count = Count(task);
    const std::string port = NextPort();
    Background reader(
        Inside(lab_.hosts()[1].netns, kReaderCpu,
               {spec_.bare.string(), "receive", lab_.hosts()[1].address, port,
                std::to_string(task.read)}));
    std::this_thread::sleep_for(50ms);
    const std::string sent =
        Output(Inside(lab_.hosts()[0].netns, kWriterCpu,
                      {spec_.bare.string(), "send", lab_.hosts()[1].address,
                       port, std::to_string(task.write), std::to_string(count),
                       task.nagle ? "0" : "1"}));
    const std::string got = reader.Finish(20s);
    Speed speed;
    double ns = 0;
    double bytes = 0;
    if (std::sscanf(sent.c_str(), "%lf %lf", &ns, &bytes) == 2 && ns > 0)
      speed.writes = static_cast<double>(count) / ns * 1e9;
    if (std::sscanf(got.c_str(), "%lf %lf", &ns, &bytes) == 2 && ns > 0)
      speed.received = bytes / ns * 1e9;
    return speed;
  }

  // The bare loop's writes, read by wiretoll's reader.
  Speed BareIntoOurs(const Task& task) {
    const std::int64_t count = Count(task);
    const std::string from = NextPort();
    TrialRequest trial;
    trial.trial = "bench";
    trial.role = Role::kReceiver;
    trial.workload = WorkloadOf(task, count);
    trial.local_address = hosts_[1].address;
    trial.peer_address = hosts_[0].address;
    trial.peer_port = static_cast<std::uint16_t>(std::stoi(from));
    trial.first_port = kFirstPort;
    trial.last_port = kLastPort;
    trial.deadline = kDeadline;
    Request request;
    request.id = links_[1]->NextId();
    request.verb = "trial";
    request.trial = trial;
    links_[1]->Send(request);
    const auto ready = Hear(request.id);
    if (!ready || !ready->ready_port) return {};
    const std::string sent = Output(
        Inside(lab_.hosts()[0].netns, kWriterCpu,
               {spec_.bare.string(), "send", lab_.hosts()[1].address,
                std::to_string(*ready->ready_port), std::to_string(task.write),
                std::to_string(count), task.nagle ? "0" : "1", from}));
    const auto ended = Hear(request.id);
    Speed speed;
    double ns = 0;
    double bytes = 0;
    if (std::sscanf(sent.c_str(), "%lf %lf", &ns, &bytes) == 2 && ns > 0)
      speed.writes = static_cast<double>(count) / ns * 1e9;
    if (ended && ended->end && ended->end->elapsed_ns)
      speed.received = PerSecond(ended->end->bytes, *ended->end->elapsed_ns);
    return speed;
  }

  Speed Iperf3(const Task& task) {
    if (!OnPath("iperf3")) return {};
    const std::string port = NextPort();
    Background server(Inside(lab_.hosts()[1].netns, kReaderCpu,
                             {"iperf3", "-s", "-1", "-p", port}));
    std::this_thread::sleep_for(100ms);
    CommandLine client{"iperf3", "-c", lab_.hosts()[1].address,    "-p", port,
                       "-J",     "-l", std::to_string(task.write), "-t", "1"};
    if (!task.nagle) client.emplace_back("-N");
    const auto json = nlohmann::json::parse(
        Output(Inside(lab_.hosts()[0].netns, kWriterCpu, client)), nullptr,
        false);
    Speed speed;
    const nlohmann::json::json_pointer rate(
        "/end/sum_received/bits_per_second");
    if (json.is_object() && json.contains(rate))
      speed.received = json.at(rate).get<double>() / 8;
    return speed;
  }

  Speed Nuttcp(const Task& task) {
    if (!OnPath("nuttcp")) return {};
    const std::string port = NextPort();
    const std::string data = NextPort();
    Background server(Inside(lab_.hosts()[1].netns, kReaderCpu,
                             {"nuttcp", "-1", "-P" + port}));
    std::this_thread::sleep_for(100ms);
    CommandLine client{"nuttcp",
                       "-P" + port,
                       "-p" + data,
                       "-fparse",
                       fmt::format("-l{}", task.write),
                       "-T1"};
    if (!task.nagle) client.emplace_back("-D");
    client.push_back(lab_.hosts()[1].address);
    const std::string said =
        Output(Inside(lab_.hosts()[0].netns, kWriterCpu, client));
    Speed speed;
    double megabytes = 0;
    double seconds = 0;
    if (std::sscanf(said.c_str(), "megabytes=%lf real_seconds=%lf", &megabytes,
                    &seconds) == 2 &&
        seconds > 0) {
      speed.received = megabytes * 1048576 / seconds;
    }
    return speed;
  }

 private:
  static constexpr std::uint16_t kFirstPort = 7001;
  static constexpr std::uint16_t kLastPort = 7099;
  static constexpr auto kDeadline = 60s;

  static Workload WorkloadOf(const Task& task, std::int64_t count) {
    Workload workload;
    workload.write = Bytes{task.write};
    workload.read = Bytes{task.read};
    workload.nagle = task.nagle;
    workload.stop_messages = count;
    workload.sender_cpu = kWriterCpu;
    workload.receiver_cpu = kReaderCpu;
    return workload;
  }

  // What the reader's agent says next.
  std::optional<Reply> Hear(std::int64_t id) {
    std::optional<std::string> line;
    PumpUntil(io_, std::chrono::steady_clock::now() + kDeadline, [&] {
      line = links_[1]->TakeLineFor(id);
      return line || !links_[1]->alive();
    });
    if (!line) return std::nullopt;
    auto reply = DecodeReply(*line, Role::kReceiver);
    if (reply.has_value() && !reply.value().error) {
      return std::move(reply).value();
    }
    std::fprintf(stderr, "bench: %s\n", line->c_str());
    return std::nullopt;
  }

  static double PerSecond(std::int64_t count, std::int64_t ns) {
    return static_cast<double>(count) / static_cast<double>(ns) * 1e9;
  }

  std::string NextPort() {
    port_ = port_ >= 29000 ? 20000 : port_ + 1;
    return std::to_string(port_);
  }

  const Lab& lab_;
  const BenchSpec& spec_;
  boost::asio::io_context io_;
  std::vector<Host> hosts_;
  std::vector<std::unique_ptr<AgentLink>> links_;
  std::map<std::string, std::int64_t> counts_;
  int port_ = 20000;
};

// The values of both sides over the rounds.
class Score {
 public:
  explicit Score(Figure figure) : figure_(std::move(figure)) {}
  // A round: ours and theirs.
  void Add(std::pair<std::optional<double>, std::optional<double>> speeds) {
    const auto [ours, theirs] = speeds;
    if (!ours || !theirs || *theirs <= 0) return;
    ours_.push_back(*ours);
    theirs_.push_back(*theirs);
    ratios_.push_back(*ours / *theirs);
    std::fprintf(stderr, "bench:   %s: %.4g to %.4g\n", figure_.what.c_str(),
                 *ours, *theirs);
  }
  [[nodiscard]] Figure Result() const {
    Figure figure = figure_;
    if (ratios_.empty()) {
      figure.note = "not measured: the other program is missing or failed";
      return figure;
    }
    MedianIntervals intervals(1);
    figure.ours = intervals.Of(ours_).median;
    figure.theirs = intervals.Of(theirs_).median;
    figure.ratio = intervals.Of(ratios_);
    return figure;
  }

 private:
  Figure figure_;
  std::vector<double> ours_, theirs_, ratios_;
};

constexpr std::int64_t kBigWrite = 131072;

// A connection's speed is decided as it begins (which CPU wakes whom, what
// lies where) and differs by a sixth from one to the next, so that many short
// ones tell more than a long one.
constexpr int kTurnsWithBare = 9;
constexpr int kTurnsWithTool = 2;
constexpr double kToolSeconds = 1;  // They take no less.
constexpr double kSmallSeconds = 0.2;
constexpr double kBigSeconds = 0.5;

std::optional<double> Mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

// Ours before and after each turn of theirs, so that a machine that warms up
// or slows down favours neither. Means, of `speed` of each.
template <typename Ours, typename Theirs>
std::pair<std::optional<double>, std::optional<double>> Alternate(
    int turns, std::optional<double> Speed::*speed, Ours ours, Theirs theirs) {
  std::vector<double> our_speeds;
  std::vector<double> their_speeds;
  const auto keep = [&](const Speed& one, std::vector<double>& into) {
    if (one.*speed) into.push_back(*(one.*speed));
  };
  keep(ours(), our_speeds);
  for (int turn = 0; turn < turns; ++turn) {
    keep(theirs(), their_speeds);
    keep(ours(), our_speeds);
  }
  return {Mean(our_speeds), Mean(their_speeds)};
}

// Figures by their names, of those that were asked for.
class Scores {
 public:
  explicit Scores(std::string only) : only_(std::move(only)) {}

  template <typename Ours, typename Theirs>
  void Add(const Figure& figure, int turns, std::optional<double> Speed::*speed,
           Ours ours, Theirs theirs) {
    if (figure.what.find(only_) == std::string::npos) return;
    scores_.try_emplace(figure.what, figure)
        .first->second.Add(Alternate(turns, speed, ours, theirs));
  }

  [[nodiscard]] std::vector<Figure> Results() const {
    std::vector<Figure> figures;
    figures.reserve(scores_.size());
    for (const auto& [key, score] : scores_) figures.push_back(score.Result());
    return figures;
  }

 private:
  std::string only_;
  std::map<std::string, Score> scores_;
};

// Small writes: against the bare loop with the same reader, which is wiretoll's
// since a reader's pace decides how often a writer has to wake it; and against
// the tools, whose readers are as small as their writers.
void SmallRound(Contest& contest, Scores& scores, std::int64_t write,
                bool nagle) {
  const std::string name =
      fmt::format("{} B, Nagle {} ", write, nagle ? "on" : "off");
  const Task plain{write, 65536, nagle, kSmallSeconds};
  scores.Add(
      {name + "against the bare loop", "writes/s", 0.97}, kTurnsWithBare,
      &Speed::writes, [&] { return contest.Ours(plain); },
      [&] { return contest.BareIntoOurs(plain); });

  // As long as theirs: a connection's first moments are its own.
  const Task alike{write, write, nagle, kToolSeconds};
  const auto against_tool = [&](const char* what, std::optional<double> goal,
                                auto ours, auto tool) {
    scores.Add({name + what, "B/s received", goal}, kTurnsWithTool,
               &Speed::received, ours, tool);
  };
  const auto ours = [&] { return contest.Ours(alike); };
  const auto nuttcp = [&] { return contest.Nuttcp(alike); };
  against_tool("against nuttcp -l, reader alike", 1.0, ours, nuttcp);
  against_tool(
      "(the bare loop in place of wiretoll) against nuttcp -l", std::nullopt,
      [&] { return contest.Bare(alike); }, nuttcp);
  const auto iperf3 = [&] { return contest.Iperf3(alike); };
  against_tool("against iperf3 -l, reader alike", 1.5, ours, iperf3);
  // What no sender can be beyond.
  if (nagle) return;
  against_tool(
      "(the bare loop in place of wiretoll) against iperf3 -l", std::nullopt,
      [&] { return contest.Bare(alike); }, iperf3);
}

void BigRound(Contest& contest, Scores& scores) {
  const Task task{kBigWrite, kBigWrite, true, kBigSeconds};
  const auto against = [&](int turns, const char* whom, double goal,
                           auto theirs) {
    scores.Add(
        {fmt::format("128 KiB writes against {}", whom), "B/s received", goal},
        turns, &Speed::received, [&] { return contest.Ours(task); }, theirs);
  };
  against(kTurnsWithBare, "the bare loop", 0.97,
          [&] { return contest.Bare(task); });
  against(kTurnsWithTool, "iperf3", 1.0, [&] { return contest.Iperf3(task); });
  against(kTurnsWithTool, "nuttcp", 1.0, [&] { return contest.Nuttcp(task); });
}

}  // namespace

std::vector<Figure> RunRounds(const Lab& lab, const BenchSpec& spec) {
  Contest contest(lab, spec);
  Scores scores(spec.only);
  for (int round = 0; round < spec.rounds; ++round) {
    std::fprintf(stderr, "bench: round %d of %d\n", round + 1, spec.rounds);
    for (const std::int64_t write : {1, 32}) {
      for (const bool nagle : {true, false})
        SmallRound(contest, scores, write, nagle);
    }
    BigRound(contest, scores);
  }
  return scores.Results();
}

}  // namespace wiretoll

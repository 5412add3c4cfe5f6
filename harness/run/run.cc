#include "harness/run/run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/interprocess/sync/file_lock.hpp>
#include <ctime>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "harness/run/clocks.h"
#include "harness/run/crew.h"
#include "harness/run/fragments.h"
#include "harness/run/trial.h"
#include "harness/run/trial_capture.h"
#include "harness/run/trial_files.h"
#include "harness/run/trial_time.h"
#include "harness/run/watch.h"

namespace wiretoll {
namespace {

using Clock = std::chrono::steady_clock;

std::string UtcNow() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

Mesh MeshOf(const RunSpec& spec) {
  Mesh mesh{{}, spec.pairs};
  for (const Host& host : spec.hosts) mesh.hosts.push_back(host.name);
  return mesh;
}

// What runs at once: a trial alone, or all flows of a group.
using Unit = std::span<const PlannedTrial>;

std::vector<Unit> UnitsOf(const std::vector<PlannedTrial>& plan) {
  std::vector<Unit> units;
  for (std::size_t at = 0; at < plan.size();) {
    const auto flows = static_cast<std::size_t>(plan[at].flows);
    units.emplace_back(&plan[at], flows);
    at += flows;
  }
  return units;
}

// Both must be the same, or the samples would not belong together.
Outcome<Done> CheckSameRun(const RunRecord& before, const RunRecord& now,
                           const std::string& folder) {
  const auto differs = [&](const char* what) {
    return Failure{ExitCode::kUsage,
                   fmt::format("{}: this run has {} than the one to resume; "
                               "start a new run instead",
                               folder, what)};
  };
  if (before.seed != now.seed) return differs("another seed");
  if (before.pairs != now.pairs) return differs("other pairs");
  if (before.filter != now.filter) return differs("another filter");
  const auto same_text = [](const RecordedStudy& a, const RecordedStudy& b) {
    return a.name == b.name && a.text == b.text;
  };
  if (!std::equal(before.studies.begin(), before.studies.end(),
                  now.studies.begin(), now.studies.end(), same_text)) {
    return differs("other studies");
  }
  return Done{};
}

class Runner {
 public:
  Runner(RunSpec spec, const RunHooks& hooks, Progress& progress)
      : spec_(std::move(spec)),
        mesh_(MeshOf(spec_)),
        hooks_(hooks),
        progress_(progress),
        watch_(io_, progress),
        crew_(
            io_, spec_.hosts, hooks.guard,
            [this] { return watch_.interrupted(); }, watch_.Waiting()) {}

  Outcome<RunSummary> Go() {
    if (auto ready = Prepare(); !ready.has_value()) return ready.error();
    if (!spec_.resume) {
      if (auto locked = Lock(); !locked.has_value()) return locked.error();
    }
    auto writer = SampleWriter::Open(spec_.folder);
    if (!writer.has_value()) return writer.error();
    summary_.left = block_trials_ * spec_.blocks - summary_.before;
    for (int block = 0; block < spec_.blocks && !Ended(); ++block) {
      RunBlock(block, writer.value());
    }
    summary_.interrupted = watch_.interrupted();
    return summary_;
  }

 private:
  [[nodiscard]] bool Ended() const {
    return watch_.interrupted() || enough_ || summary_.trouble.has_value();
  }

  Outcome<Done> Prepare() {
    spec_.record.hosts = crew_.Muster();
    if (watch_.interrupted()) {
      return Failure{ExitCode::kNothingRan, "stopped before the first trial"};
    }
    if (auto usable = CheckPairs(); !usable.has_value()) return usable;
    PlanTime();
    if (!spec_.resume) return CreateRunFolder(spec_.folder, spec_.record);
    if (auto locked = Lock(); !locked.has_value()) return locked;
    return TakeUp();
  }

  // Two runs in one folder would write the same trials twice. The lock goes
  // with the process, however that ends.
  Outcome<Done> Lock() {
    const auto file = spec_.folder / ".lock";
    std::ofstream(file, std::ios::app).close();
    try {
      lock_ = boost::interprocess::file_lock(file.c_str());
      if (lock_.try_lock()) return Done{};
    } catch (const boost::interprocess::interprocess_exception& error) {
      return Failure{ExitCode::kNothingRan,
                     fmt::format("{}: {}", file.string(), error.what())};
    }
    return Failure{ExitCode::kUsage,
                   fmt::format("{}: another wiretoll is writing here",
                               spec_.folder.string())};
  }

  // Some hosts may be missing: their trials fail. With none there is no run.
  Outcome<Done> CheckPairs() {
    const auto missing = [this](const std::string& name) {
      return !crew_.trouble(name).empty();
    };
    for (const Host& host : spec_.hosts) {
      if (!missing(host.name)) continue;
      progress_.Say(
          fmt::format("host {}: {}", host.name, crew_.trouble(host.name)));
    }
    const bool usable =
        std::any_of(spec_.pairs.begin(), spec_.pairs.end(), [&](auto& pair) {
          return !missing(pair.sender) && !missing(pair.receiver);
        });
    if (usable) return Done{};
    return Failure{ExitCode::kNothingRan,
                   "no pair of hosts has both its agents; nothing was run"};
  }

  Outcome<Done> TakeUp() {
    const auto before = ReadRunRecord(spec_.folder);
    if (!before.has_value()) return before.error();
    auto same =
        CheckSameRun(before.value(), spec_.record, spec_.folder.string());
    if (!same.has_value()) return same;
    const auto torn = DropTornGroups(spec_.folder);
    if (!torn.has_value()) return torn.error();
    const auto read = ForEachSample(spec_.folder, [this](Sample&& sample) {
      if (!done_.insert(sample.trial).second) return;
      Count(sample);
      ++summary_.before;
      hooks_.seen(sample);
    });
    if (!read.has_value()) return read.error();
    return Done{};
  }

  void RunBlock(int block, SampleWriter& writer) {
    const auto plan = MakeBlock(spec_.studies, mesh_, block, spec_.seed);
    for (const Unit& unit : UnitsOf(plan)) {
      // A group is done as a whole or not at all.
      if (done_.count(unit.front().id) > 0) {
        time_left_.Skipped(CellIndex(unit.front()));
        continue;
      }
      ShowProgress(block, unit.front());
      if (!RunOne(unit, writer)) return;
    }
    ++summary_.blocks;
    enough_ = hooks_.enough();
  }

  // False if the run has to end.
  bool RunOne(const Unit& unit, SampleWriter& writer) {
    const auto begin = Clock::now();
    const auto samples = Measure(unit);
    if (samples.empty() || Ended()) return false;
    auto written = writer.Append(samples);
    if (!written.has_value()) {
      summary_.trouble = written.error();
      return false;
    }
    for (const Sample& sample : samples) {
      Count(sample);
      --summary_.left;
      hooks_.seen(sample);
    }
    time_left_.Finished(CellIndex(unit.front()), Clock::now() - begin);
    // Lets a signal in between two trials.
    io_.poll();
    if (io_.stopped()) io_.restart();
    return !Ended();
  }

  // Empty if we were told to stop meanwhile.
  std::vector<Sample> Measure(const Unit& unit) {
    std::vector<Sample> samples;
    for (const PlannedTrial& planned : unit) samples.push_back(Blank(planned));
    if (const std::string trouble = GroundTrouble(); !trouble.empty()) {
      for (Sample& sample : samples) {
        sample.outcome = TrialOutcome::kFailed;
        sample.reason = trouble;
      }
      return samples;
    }
    std::vector<Sample*> running;
    std::vector<FlowRun> flows = FlowsOf(unit, samples, running);
    if (watch_.interrupted()) return {};
    const bool alone = unit.front().group.empty();
    const bool done = alone ? PerformAlone(unit.front(), flows, running)
                            : PerformTogether(flows, running);
    if (!done) return {};
    for (std::size_t i = 0; i < flows.size(); ++i) {
      Sample& sample = *running[i];
      if (!sample.sender || !sample.receiver) continue;
      hooks_.account(spec_.folder, Version(flows[i].receiver), sample);
    }
    return samples;
  }

  // Those whose hosts can be had, each with its sample.
  std::vector<FlowRun> FlowsOf(const Unit& unit, std::vector<Sample>& samples,
                               std::vector<Sample*>& running) {
    std::vector<FlowRun> flows;
    // Each once: a link that is asked for again may be another.
    std::map<std::string, AgentLink*> links;
    for (std::size_t i = 0; i < unit.size(); ++i) {
      const Pair& pair = spec_.pairs[unit[i].pair];
      const auto sender = Find(pair.sender, "sender", links, samples[i]);
      const auto receiver = Find(pair.receiver, "receiver", links, samples[i]);
      if (!sender.link || !receiver.link) continue;
      flows.push_back({sender, receiver, SpecOf(unit[i])});
      running.push_back(&samples[i]);
    }
    return flows;
  }

  [[nodiscard]] TrialSpec SpecOf(const PlannedTrial& planned) const {
    TrialSpec spec;
    spec.id = planned.id;
    spec.workload = CaseOf(planned).workload;
    spec.workload.streams = 1;  // Each of them is a trial.
    spec.first_port = spec_.first_port;
    spec.last_port = spec_.last_port;
    spec.payload_seed = spec_.seed + static_cast<std::uint64_t>(planned.order);
    spec.deadline = Deadline(planned);
    spec.group = planned.group;
    return spec;
  }

  [[nodiscard]] const Case& CaseOf(const PlannedTrial& planned) const {
    return spec_.studies[planned.study].cases[planned.case_index];
  }

  [[nodiscard]] bool Captured(const PlannedTrial& planned) const {
    return spec_.capture || spec_.studies[planned.study].capture;
  }

  // Of a connection only.
  [[nodiscard]] std::optional<Nanoseconds> SeriesOf(
      const PlannedTrial& planned) const {
    if (CaseOf(planned).workload.transport != Transport::kTcp) return {};
    const auto& asked = spec_.studies[planned.study].series;
    return spec_.series ? spec_.series : asked;
  }

  // Of the IP that the trial is over.
  static int Version(const TrialEnd& end) {
    return end.host->address.find(':') != std::string::npos ? 6 : 4;
  }

  // Anew for each trial: clocks drift, and may be set.
  void AskClocks(const TrialEnd& sender, const TrialEnd& receiver,
                 const std::function<bool()>& cancel, TrialSpec& spec) {
    auto clock = CompareClocks(io_, *sender.link, *receiver.link, cancel);
    if (clock.has_value()) {
      spec.sender_clock = clock.value();
    } else {
      spec.why_no_clock = clock.error().message;
    }
  }

  // Of the interface that has the host's address.
  std::optional<std::int64_t> MtuOf(const Host& host) const {
    const RecordedHost* recorded = FindHost(spec_.record, host.name);
    if (recorded == nullptr) return std::nullopt;
    for (const RecordedFact& fact : recorded->facts) {
      const auto* mtu = std::get_if<std::int64_t>(&fact.value);
      if (fact.name == "mtu_bytes" && mtu != nullptr) return *mtu;
    }
    return std::nullopt;
  }

  // The trial, with a capture around it where one is asked for. False if we
  // were told to stop meanwhile.
  bool PerformAlone(const PlannedTrial& planned, std::vector<FlowRun>& flows,
                    const std::vector<Sample*>& running) {
    if (flows.empty()) return true;
    auto& [sender, receiver, spec] = flows.front();
    Sample& sample = *running.front();
    const TrialFiles files(io_, spec_.folder,
                           TrialStem(sample.trial, sample.order), cancel_);
    TrialCapture capture(files);
    spec.log_calls = Captured(planned);
    spec.series = SeriesOf(planned);
    if (spec.log_calls) {
      capture.Begin(sender, receiver, spec, spec_.snap_bytes);
    }
    if (!PerformTogether(flows, running)) return false;
    const bool ok = sample.outcome == TrialOutcome::kOk;
    // Agents of a trial that did not end well may hold another's.
    if (spec.series && ok) {
      sample.series = KeepSeries(files, sender, receiver);
    } else if (spec.series) {
      sample.series = SeriesRecord{"", "the trial did not end well"};
    }
    if (!spec.log_calls) return true;
    sample.capture = capture.End(sender, receiver, ok);
    const bool reported = sample.sender && sample.receiver;
    if (!reported && sample.capture->reason.empty()) {
      sample.capture->reason =
          "the trial did not end well: what its file holds was not counted";
    }
    return true;
  }

  // False if we were told to stop meanwhile.
  bool PerformTogether(std::vector<FlowRun>& flows,
                       const std::vector<Sample*>& running) {
    for (FlowRun& flow : flows) {
      if (flow.spec.workload.transport != Transport::kUdp) continue;
      AskClocks(flow.sender, flow.receiver, cancel_, flow.spec);
    }
    auto results = RunFlows(io_, flows, cancel_);
    const auto overlaps = Overlaps(results);
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (watch_.interrupted() && results[i].cancelled) return false;
      auto& flow = running[i]->flow;
      const bool all = flow && std::cmp_equal(flows.size(), flow->flows);
      if (all) flow->overlap = overlaps[i];
      Record(std::move(results[i]), flows[i], *running[i]);
    }
    return true;
  }

  void Record(TrialResult result, const FlowRun& flow, Sample& sample) {
    BlameGround(result);
    sample.outcome = result.outcome;
    sample.reason = std::move(result.reason);
    sample.sender = std::move(result.sender);
    sample.receiver = std::move(result.receiver);
    sample.datagrams = std::move(result.datagrams);
    if (!sample.datagrams) return;
    FillFragments(flow.spec.workload, MtuOf(*flow.sender.host),
                  Version(flow.receiver), *sample.datagrams);
  }

  [[nodiscard]] std::string GroundTrouble() const {
    return hooks_.trouble ? hooks_.trouble() : std::string();
  }

  // What an end says of a trial that lost its line is a consequence.
  void BlameGround(TrialResult& result) const {
    const std::string trouble = GroundTrouble();
    if (trouble.empty()) return;
    if (!result.cancelled && result.outcome == TrialOutcome::kOk) return;
    result.outcome = TrialOutcome::kFailed;
    result.reason = trouble;
  }

  Sample Blank(const PlannedTrial& planned) const {
    const Case& the_case = CaseOf(planned);
    Sample sample;
    sample.trial = planned.id;
    sample.study = spec_.studies[planned.study].name;
    sample.case_id = the_case.id;
    sample.factors = the_case.factors;
    sample.repeat = planned.repeat;
    sample.order = planned.order;
    sample.started = UtcNow();
    sample.link = spec_.record.link.description;
    if (planned.group.empty()) return sample;
    const auto topology = static_cast<std::size_t>(the_case.topology);
    sample.flow =
        TrialFlow{planned.group, std::string(kTopologyNames[topology]),
                  planned.flows, planned.index, std::nullopt};
    if (Captured(planned)) {
      sample.capture.emplace();
      sample.capture->reason =
          "flows at once are not captured: only trials alone are";
    }
    if (SeriesOf(planned)) {
      sample.series = SeriesRecord{
          "", "flows at once have no time series: only trials alone have"};
    }
    return sample;
  }

  // Without a link the sample is made to say why.
  TrialEnd Find(const std::string& name, const char* role,
                std::map<std::string, AgentLink*>& links, Sample& sample) {
    const auto [found, is_new] = links.try_emplace(name, nullptr);
    if (is_new) found->second = crew_.Get(name);
    AgentLink* link = found->second;
    if (link == nullptr && sample.outcome == TrialOutcome::kOk) {
      sample.outcome = TrialOutcome::kFailed;
      sample.reason = fmt::format("{} {}: {}", role, name, crew_.trouble(name));
    }
    return {&crew_.host(name), link};
  }

  void Count(const Sample& sample) {
    switch (sample.outcome) {
      case TrialOutcome::kOk:
        ++summary_.ok;
        break;
      case TrialOutcome::kFailed:
        ++summary_.failed;
        break;
      case TrialOutcome::kSkipped:
        ++summary_.skipped;
        break;
    }
  }

  // Flows at once share a line.
  [[nodiscard]] std::chrono::milliseconds Deadline(
      const PlannedTrial& planned) const {
    return spec_.trial_deadline.value_or(DeadlineFor(
        CaseOf(planned).workload, spec_.record.link, planned.flows));
  }

  // Every cell has its place; the time of a group is that of its first flow's.
  void PlanTime() {
    for (const Study& study : spec_.studies) {
      first_cell_.push_back(cells_planned_);
      cells_planned_ += study.cases.size() * spec_.pairs.size();
    }
    const auto plan = MakeBlock(spec_.studies, mesh_, 0, spec_.seed);
    block_trials_ = static_cast<std::int64_t>(plan.size());
    std::vector<Nanoseconds> expected(cells_planned_);
    for (const Unit& unit : UnitsOf(plan)) {
      const PlannedTrial& first = unit.front();
      expected[CellIndex(first)] =
          ExpectedTime(CaseOf(first).workload, spec_.record.link, first.flows);
    }
    for (const Nanoseconds time : expected) {
      const bool none = time.count() == 0;
      time_left_.Plan(none ? Nanoseconds{1} : time, none ? 0 : spec_.blocks);
    }
  }

  [[nodiscard]] std::size_t CellIndex(const PlannedTrial& planned) const {
    return first_cell_[planned.study] +
           planned.case_index * spec_.pairs.size() + planned.pair;
  }

  std::string NameOf(const PlannedTrial& planned) const {
    const Pair& pair = spec_.pairs[planned.pair];
    const Case& the_case = CaseOf(planned);
    if (planned.group.empty()) {
      return fmt::format("{} > {} {}", pair.sender, pair.receiver, the_case.id);
    }
    const auto topology = static_cast<std::size_t>(the_case.topology);
    return fmt::format("{} flows at once, {}, {}", planned.flows,
                       kTopologyNames[topology], the_case.id);
  }

  void ShowProgress(int block, const PlannedTrial& planned) {
    const std::int64_t trials = block_trials_ * spec_.blocks;
    progress_.Show({block + 1, spec_.blocks, trials - summary_.left, trials,
                    summary_.failed, summary_.skipped, time_left_.Estimate(),
                    NameOf(planned), Deadline(planned)});
  }

  boost::asio::io_context io_;
  boost::interprocess::file_lock lock_;
  RunSpec spec_;
  Mesh mesh_;
  const RunHooks& hooks_;
  Progress& progress_;
  Watch watch_;
  Crew crew_;
  TimeLeft time_left_;
  std::vector<std::size_t> first_cell_;  // Of each study.
  std::size_t cells_planned_ = 0;
  std::int64_t block_trials_ = 0;  // In one block.
  std::set<std::string> done_;
  RunSummary summary_;
  bool enough_ = false;
  // What ends a trial before its time.
  const std::function<bool()> cancel_ = [this] {
    return watch_.interrupted() || !GroundTrouble().empty();
  };
};

}  // namespace

Outcome<RunSummary> Run(RunSpec spec, const RunHooks& hooks,
                        Progress& progress) {
  return Runner(std::move(spec), hooks, progress).Go();
}

}  // namespace wiretoll

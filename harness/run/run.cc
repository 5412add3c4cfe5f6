#include "harness/run/run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/interprocess/sync/file_lock.hpp>
#include <ctime>
#include <fstream>
#include <set>
#include <utility>

#include "harness/run/clocks.h"
#include "harness/run/crew.h"
#include "harness/run/fragments.h"
#include "harness/run/trial.h"
#include "harness/run/trial_capture.h"
#include "harness/run/trial_time.h"
#include "harness/run/watch.h"

namespace wiretoll {
namespace {

using Clock = std::chrono::steady_clock;

std::string UtcNow() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::int64_t CellCount(const RunSpec& spec) {
  std::int64_t cases = 0;
  for (const Study& study : spec.studies) {
    cases += static_cast<std::int64_t>(study.cases.size());
  }
  return cases * static_cast<std::int64_t>(spec.pairs.size());
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
    summary_.left = CellCount(spec_) * spec_.blocks - summary_.before;
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
    const auto trials =
        MakeBlock(spec_.studies, spec_.pairs, block, spec_.seed);
    for (const PlannedTrial& trial : trials) {
      if (done_.count(trial.id) > 0) {
        time_left_.Skipped(CellIndex(trial));
        continue;
      }
      ShowProgress(block, trial);
      if (!RunOne(trial, writer)) return;
    }
    ++summary_.blocks;
    enough_ = hooks_.enough();
  }

  // False if the run has to end.
  bool RunOne(const PlannedTrial& planned, SampleWriter& writer) {
    const auto begin = Clock::now();
    auto sample = Measure(planned);
    if (!sample || Ended()) return false;
    auto written = writer.Append(*sample);
    if (!written.has_value()) {
      summary_.trouble = written.error();
      return false;
    }
    Count(*sample);
    --summary_.left;
    hooks_.seen(*sample);
    time_left_.Finished(CellIndex(planned), Clock::now() - begin);
    // Lets a signal in between two trials.
    io_.poll();
    if (io_.stopped()) io_.restart();
    return !Ended();
  }

  // Empty if we were told to stop meanwhile.
  std::optional<Sample> Measure(const PlannedTrial& planned) {
    const Study& study = spec_.studies[planned.study];
    const Case& the_case = study.cases[planned.case_index];
    Sample sample = Blank(planned);
    if (std::string trouble = GroundTrouble(); !trouble.empty()) {
      sample.outcome = TrialOutcome::kFailed;
      sample.reason = std::move(trouble);
      return sample;
    }
    const Pair& pair = spec_.pairs[planned.pair];
    const auto sender = Find(pair.sender, "sender", sample);
    const auto receiver = Find(pair.receiver, "receiver", sample);
    if (watch_.interrupted()) return std::nullopt;
    if (!sender.link || !receiver.link) return sample;
    TrialSpec spec;
    spec.id = planned.id;
    spec.workload = the_case.workload;
    spec.first_port = spec_.first_port;
    spec.last_port = spec_.last_port;
    spec.payload_seed = spec_.seed + static_cast<std::uint64_t>(planned.order);
    spec.deadline = Deadline(spec.workload);
    if (!Perform(sender, receiver, spec, study.capture, sample)) {
      return std::nullopt;
    }
    if (sample.sender && sample.receiver) {
      hooks_.account(spec_.folder, Version(receiver), sample);
    }
    return sample;
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
  bool Perform(const TrialEnd& sender, const TrialEnd& receiver,
               TrialSpec& spec, bool study_captures, Sample& sample) {
    const std::function<bool()> cancel = [this] {
      return watch_.interrupted() || !GroundTrouble().empty();
    };
    spec.log_calls = spec_.capture || study_captures;
    TrialCapture capture(io_, spec_.folder,
                         CaptureStem(sample.trial, sample.order), cancel);
    if (spec.log_calls) {
      capture.Begin(sender, receiver, spec, spec_.snap_bytes);
    }
    if (spec.workload.transport == Transport::kUdp) {
      AskClocks(sender, receiver, cancel, spec);
    }
    auto result = RunTrial(io_, sender, receiver, spec, cancel);
    if (watch_.interrupted() && result.cancelled) return false;
    BlameGround(result);
    sample.outcome = result.outcome;
    sample.reason = std::move(result.reason);
    sample.sender = std::move(result.sender);
    sample.receiver = std::move(result.receiver);
    sample.datagrams = std::move(result.datagrams);
    if (sample.datagrams) {
      FillFragments(spec.workload, MtuOf(*sender.host), Version(receiver),
                    *sample.datagrams);
    }
    if (spec.log_calls) {
      const bool ok = sample.outcome == TrialOutcome::kOk;
      sample.capture = capture.End(sender, receiver, ok);
      const bool reported = sample.sender && sample.receiver;
      if (!reported && sample.capture->reason.empty()) {
        sample.capture->reason =
            "the trial did not end well: what its file holds was not counted";
      }
    }
    return true;
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
    const Study& study = spec_.studies[planned.study];
    const Case& the_case = study.cases[planned.case_index];
    Sample sample;
    sample.trial = planned.id;
    sample.study = study.name;
    sample.case_id = the_case.id;
    sample.factors = the_case.factors;
    sample.repeat = planned.repeat;
    sample.order = planned.order;
    sample.started = UtcNow();
    sample.link = spec_.record.link.description;
    return sample;
  }

  // Without a link the sample is made to say why.
  TrialEnd Find(const std::string& name, const char* role, Sample& sample) {
    AgentLink* link = crew_.Get(name);
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

  [[nodiscard]] std::chrono::milliseconds Deadline(
      const Workload& workload) const {
    return spec_.trial_deadline.value_or(
        DeadlineFor(workload, spec_.record.link));
  }

  // Cells in the order of PlanTime().
  void PlanTime() {
    for (const Study& study : spec_.studies) {
      first_cell_.push_back(cells_planned_);
      cells_planned_ += study.cases.size() * spec_.pairs.size();
      for (const Case& the_case : study.cases) {
        const Nanoseconds expected =
            ExpectedTime(the_case.workload, spec_.record.link);
        for (std::size_t pair = 0; pair < spec_.pairs.size(); ++pair)
          time_left_.Plan(expected, spec_.blocks);
      }
    }
  }

  [[nodiscard]] std::size_t CellIndex(const PlannedTrial& planned) const {
    return first_cell_[planned.study] +
           planned.case_index * spec_.pairs.size() + planned.pair;
  }

  std::string CellName(const PlannedTrial& planned) const {
    const Pair& pair = spec_.pairs[planned.pair];
    const Study& study = spec_.studies[planned.study];
    return fmt::format("{} > {} {}", pair.sender, pair.receiver,
                       study.cases[planned.case_index].id);
  }

  void ShowProgress(int block, const PlannedTrial& planned) {
    const std::int64_t trials = CellCount(spec_) * spec_.blocks;
    const Study& study = spec_.studies[planned.study];
    progress_.Show({block + 1, spec_.blocks, trials - summary_.left, trials,
                    summary_.failed, summary_.skipped, time_left_.Estimate(),
                    CellName(planned),
                    Deadline(study.cases[planned.case_index].workload)});
  }

  boost::asio::io_context io_;
  boost::interprocess::file_lock lock_;
  RunSpec spec_;
  const RunHooks& hooks_;
  Progress& progress_;
  Watch watch_;
  Crew crew_;
  TimeLeft time_left_;
  std::vector<std::size_t> first_cell_;  // Of each study.
  std::size_t cells_planned_ = 0;
  std::set<std::string> done_;
  RunSummary summary_;
  bool enough_ = false;
};

}  // namespace

Outcome<RunSummary> Run(RunSpec spec, const RunHooks& hooks,
                        Progress& progress) {
  return Runner(std::move(spec), hooks, progress).Go();
}

}  // namespace wiretoll

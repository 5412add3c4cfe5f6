#include "harness/programs/run_verb.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string_view>
#include <utility>

#include "harness/analysis/analysis.h"
#include "harness/base/version.h"
#include "harness/base/words.h"
#include "harness/programs/account.h"
#include "harness/programs/ground.h"
#include "harness/programs/standard_error.h"
#include "harness/programs/stop_signals.h"
#include "harness/run/run.h"
#include "platform/process.h"
#include "platform/terminal.h"
#include "reports/report.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

constexpr char kDefaultStudy[] = "quick";
constexpr int kBlocksForPrecision = 30;
constexpr int kQuickBlocks = 3;
constexpr Bytes kQuickBytes{1'048'576};
constexpr Nanoseconds kQuickTime = std::chrono::milliseconds(100);

// --- Studies --------------------------------------------------------------

Outcome<std::vector<Study>> FindStudies(std::vector<std::string> names) {
  if (names.empty()) names.emplace_back(kDefaultStudy);
  std::vector<Study> studies;
  for (const std::string& name : names) {
    auto study = FindStudy(name);
    if (!study.has_value()) return study.error();
    const bool twice = std::any_of(
        studies.begin(), studies.end(),
        [&](const Study& other) { return other.name == study.value().name; });
    if (twice) {
      return Failure{ExitCode::kUsage,
                     fmt::format("study \"{}\" is named twice", name)};
    }
    studies.push_back(std::move(study).value());
  }
  return studies;
}

// The studies as the run to be taken up wrote them down.
Outcome<std::vector<Study>> RecordedStudies(const RunRecord& record) {
  std::vector<Study> studies;
  for (const RecordedStudy& recorded : record.studies) {
    auto study = ParseStudy(recorded.text, recorded.file);
    if (!study.has_value()) return study.error();
    studies.push_back(std::move(study).value());
  }
  return studies;
}

void MakeQuick(Study& study) {
  for (Case& the_case : study.cases) {
    Workload& work = the_case.workload;
    work.stop_bytes =
        std::min(work.stop_bytes.value_or(kQuickBytes), kQuickBytes);
    work.stop_time = std::min(work.stop_time.value_or(kQuickTime), kQuickTime);
  }
  study.repeats = std::min(study.repeats, kQuickBlocks);
}

// --- The run --------------------------------------------------------------

std::string FolderName(const std::vector<Study>& studies) {
  std::string name =
      fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(std::time(nullptr)));
  for (const Study& study : studies) {
    if (name.size() < 100) name += "-" + study.name;
  }
  return name;
}

// Names from the user's files must not make paths of their own.
fs::path DefaultFolder(const std::vector<Study>& studies) {
  std::string name = FolderName(studies);
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return c == '/' || c == '\\' || c == ' '; }, '_');
  return fs::path("runs") / name;
}

// Agents pick congestion control as the lab says where a study is silent:
// the default differs from host to host.
void SetCongestion(const std::string& congestion, std::vector<Study>& studies) {
  if (congestion.empty()) return;
  for (Study& study : studies) {
    for (Case& the_case : study.cases) {
      auto& chosen = the_case.workload.congestion;
      const bool named = FindFactor(the_case.factors, "congestion") != nullptr;
      if (!chosen && !named) chosen = congestion;
    }
  }
}

Outcome<std::vector<Pair>> ChoosePairs(const RunOptions& options,
                                       const std::vector<Host>& hosts) {
  std::vector<std::string> names;
  names.reserve(hosts.size());
  for (const Host& host : hosts) names.push_back(host.name);
  if (!options.pairs) return AllPairs(names);
  return ParsePairs(*options.pairs, names);
}

int ChooseBlocks(const RunOptions& options, const std::vector<Study>& studies) {
  if (options.repeats) return *options.repeats;
  if (options.precision) return kBlocksForPrecision;
  int blocks = 1;
  for (const Study& study : studies) blocks = std::max(blocks, study.repeats);
  return blocks;
}

std::uint64_t NewSeed() {
  std::random_device device;
  // Short enough to be typed again.
  return device() % 1000000000U;
}

RunRecord MakeRecord(const RunOptions& options, const RunSpec& spec,
                     const RecordedLink& link) {
  RunRecord record;
  record.wiretoll_version = kVersion;
  record.started =
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  record.command = {"wiretoll"};
  record.command.insert(record.command.end(), options.arguments.begin(),
                        options.arguments.end());
  record.command.emplace_back("--seed");
  record.command.push_back(std::to_string(spec.seed));
  record.seed = spec.seed;
  record.repeats = spec.blocks;
  record.precision = options.precision;
  record.filter = options.filter;
  for (const Study& study : spec.studies)
    record.studies.push_back({study.name, study.file, study.text});
  for (const Pair& pair : spec.pairs)
    record.pairs.emplace_back(pair.sender, pair.receiver);
  record.link = link;
  return record;
}

Outcome<std::vector<Study>> ChooseStudies(const RunOptions& options,
                                          const RunRecord* before) {
  auto studies = before != nullptr ? RecordedStudies(*before)
                                   : FindStudies(options.studies);
  if (!studies.has_value()) return studies;
  if (options.quick) {
    for (Study& study : studies.value()) MakeQuick(study);
  }
  const auto kept = KeepFiltered(options.filter, studies.value());
  if (!kept.has_value()) return kept.error();
  return studies;
}

Outcome<RunSpec> MakeSpec(const RunOptions& options, const Ground& ground,
                          std::vector<Study> studies) {
  RunSpec spec;
  spec.studies = std::move(studies);
  SetCongestion(ground.congestion, spec.studies);
  spec.hosts = ground.hosts;
  auto pairs = ChoosePairs(options, spec.hosts);
  if (!pairs.has_value()) return pairs.error();
  spec.pairs = std::move(pairs).value();
  Mesh mesh{{}, spec.pairs};
  for (const Host& host : spec.hosts) mesh.hosts.push_back(host.name);
  if (auto fits = CheckTopologies(spec.studies, mesh); !fits.has_value())
    return fits.error();
  spec.blocks = ChooseBlocks(options, spec.studies);
  spec.seed = options.seed ? *options.seed : NewSeed();
  spec.first_port = options.first_port;
  spec.last_port = options.last_port;
  spec.trial_deadline = options.deadline;
  spec.folder =
      options.out ? fs::path(*options.out) : DefaultFolder(spec.studies);
  spec.capture = options.capture;
  spec.series = options.series;
  spec.snap_bytes = options.snap_bytes;
  spec.resume = options.resume;
  spec.record = MakeRecord(options, spec, ground.link);
  return spec;
}

// Why trials were not ok, most frequent first, on standard error.
class Reasons {
 public:
  void Add(const Sample& sample) {
    if (sample.outcome == TrialOutcome::kOk || counts_.size() >= 1000) return;
    const bool failed = sample.outcome == TrialOutcome::kFailed;
    ++counts_[{failed ? "failed" : "skipped", sample.reason}];
  }
  void Tell() const {
    std::vector<std::pair<int, std::pair<std::string, std::string>>> sorted;
    for (const auto& [what, count] : counts_) sorted.emplace_back(count, what);
    std::sort(sorted.rbegin(), sorted.rend());
    constexpr std::size_t kMost = 5;
    for (std::size_t i = 0; i < std::min(kMost, sorted.size()); ++i) {
      const auto& [count, what] = sorted[i];
      WriteError(fmt::format("wiretoll: {} {}: {}\n", Count(count, "trial"),
                             what.first, what.second));
    }
    if (sorted.size() > kMost)
      WriteError(fmt::format(
          "wiretoll: and {}; the report has all\n",
          Count(static_cast<long long>(sorted.size() - kMost), "more reason")));
  }

 private:
  std::map<std::pair<std::string, std::string>, int> counts_;
};

Outcome<RunSummary> Measure(const RunOptions& options, RunSpec spec,
                            std::optional<Lab>& lab) {
  Reasons reasons;
  PrecisionGoal goal(options.precision.value_or(1), spec.seed);
  RunHooks hooks;
  hooks.guard = KeepFromChildren;
  hooks.account = AccountSample;
  hooks.seen = [&](const Sample& sample) {
    reasons.Add(sample);
    if (options.precision) goal.Add(sample);
  };
  hooks.trouble = [&lab] { return lab ? lab->Trouble() : std::string(); };
  hooks.enough = [&] { return options.precision && goal.Reached(); };
  Progress progress({options.quiet, StandardErrorIsTerminal()}, WriteError);
  auto summary = Run(std::move(spec), hooks, progress);
  NoteStopSignals();
  reasons.Tell();
  if (summary.has_value() && options.precision && !goal.Reached()) {
    const auto widest = goal.Widest();
    progress.Say(fmt::format(
        "the precision asked for was not reached{}: more --repeats may help",
        widest ? fmt::format(" (widest interval: {:.1f} % either way)",
                             100 * *widest)
               : std::string()));
  }
  return summary;
}

Outcome<std::string> ReportOn(const fs::path& folder) {
  ReportSpec spec;
  spec.out = folder / "report";
  spec.runs = {folder};
  auto written = WriteReport(spec);
  if (!written.has_value()) return written.error();
  for (const std::string& warning : written.value().warnings)
    WriteError(fmt::format("wiretoll: {}\n", warning));
  return written.value().files.front().string();
}

void Tell(const RunOptions& options, const RunSummary& summary,
          const std::string& folder, const std::string& report) {
  if (options.json) {
    nlohmann::json json{{"run", folder},
                        {"ok", summary.ok},
                        {"failed", summary.failed},
                        {"skipped", summary.skipped},
                        {"left", summary.left},
                        {"blocks", summary.blocks}};
    json["report"] = report.empty() ? nlohmann::json() : nlohmann::json(report);
    std::puts(
        json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
            .c_str());
    return;
  }
  fmt::print("trials: {} ok, {} failed, {} skipped; {}\n", summary.ok,
             summary.failed, summary.skipped,
             Count(summary.blocks, "complete block"));
  fmt::print("run:    {}\n", folder);
  if (!report.empty()) fmt::print("report: {}\n", report);
}

std::string ResumeCommand(const std::string& folder) {
  return fmt::format("wiretoll run --resume --out {}", folder);
}

void TellHowToGoOn(const RunSummary& summary, const std::string& folder) {
  WriteError(fmt::format(
      "wiretoll: {}; {} left. All that was measured is in {}\n"
      "to go on:  {}\nto look:   wiretoll report {}\n",
      summary.trouble ? summary.trouble->message : "stopped",
      Count(summary.left, "trial"), folder, ResumeCommand(folder), folder));
}

// What --resume found whole.
bool NothingWasMissing(const RunSummary& summary) {
  return summary.before > 0 &&
         summary.before == summary.ok + summary.failed + summary.skipped;
}

Outcome<ExitCode> Finish(const RunOptions& options, const RunSummary& summary,
                         const std::string& folder) {
  const bool cut_short = summary.interrupted || summary.trouble;
  if (!cut_short && !options.quiet && NothingWasMissing(summary))
    WriteError("nothing was missing: every trial of that run was there\n");
  std::string report;
  bool unreported = false;
  if (options.report && !cut_short) {
    if (!options.quiet) WriteError("writing the report\n");
    auto written = ReportOn(folder);
    // What was measured stands, and is told all the same.
    unreported = !written.has_value();
    if (unreported) {
      WriteError(fmt::format("wiretoll: {}\n", written.error().message));
    } else {
      report = written.value();
    }
  }
  Tell(options, summary, folder, report);
  if (cut_short) TellHowToGoOn(summary, folder);
  if (cut_short || unreported || summary.failed > 0)
    return ExitCode::kSomeTrialsFailed;
  return summary.ok > 0 ? ExitCode::kDone : ExitCode::kNothingRan;
}

// The options that the run to be taken up was started with.
Outcome<RunOptions> OptionsOf(const RunRecord& record,
                              const RunOptions& given) {
  const std::vector<std::string> arguments(record.command.begin() + 1,
                                           record.command.end());
  Command command = ParseCommandLine(arguments);
  auto* run = std::get_if<RunOptions>(&command);
  if (run == nullptr) {
    return Failure{ExitCode::kUsage,
                   *given.out + "/run.json: its command cannot be run again"};
  }
  run->out = given.out;
  run->resume = true;
  run->report = given.report;
  run->quiet = given.quiet;
  run->json = given.json;
  return *run;
}

Outcome<ExitCode> RunWith(const RunOptions& options, const RunRecord* before,
                          const std::vector<std::string>& arguments) {
  // Studies first: a mistake in one must cost nothing.
  auto studies = ChooseStudies(options, before);
  if (!studies.has_value()) return studies.error();
  NoteStopSignals();
  auto ground =
      FindGround({options.hosts, options.lab, options.quiet, arguments});
  if (!ground.has_value()) return ground.error();
  if (StopRequested()) {
    return Failure{ExitCode::kNothingRan, "stopped before the first trial"};
  }
  auto spec = MakeSpec(options, ground.value(), std::move(studies).value());
  if (!spec.has_value()) return spec.error();
  WriteError(ground.value().line_check);
  const std::string folder = spec.value().folder.string();
  const auto summary =
      Measure(options, std::move(spec).value(), ground.value().lab);
  ground.value().lab.reset();  // Before the report: it may take a while.
  if (!summary.has_value()) return summary.error();
  return Finish(options, summary.value(), folder);
}

// How to start this very verb again, inside a user namespace.
std::vector<std::string> OwnArguments(const RunOptions& options) {
  std::vector<std::string> arguments = options.arguments;
  if (options.seed) {
    arguments.emplace_back("--seed");
    arguments.push_back(std::to_string(*options.seed));
  }
  if (options.out) {
    arguments.emplace_back("--out");
    arguments.push_back(*options.out);
  }
  if (options.resume) arguments.emplace_back("--resume");
  if (!options.report) arguments.emplace_back("--no-report");
  if (options.quiet) arguments.emplace_back("--quiet");
  if (options.json) arguments.emplace_back("--json");
  return arguments;
}

}  // namespace

Outcome<Done> KeepFiltered(const std::string& expression,
                           std::vector<Study>& studies) {
  if (expression.empty()) return Done{};
  const auto filter = Filter::Parse(expression);
  if (!filter.has_value()) return filter.error();
  std::size_t left = 0;
  for (Study& study : studies) {
    auto& cases = study.cases;
    cases.erase(
        std::remove_if(cases.begin(), cases.end(),
                       [&](const Case& the_case) {
                         return !filter.value().Accepts(the_case.factors);
                       }),
        cases.end());
    left += cases.size();
  }
  if (left > 0) return Done{};
  return Failure{ExitCode::kUsage,
                 fmt::format("--filter \"{}\" leaves no cell", expression)};
}

Outcome<fs::path> RunFolder(const std::string& name) {
  if (name.empty()) {
    return Failure{ExitCode::kUsage, "an empty name is no run folder"};
  }
  const fs::path path(name);
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return path;
  if (path.filename() == "run.json" || path.filename() == "samples.jsonl")
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
  return Failure{ExitCode::kUsage,
                 fmt::format("{}: is a file; give the run folder, which holds "
                             "run.json and samples.jsonl",
                             name)};
}

Outcome<ExitCode> RunVerb(const RunOptions& given) {
  const auto arguments = OwnArguments(given);
  if (!given.resume) return RunWith(given, nullptr, arguments);
  if (!given.out) {
    return Failure{ExitCode::kUsage,
                   "--resume needs --out DIR, the run folder to take up"};
  }
  const auto folder = RunFolder(*given.out);
  if (!folder.has_value()) return folder.error();
  RunOptions options = given;
  options.out = folder.value().string();
  if (options.arguments.size() > 1) {
    return Failure{ExitCode::kUsage,
                   fmt::format("--resume takes studies and options from {}/"
                               "run.json; leave out: {}",
                               *options.out,
                               fmt::join(options.arguments.begin() + 1,
                                         options.arguments.end(), " "))};
  }
  const auto record = ReadRunRecord(folder.value());
  if (!record.has_value()) return record.error();
  const auto before = OptionsOf(record.value(), options);
  if (!before.has_value()) return before.error();
  return RunWith(before.value(), &record.value(), arguments);
}

fs::path CasesFolder() {
  std::vector<fs::path> places;
  if (const char* told = std::getenv("WIRETOLL_CASES"))
    places.emplace_back(told);
  places.emplace_back("cases");
  const fs::path program = ProgramFile().parent_path();
  places.push_back(program / "../share/wiretoll/cases");
  // In a build folder: the checkout is some folders up.
  fs::path up = program;
  for (int level = 0; level < 5; ++level) {
    up = up.parent_path();
    places.push_back(up / "cases");
  }
  std::error_code error;
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place / "quick.toml", error))
      return place.lexically_normal();
  }
  return {};
}

Outcome<Study> FindStudy(const std::string& name) {
  std::error_code error;
  const bool is_file = name.find('/') != std::string::npos ||
                       fs::path(name).extension() == ".toml" ||
                       fs::is_regular_file(name, error);
  if (is_file) return LoadStudy(name);
  const fs::path cases = CasesFolder();
  const fs::path file = cases / (name + ".toml");
  if (!cases.empty() && fs::is_regular_file(file, error))
    return LoadStudy(file.string());
  std::vector<std::string> known;
  if (!cases.empty()) {
    for (const auto& entry : fs::directory_iterator(cases, error)) {
      if (entry.path().extension() == ".toml")
        known.push_back(entry.path().stem().string());
    }
  }
  std::sort(known.begin(), known.end());
  return Failure{
      ExitCode::kUsage,
      fmt::format("no study \"{}\"; there is: {} (or give a .toml file)", name,
                  known.empty() ? std::string("none found")
                                : fmt::format("{}", fmt::join(known, ", ")))};
}

}  // namespace wiretoll

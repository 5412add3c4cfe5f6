#include "harness/programs/export_verb.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/units.h"
#include "harness/base/words.h"
#include "harness/export/export.h"
#include "harness/programs/run_verb.h"
#include "harness/programs/standard_error.h"
#include "platform/terminal.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// How far it is: over and over the same line on a terminal, else one every ten
// seconds; none of what is over within two.
class ExportedLine {
 public:
  explicit ExportedLine(bool quiet)
      : quiet_(quiet), terminal_(StandardErrorIsTerminal()) {}
  ExportedLine(const ExportedLine&) = delete;
  ExportedLine& operator=(const ExportedLine&) = delete;
  ~ExportedLine() {
    if (shown_ > 0) WriteError(fmt::format("\r{:{}}\r", "", shown_));
  }

  void Show(const fs::path& run, std::int64_t samples) {
    const SteadyTime now = std::chrono::steady_clock::now();
    if (quiet_ || now < next_) return;
    next_ = now + (terminal_ ? 100ms : 10s);
    std::string line =
        fmt::format("{}: {} read, {}", run.string(), Count(samples, "sample"),
                    FormatDuration(now - began_));
    if (!terminal_) return WriteError(line + "\n");
    const std::size_t width = line.size();
    if (shown_ > width) line.append(shown_ - width, ' ');
    WriteError("\r" + line);
    shown_ = width;
  }

 private:
  bool quiet_;
  bool terminal_;
  SteadyTime began_ = std::chrono::steady_clock::now();
  SteadyTime next_ = began_ + 2s;
  std::size_t shown_ = 0;  // Columns of the line that stands.
};

void Warn(const ExportedRun& run) {
  const std::string folder = run.folder.string();
  if (run.torn_last_line) {
    fmt::print(stderr,
               "wiretoll: {}: the last line of samples.jsonl is torn (the run "
               "was killed) and left out\n",
               folder);
  }
  if (run.of_torn_groups > 0) {
    fmt::print(stderr,
               "wiretoll: {}: {} left out, of flows that ran at once with "
               "others that are missing; `wiretoll run --resume --out {}` does "
               "them again\n",
               folder, Count(run.of_torn_groups, "sample"), folder);
  }
}

void Tell(const ExportedRun& run) {
  fmt::print(stderr, "{}: {} added{}\n", run.folder.string(),
             Count(run.added, "trial"),
             run.there_already == 0
                 ? std::string()
                 : fmt::format(", {} there already", run.there_already));
}

Outcome<std::vector<fs::path>> RunFolders(
    const std::vector<std::string>& names) {
  std::vector<fs::path> runs;
  for (const std::string& name : names) {
    auto folder = RunFolder(name);
    if (!folder.has_value()) return folder.error();
    runs.push_back(std::move(folder).value());
  }
  return runs;
}

Outcome<std::vector<ExportedRun>> Export(const ExportOptions& options,
                                         const std::vector<fs::path>& runs) {
  ExportedLine line(options.quiet);
  const ExportProgress progress = [&line](const fs::path& run,
                                          std::int64_t samples) {
    line.Show(run, samples);
  };
  return options.sqlite ? ExportToSqlite(runs, *options.sqlite, progress)
                        : ExportToCsv(runs, *options.csv, progress);
}

}  // namespace

Outcome<ExitCode> ExportVerb(const ExportOptions& options) {
  if (options.sqlite.has_value() == options.csv.has_value()) {
    return Failure{ExitCode::kUsage,
                   "where to? Give either --sqlite FILE or --csv DIR"};
  }
  const auto runs = RunFolders(options.runs);
  if (!runs.has_value()) return runs.error();
  const auto done = Export(options, runs.value());
  if (!done.has_value()) return done.error();
  for (const ExportedRun& run : done.value()) {
    Warn(run);
    if (!options.quiet) Tell(run);
  }
  return ExitCode::kDone;
}

}  // namespace wiretoll

#include "harness/programs/explain_verb.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "harness/analysis/story.h"
#include "harness/programs/run_verb.h"
#include "reports/files.h"
#include "reports/story_report.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;
using ExplainFormat = ExplainOptions::Format;

Outcome<ExitCode> ListTrials(const ExplainOptions& options,
                             const fs::path& run) {
  if (options.out) {
    return Failure{ExitCode::kUsage,
                   "--out needs a TRIAL: without one nothing is written, the "
                   "trials that have a capture are listed"};
  }
  // So that a folder that holds no run is told as such.
  const auto record = ReadRunRecord(run);
  if (!record.has_value()) return record.error();
  const auto list = ListCapturedTrials(run);
  if (!list.has_value()) return list.error();
  std::cout << (options.format == ExplainFormat::kJson
                    ? TrialListJson(list.value())
                    : TrialListText(list.value(), options.run));
  return ExitCode::kDone;
}

Outcome<Done> WriteAs(const Story& story, ExplainFormat format,
                      std::ostream& out) {
  if (format == ExplainFormat::kJson) {
    WriteStoryJson(story, out);
  } else {
    out << StoryText(story);
  }
  return Done{};
}

// Text or JSON: to standard output, or into a folder.
Outcome<ExitCode> Tell(const Story& story, const ExplainOptions& options) {
  if (!options.out) {
    const auto told = WriteAs(story, options.format, std::cout);
    if (!told.has_value()) return told.error();
    return ExitCode::kDone;
  }
  const fs::path folder(*options.out);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return CannotWrite(folder, error.message());
  const fs::path file =
      folder / (StoryFileStem(story.sample) +
                (options.format == ExplainFormat::kJson ? ".json" : ".txt"));
  const auto written = WriteWholeFile(file, [&](std::ostream& out) {
    return WriteAs(story, options.format, out);
  });
  if (!written.has_value()) return written.error();
  fmt::print("{}\n", file.string());
  return ExitCode::kDone;
}

Outcome<ExitCode> WritePage(const Story& story, const StoryRun& run,
                            const fs::path& out) {
  const auto written = WriteStory(story, run, out);
  if (!written.has_value()) return written.error();
  for (const std::string& warning : written.value().warnings) {
    fmt::print(stderr, "wiretoll: {}\n", warning);
  }
  for (const fs::path& file : written.value().files) {
    fmt::print("{}\n", file.string());
  }
  return ExitCode::kDone;
}

}  // namespace

Outcome<ExitCode> ExplainVerb(const ExplainOptions& options) {
  auto folder = RunFolder(options.run);
  if (!folder.has_value()) return folder.error();
  const fs::path& run = folder.value();
  if (options.trial.empty()) return ListTrials(options, run);
  auto record = ReadRunRecord(run);
  if (!record.has_value()) return record.error();
  const auto story = TellStory(run, options.trial);
  if (!story.has_value()) return story.error();
  if (options.format != ExplainFormat::kHtml) {
    return Tell(story.value(), options);
  }
  const fs::path out = options.out ? fs::path(*options.out) : run / "explain";
  return WritePage(story.value(), {std::move(record).value(), run}, out);
}

}  // namespace wiretoll

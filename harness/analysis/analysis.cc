#include "harness/analysis/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "harness/analysis/cells.h"
#include "harness/analysis/claims.h"
#include "harness/analysis/contrast.h"
#include "harness/analysis/course.h"
#include "harness/analysis/effects.h"
#include "harness/analysis/flow_groups.h"
#include "harness/analysis/knee.h"
#include "harness/analysis/statistics.h"
#include "harness/analysis/tallies.h"

namespace wiretoll {
namespace {

using Folders = std::vector<std::filesystem::path>;

std::optional<Failure> ReadRecords(const Folders& folders, Analysis& analysis) {
  for (const std::filesystem::path& folder : folders) {
    Outcome<RunRecord> record = ReadRunRecord(folder);
    if (!record.has_value()) return record.error();
    analysis.runs.push_back(std::move(record).value());
  }
  return std::nullopt;
}

// The same text under the same name is one study, in however many runs.
std::optional<Failure> ParseStudies(const Folders& folders,
                                    std::vector<RunPlace>& places,
                                    Analysis& analysis) {
  for (std::size_t run = 0; run < analysis.runs.size(); ++run) {
    RunPlace place{run, &analysis.runs[run], {}};
    for (const RecordedStudy& recorded : analysis.runs[run].studies) {
      const auto known = std::find_if(
          analysis.studies.begin(), analysis.studies.end(),
          [&](const Study& study) {
            return study.name == recorded.name && study.text == recorded.text;
          });
      place.studies[recorded.name] =
          static_cast<std::size_t>(known - analysis.studies.begin());
      if (known != analysis.studies.end()) continue;
      Outcome<Study> study = ParseStudy(recorded.text, recorded.file);
      if (!study.has_value()) {
        return Failure{
            ExitCode::kUsage,
            fmt::format("{}/run.json: its study does not parse: {}",
                        folders[run].string(), study.error().message)};
      }
      analysis.studies.push_back(std::move(study).value());
      analysis.studies.back().name = recorded.name;
      analysis.studies.back().text = recorded.text;
    }
    places.push_back(std::move(place));
  }
  return std::nullopt;
}

// Everything that samples are added to.
struct Gathered {
  explicit Gathered(const std::vector<Study>& studies) : cells(studies) {}
  CellTable cells;
  FlowSetTable flows;
  BufferTable buffers;
  ProblemTable problems;

  void Add(const Sample& sample, const RunRecord& record,
           Agreement& agreement) {
    cells.Add(sample);
    flows.Add(sample);
    problems.Add(sample);
    if (sample.outcome != TrialOutcome::kOk) return;
    buffers.Add(sample);
    AddAgreement(sample, record, agreement);
  }
};

std::optional<Failure> ReadSamples(const Folders& folders,
                                   std::vector<RunPlace> places,
                                   Gathered& gathered, Analysis& analysis) {
  for (std::size_t run = 0; run < folders.size(); ++run) {
    gathered.cells.StartRun(places[run]);
    gathered.flows.StartRun(std::move(places[run]),
                            gathered.cells.first_block());
    // By hash: a million trials are a few megabytes that way.
    std::unordered_set<std::size_t> trials;
    std::int64_t twice = 0;
    const Outcome<ReadSummary> summary =
        ForEachSample(folders[run], [&](Sample&& sample) {
          if (!trials.insert(std::hash<std::string>{}(sample.trial)).second) {
            ++twice;
            return;
          }
          gathered.Add(sample, analysis.runs[run], analysis.agreement);
        });
    if (!summary.has_value()) return summary.error();
    if (twice > 0) {
      analysis.notes.push_back(fmt::format(
          "{}: {} samples are of trials that samples.jsonl holds already; the "
          "first of each counts, the others are left out",
          folders[run].string(), twice));
    }
    analysis.blocks += gathered.cells.EndRun(analysis.notes);
    gathered.flows.EndRun();
    if (summary.value().torn_last_line) {
      analysis.notes.push_back(fmt::format(
          "{}: the last line of samples.jsonl is torn (the run was killed) "
          "and left out",
          folders[run].string()));
    }
    if (summary.value().samples == 0) {
      analysis.notes.push_back(
          fmt::format("{} holds no samples", folders[run].string()));
    }
  }
  return std::nullopt;
}

void CountTrials(Analysis& analysis) {
  for (const Cell& cell : analysis.cells) {
    analysis.ok += cell.ok;
    analysis.failed += cell.failed;
    analysis.skipped += cell.skipped;
    analysis.disturbed += cell.disturbed;
  }
}

}  // namespace

Outcome<Analysis> Analyse(const Folders& folders) {
  if (folders.empty()) {
    return Failure{ExitCode::kUsage, "no run folder given; name at least one"};
  }
  Analysis analysis;
  std::vector<RunPlace> places;
  if (auto failure = ReadRecords(folders, analysis)) return *failure;
  if (auto failure = ParseStudies(folders, places, analysis)) return *failure;
  Gathered gathered(analysis.studies);
  if (auto failure =
          ReadSamples(folders, std::move(places), gathered, analysis)) {
    return *failure;
  }
  // One seed for all: the same samples give the same intervals.
  MedianIntervals intervals(analysis.runs.front().seed);
  analysis.cells = gathered.cells.Finish(intervals);
  analysis.flow_sets = gathered.flows.Finish(intervals, analysis.cells);
  ReadCourses(folders, analysis.cells, analysis.notes);
  CountTrials(analysis);
  analysis.effects = EffectsOf(analysis.studies, analysis.cells, intervals);
  analysis.contrasts = ContrastsOf(analysis.runs, analysis.cells, intervals);
  analysis.knees =
      KneesOf(analysis.studies, analysis.cells, analysis.runs.front().seed);
  analysis.claims = AnswerClaims(analysis, intervals);
  analysis.buffers = gathered.buffers.Rows();
  analysis.problems = gathered.problems.Problems();
  return analysis;
}

}  // namespace wiretoll

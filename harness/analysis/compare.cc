#include "harness/analysis/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "harness/analysis/run_changes.h"
#include "harness/analysis/statistics.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

constexpr std::array<Metric, kComparedCount> kMetrics{
    Metric::kThroughput, Metric::kLatencyP50, Metric::kSenderCpu,
    Metric::kReceiverCpu, Metric::kWritesPerSegment};

constexpr const char* kBase = "BASE";
constexpr const char* kNew = "NEW";

// --- Which runs -----------------------------------------------------------

std::set<std::string> StudiesOf(const RunRecord& run) {
  std::set<std::string> names;
  for (const RecordedStudy& study : run.studies) names.insert(study.name);
  return names;
}

std::optional<Failure> NothingInCommon(const Comparison& comparison) {
  const auto base = StudiesOf(comparison.analysis.runs[0]);
  const auto next = StudiesOf(comparison.analysis.runs[1]);
  const bool common = std::any_of(
      base.begin(), base.end(),
      [&](const std::string& name) { return next.count(name) > 0; });
  if (common) return std::nullopt;
  const auto list = [](const std::set<std::string>& names) {
    return names.empty() ? std::string("no study")
                         : fmt::format("{}", fmt::join(names, ", "));
  };
  return Failure{
      ExitCode::kUsage,
      fmt::format("the two runs are of different studies: {} is of {}, {} is "
                  "of {}; give two runs of the same study",
                  comparison.folders[0].string(), list(base),
                  comparison.folders[1].string(), list(next))};
}

// --- Cells ----------------------------------------------------------------

// By study and id; a search for each cell would take long in a large matrix.
class CaseIndex {
 public:
  explicit CaseIndex(const std::vector<Study>& studies) {
    for (const Study& study : studies) {
      auto& cases = by_study_.emplace_back();
      for (const Case& one_case : study.cases) {
        cases.emplace(one_case.id, &one_case);
      }
    }
  }

  // nullptr if the study has no such case any more.
  [[nodiscard]] const Case* Find(const Cell& cell) const {
    if (cell.study >= by_study_.size()) return nullptr;
    const auto found = by_study_[cell.study].find(cell.case_id);
    return found == by_study_[cell.study].end() ? nullptr : found->second;
  }

 private:
  std::vector<std::unordered_map<std::string, const Case*>> by_study_;
};

// Factors are compared apart; these are what else makes a case another one.
bool SameStop(const Case* a, const Case* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return std::tie(a->workload.stop_bytes, a->workload.stop_messages,
                  a->workload.stop_time, a->workload.verify) ==
         std::tie(b->workload.stop_bytes, b->workload.stop_messages,
                  b->workload.stop_time, b->workload.verify);
}

std::vector<double> ValuesOf(const Cell& cell, Compared which) {
  std::vector<double> values;
  const auto index = static_cast<std::size_t>(which);
  const auto& by_block =
      cell.by_block[static_cast<std::size_t>(kMetrics[index])];
  values.reserve(by_block.size());
  for (const auto& [block, value] : by_block) {
    const bool inverse = which == Compared::kSegmentsPerWrite;
    if (inverse && value <= 0) continue;
    values.push_back(inverse ? 1 / value : value);
  }
  return values;
}

std::optional<double> MedianOfAny(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  return SortedMedian(values);
}

// Why `cell` has no figure of that kind.
std::string WhyNone(const Cell& cell, Compared which) {
  if (cell.ok == 0) {
    return cell.problem.empty()
               ? cell.reason
               : fmt::format("{}: {}", cell.reason, cell.problem);
  }
  const auto why =
      cell.why_missing.find(kMetrics[static_cast<std::size_t>(which)]);
  return why == cell.why_missing.end() ? "not observed" : why->second;
}

class CellComparer {
 public:
  explicit CellComparer(const Analysis& analysis)
      : analysis_(analysis), cases_(analysis.studies) {}

  void Compare(ComparedCell& cell) {
    Identify(cell);
    if (!cell.base || !cell.next) return OnlyIn(cell);
    const Cell& base = analysis_.cells[*cell.base];
    const Cell& next = analysis_.cells[*cell.next];
    for (std::size_t i = 0; i < kComparedCount; ++i) {
      cell.figures[i] = FigureOf(base, next, static_cast<Compared>(i));
    }
    if (base.factors != next.factors ||
        !SameStop(cases_.Find(base), cases_.Find(next))) {
      cell.missing_in = "BASE and NEW";
      cell.why =
          "the case is another one in each: the texts of the studies "
          "differ in its factors or in when it stops";
      cell.figures = {};
      return;
    }
    Judge(base, next, cell);
  }

 private:
  void Identify(ComparedCell& cell) const {
    const Cell& some = analysis_.cells[cell.base ? *cell.base : *cell.next];
    cell.case_id = some.case_id;
    if (some.study < analysis_.studies.size()) {
      cell.study = analysis_.studies[some.study].name;
    }
    const Case* one_case = cases_.Find(some);
    const bool rounds = one_case != nullptr &&
                        one_case->workload.pattern == Pattern::kRequestResponse;
    cell.judged_by = rounds ? Compared::kRoundTrip : Compared::kThroughput;
  }

  static void OnlyIn(ComparedCell& cell) {
    cell.missing_in = cell.base ? kNew : kBase;
    cell.why = "that run holds no trial of it";
  }

  ComparedFigure FigureOf(const Cell& base, const Cell& next, Compared which) {
    ComparedFigure figure;
    const std::vector<double> of_base = ValuesOf(base, which);
    const std::vector<double> of_next = ValuesOf(next, which);
    figure.base = MedianOfAny(of_base);
    figure.next = MedianOfAny(of_next);
    if (!figure.base || !figure.next) {
      const bool in_base = !figure.base.has_value();
      figure.why = fmt::format("{}: {}", in_base ? kBase : kNew,
                               WhyNone(in_base ? base : next, which));
      return figure;
    }
    figure.ratio = intervals_.Of(of_next, of_base);
    if (!figure.ratio) figure.why = "a value of 0 has no ratio";
    return figure;
  }

  static void Judge(const Cell& base, const Cell& next, ComparedCell& cell) {
    const ComparedFigure& figure = cell.figure(cell.judged_by);
    if (!figure.base || !figure.next) {
      const bool both = !figure.base && !figure.next;
      const bool in_base = !figure.base.has_value();
      cell.missing_in = both ? "BASE and NEW" : in_base ? kBase : kNew;
      cell.why = WhyNone(in_base ? base : next, cell.judged_by);
      return;
    }
    cell.change = Change::kNotDistinguishable;
    if (!figure.ratio) {
      cell.why = figure.why;
    } else if (!figure.ratio->interval) {
      cell.why = "fewer than three blocks give no interval";
    }
    const auto speed = SpeedOf(cell);
    if (!speed) return;
    if (speed->verdict == Verdict::kHigher) cell.change = Change::kFaster;
    if (speed->verdict == Verdict::kLower) cell.change = Change::kSlower;
  }

  const Analysis& analysis_;
  CaseIndex cases_;
  UnpairedIntervals intervals_;
};

// Study, case, sender and receiver as BASE names them.
using CellKey = std::tuple<std::string, std::string, std::string, std::string>;

// Hosts of NEW that nothing of BASE stands for keep their names, marked so
// that they are nobody of BASE.
std::map<std::string, std::string> BackNames(const HostMatch& match) {
  std::map<std::string, std::string> back;
  for (const auto& [base, next] : match.hosts) back[next] = base;
  return back;
}

std::set<std::string> SharedStudies(const Analysis& analysis) {
  std::set<std::string> shared;
  const auto in_next = StudiesOf(analysis.runs[1]);
  for (const auto& study : StudiesOf(analysis.runs[0])) {
    if (in_next.count(study) > 0) shared.insert(study);
  }
  return shared;
}

std::vector<ComparedCell> MatchCells(const Analysis& analysis,
                                     const HostMatch& match) {
  const auto back = BackNames(match);
  const auto in_base = [&](const std::string& name) {
    const auto found = back.find(name);
    return found == back.end() ? "NEW\x1f" + name : found->second;
  };
  const auto shared = SharedStudies(analysis);
  std::map<CellKey, std::size_t> index;
  std::vector<ComparedCell> cells;
  for (std::size_t i = 0; i < analysis.cells.size(); ++i) {
    const Cell& cell = analysis.cells[i];
    if (cell.study >= analysis.studies.size()) continue;
    const std::string& study = analysis.studies[cell.study].name;
    if (shared.count(study) == 0) continue;  // Told in a note.
    const bool is_new = cell.run == 1;
    const auto [place, first] =
        index.emplace(CellKey(study, cell.case_id,
                              is_new ? in_base(cell.sender) : cell.sender,
                              is_new ? in_base(cell.receiver) : cell.receiver),
                      cells.size());
    if (first) cells.emplace_back();
    (is_new ? cells[place->second].next : cells[place->second].base) = i;
  }
  return cells;
}

// --- Order ----------------------------------------------------------------

int Rank(Change change) {
  switch (change) {
    case Change::kFaster:
    case Change::kSlower:
      return 0;
    case Change::kNotDistinguishable:
      return 1;
    case Change::kMissing:
      break;
  }
  return 2;
}

double SizeOf(const ComparedCell& cell) {
  const auto speed = SpeedOf(cell);
  return speed ? std::fabs(std::log(speed->median)) : -1;
}

void SortByEffect(std::vector<ComparedCell>& cells) {
  std::stable_sort(cells.begin(), cells.end(),
                   [](const ComparedCell& a, const ComparedCell& b) {
                     const int rank_a = Rank(a.change);
                     const int rank_b = Rank(b.change);
                     if (rank_a != rank_b) return rank_a < rank_b;
                     return SizeOf(a) > SizeOf(b);
                   });
}

// --- Notes ----------------------------------------------------------------

bool IsQuick(const RunRecord& run) {
  return std::find(run.command.begin(), run.command.end(), "--quick") !=
         run.command.end();
}

void NoteStudies(const Analysis& analysis, std::vector<std::string>& notes) {
  const RunRecord& base = analysis.runs[0];
  const RunRecord& next = analysis.runs[1];
  const auto of_base = StudiesOf(base);
  const auto of_next = StudiesOf(next);
  const auto leave_out = [&](const std::set<std::string>& names,
                             const std::set<std::string>& others,
                             const char* side) {
    for (const std::string& name : names) {
      if (others.count(name) > 0) continue;
      notes.push_back(
          fmt::format("Study {} is in {} only and is left out.", name, side));
    }
  };
  leave_out(of_base, of_next, kBase);
  leave_out(of_next, of_base, kNew);
  for (const RecordedStudy& study : base.studies) {
    for (const RecordedStudy& other : next.studies) {
      if (study.name != other.name || study.text == other.text) continue;
      notes.push_back(fmt::format(
          "The text of study {} differs between the runs; cases are compared "
          "where factors and stop are the same.",
          study.name));
    }
  }
}

void NoteRuns(const Comparison& comparison, std::vector<std::string>& notes) {
  const RunRecord& base = comparison.analysis.runs[0];
  const RunRecord& next = comparison.analysis.runs[1];
  std::error_code error;
  if (fs::equivalent(comparison.folders[0], comparison.folders[1], error)) {
    notes.emplace_back("BASE and NEW are the same run.");
  }
  if (base.wiretoll_version != next.wiretoll_version) {
    notes.push_back(fmt::format(
        "The runs were made by different versions of wiretoll, {} and {}; a "
        "difference may be its own.",
        base.wiretoll_version, next.wiretoll_version));
  }
  if (IsQuick(base) != IsQuick(next)) {
    notes.push_back(
        fmt::format("{} alone was run with --quick: its trials are shorter.",
                    IsQuick(base) ? kBase : kNew));
  }
  if (base.link.kind != next.link.kind ||
      base.link.rate_bits_per_second != next.link.rate_bits_per_second ||
      base.link.delay_ns != next.link.delay_ns ||
      base.link.loss != next.link.loss || base.link.mtu != next.link.mtu) {
    notes.emplace_back(
        "The link differs between the runs; a difference may be the link's.");
  }
}

std::vector<std::string> NotesOf(const Comparison& comparison) {
  std::vector<std::string> notes;
  NoteRuns(comparison, notes);
  NoteStudies(comparison.analysis, notes);
  if (!comparison.match.by_name) notes.push_back(comparison.match.how);
  const auto& read = comparison.analysis.notes;
  notes.insert(notes.end(), read.begin(), read.end());
  return notes;
}

}  // namespace

std::optional<UnpairedRatio> SpeedOf(const ComparedCell& cell) {
  if (cell.change == Change::kMissing) return std::nullopt;
  std::optional<UnpairedRatio> ratio = cell.figure(cell.judged_by).ratio;
  if (!ratio || cell.judged_by != Compared::kRoundTrip) return ratio;
  ratio->median = 1 / ratio->median;
  if (ratio->interval) {
    ratio->interval =
        Interval{1 / ratio->interval->high, 1 / ratio->interval->low};
  }
  if (ratio->verdict == Verdict::kHigher) {
    ratio->verdict = Verdict::kLower;
  } else if (ratio->verdict == Verdict::kLower) {
    ratio->verdict = Verdict::kHigher;
  }
  return ratio;
}

bool SlowerBy(const ComparedCell& cell, double share) {
  const auto speed = SpeedOf(cell);
  return speed && speed->interval && speed->interval->high < 1 - share;
}

int Comparison::CountOf(Change change) const {
  return static_cast<int>(std::count_if(
      cells.begin(), cells.end(),
      [&](const ComparedCell& cell) { return cell.change == change; }));
}

int Comparison::CountUnjudged() const {
  return static_cast<int>(
      std::count_if(cells.begin(), cells.end(), [](const ComparedCell& cell) {
        return cell.change == Change::kNotDistinguishable && !cell.why.empty();
      }));
}

int Comparison::CountJudged() const {
  return static_cast<int>(cells.size()) - CountOf(Change::kMissing) -
         CountUnjudged();
}

Outcome<Comparison> CompareRuns(const fs::path& base, const fs::path& next) {
  Comparison comparison;
  comparison.folders = {base, next};
  auto analysis = Analyse({base, next});
  if (!analysis.has_value()) return analysis.error();
  comparison.analysis = std::move(analysis).value();
  if (auto failure = NothingInCommon(comparison)) return *failure;
  const std::vector<RunRecord>& runs = comparison.analysis.runs;
  comparison.match = MatchHosts(runs[0], runs[1]);
  comparison.cells = MatchCells(comparison.analysis, comparison.match);
  CellComparer comparer(comparison.analysis);
  for (ComparedCell& cell : comparison.cells) comparer.Compare(cell);
  SortByEffect(comparison.cells);
  comparison.changed = ChangedFacts(runs[0], runs[1], comparison.match);
  comparison.notes = NotesOf(comparison);
  return comparison;
}

}  // namespace wiretoll

#include "reports/predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <set>

#include "harness/analysis/systems.h"
#include "harness/base/units.h"
#include "harness/base/words.h"
#include "reports/table_parts.h"
#include "reports/tables.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

std::string MeasuredText(const Estimate& figure, Metric metric) {
  std::string text = FigureText(figure.median, metric);
  if (!figure.interval.has_value()) return text;
  const auto [low, high] = *figure.interval;
  if (low == high) return text;
  std::string first = FigureText(low, metric);
  std::string last = FigureText(high, metric);
  if (first == last) return fmt::format("{} ({})", text, first);
  return fmt::format("{} ({}–{})", text, first, last);
}

std::string PredictedText(const CaseTheory::Prediction& prediction) {
  const char* bound = prediction.kind == PredictionKind::kAtMost    ? "≤ "
                      : prediction.kind == PredictionKind::kAtLeast ? "≥ "
                                                                    : "";
  return bound + FigureText(prediction.value, prediction.metric);
}

bool Covers(const Estimate& measured, double value) {
  if (!measured.interval.has_value()) return measured.median == value;
  return value >= measured.interval->low && value <= measured.interval->high;
}

// True unless a bound is broken by more than chance.
bool Keeps(const CaseTheory::Prediction& prediction, const Estimate& measured) {
  if (Covers(measured, prediction.value)) return true;
  return prediction.kind == PredictionKind::kAtMost
             ? measured.median <= prediction.value
             : measured.median >= prediction.value;
}

// What the prediction leaves unexplained; bounds leave something only where
// they are broken.
std::string LeftOver(const CaseTheory::Prediction& prediction,
                     const Estimate& measured) {
  if (prediction.value == 0) {
    return fmt::format("{}", FormatNumber(measured.median));
  }
  const double share = measured.median / prediction.value - 1;
  const std::string text =
      fmt::format("{}{}", share >= 0 ? "+" : "−", Percent(std::abs(share)));
  const bool bound = prediction.kind != PredictionKind::kValue;
  return bound && Keeps(prediction, measured) ? fmt::format("kept ({})", text)
                                              : text;
}

std::string ExplanationText(const PredictionVerdict* verdict) {
  if (verdict == nullptr) return "not judged";
  const std::string words = Printable(verdict->words);
  return words.empty() ? ExplanationName(verdict->explanation) : words;
}

Row PredictionRow(const Cell& cell, const std::string& pair,
                  std::size_t index) {
  const CaseTheory::Prediction& prediction = cell.theory->predictions[index];
  const auto& measured = cell.figure(prediction.metric);
  return {
      Printable(cell.case_id),
      Printable(prediction.rule),
      MetricText(prediction.metric),
      PredictedText(prediction),
      measured ? MeasuredText(*measured, prediction.metric) : "not observed",
      measured ? LeftOver(prediction, *measured) : kNone,
      ExplanationText(VerdictOn(cell, index)),
      pair};
}

// What is open comes first.
int RankOf(const PredictionVerdict* verdict) {
  if (verdict == nullptr) return 4;
  switch (verdict->explanation) {
    case Explanation::kUnexplained:
      return 0;
    case Explanation::kExplained:
      return 1;
    case Explanation::kAsPredicted:
      return 2;
    case Explanation::kNotMeasured:
      break;
  }
  return 3;
}

struct RankedRow {
  int rank = 0;
  Row row;
};

// The cells that a verdict table is about.
std::vector<const Cell*> PredictedCells(const StudyView& view) {
  std::vector<const Cell*> cells;
  for (const bool streams : {true, false}) {
    for (const Cell* cell : CellsOf(view, streams)) {
      if (cell->theory && !cell->theory->predictions.empty()) {
        cells.push_back(cell);
      }
    }
  }
  return cells;
}

std::string UnitText(Metric metric) {
  const std::string unit = MetricUnit(metric);
  return unit.empty() ? "1" : unit;
}

std::string FactorsField(const Factors& factors) {
  std::string text;
  for (const auto& [name, value] : factors) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", name,
                        SpellFactor(value));
  }
  return CsvField(text);
}

const char* KindText(PredictionKind kind) {
  return kind == PredictionKind::kAtMost    ? "at most"
         : kind == PredictionKind::kAtLeast ? "at least"
                                            : "value";
}

std::string MeasuredFields(const CaseTheory::Prediction& prediction,
                           const std::optional<Estimate>& measured) {
  if (!measured) return ",,,";
  const std::string range = measured->interval
                                ? fmt::format("{},{}", measured->interval->low,
                                              measured->interval->high)
                                : ",";
  const std::string share =
      prediction.value == 0
          ? ""
          : fmt::format("{}", measured->median / prediction.value - 1);
  return fmt::format("{},{},{}", measured->median, range, share);
}

std::string CellFields(const Analysis& analysis, const Cell& cell) {
  return fmt::format("{},{},{},{},{},{},{},{}", cell.run + 1,
                     CsvField(analysis.studies[cell.study].name),
                     CsvField(cell.case_id), FactorsField(cell.factors),
                     CsvField(cell.sender), CsvField(cell.sender_system),
                     CsvField(cell.receiver), CsvField(cell.receiver_system));
}

}  // namespace

std::string ExplanationName(Explanation explanation) {
  switch (explanation) {
    case Explanation::kAsPredicted:
      return "as predicted";
    case Explanation::kExplained:
      return "explained";
    case Explanation::kUnexplained:
      return "unexplained";
    case Explanation::kNotMeasured:
      break;
  }
  return "not measured";
}

const PredictionVerdict* VerdictOn(const Cell& cell, std::size_t prediction) {
  for (const PredictionVerdict& verdict : cell.verdicts) {
    if (verdict.prediction == prediction) return &verdict;
  }
  return nullptr;
}

void VerdictTally::Add(const Cell& cell) {
  if (!cell.theory || cell.theory->predictions.empty()) return;
  ++cells_;
  bool open = false;
  for (std::size_t i = 0; i < cell.theory->predictions.size(); ++i) {
    ++predictions_;
    const PredictionVerdict* verdict = VerdictOn(cell, i);
    if (verdict == nullptr) {
      ++not_judged_;
      continue;
    }
    ++by_[static_cast<std::size_t>(verdict->explanation)];
    open = open || verdict->explanation == Explanation::kUnexplained;
  }
  unexplained_cells_ += open ? 1 : 0;
}

std::string VerdictTally::Sentence() const {
  if (predictions_ == 0) return {};
  if (not_judged_ == predictions_) {
    return fmt::format("None of {} was held against its tolerance.",
                       Count(predictions_, "prediction"));
  }
  const auto of = [this](Explanation explanation) {
    return by_[static_cast<std::size_t>(explanation)];
  };
  std::string text =
      unexplained_cells_ == 0
          ? fmt::format("None of {} is unexplained", Count(cells_, "cell"))
          : fmt::format("{} of {} {} unexplained", unexplained_cells_,
                        Count(cells_, "cell"),
                        unexplained_cells_ == 1 ? "is" : "are");
  text += fmt::format(". Of {} {} came out as predicted",
                      Count(predictions_, "prediction"),
                      of(Explanation::kAsPredicted));
  const auto add = [&text](long long count, const char* what) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  add(of(Explanation::kExplained), "beside it for a reason that was observed");
  add(of(Explanation::kUnexplained), "beside it for none that was");
  add(of(Explanation::kNotMeasured), "of a figure that was not observed");
  add(not_judged_, "without a verdict");
  return text + ".";
}

Table PredictionsTable(const StudyView& view) {
  Table table;
  table.title = "Predictions against measurements";
  table.columns = {{"case", false},    {"rule", false}, {"figure", false},
                   {"predicted"},      {"measured"},    {"difference"},
                   {"verdict", false}, {"pair", false}};
  VerdictTally tally;
  std::vector<RankedRow> rows;
  const PairNamer namer(*view.analysis);
  for (const Cell* cell : PredictedCells(view)) {
    tally.Add(*cell);
    for (std::size_t i = 0; i < cell->theory->predictions.size(); ++i) {
      rows.push_back(
          {RankOf(VerdictOn(*cell, i)), PredictionRow(*cell, namer(*cell), i)});
    }
  }
  std::stable_sort(
      rows.begin(), rows.end(),
      [](const RankedRow& a, const RankedRow& b) { return a.rank < b.rank; });
  for (RankedRow& row : rows) {
    table.rows.push_back(std::move(row.row));
    table.marked.push_back(row.rank == 0);
  }
  table.sentence = tally.Sentence();
  if (!table.rows.empty()) {
    table.note =
        "What is unexplained comes first, then what is explained. A cell is "
        "unexplained where one of its predictions is.";
  }
  Cut(table, "predictions.csv and report.json");
  table.empty = "No rule predicts a figure of these cases.";
  return table;
}

Table RulesTable(const StudyView& view) {
  Table table;
  table.title = "What the predictions assume";
  table.columns = {{"rule", false},
                   {"assumes", false},
                   {"stops to hold with", false},
                   {"source", false}};
  std::set<std::string> known;
  for (const Cell& cell : view.analysis->cells) {
    if (cell.study != view.study || !cell.theory.has_value()) continue;
    for (const auto& prediction : cell.theory->predictions) {
      if (!known.insert(prediction.rule).second) continue;
      table.rows.push_back(
          {Printable(prediction.rule), Printable(prediction.assumptions),
           Printable(prediction.limits), Printable(prediction.source)});
    }
  }
  table.empty = "Nothing: there is no prediction.";
  return table;
}

bool HasPredictions(const Analysis& analysis) {
  return std::any_of(analysis.cells.begin(), analysis.cells.end(),
                     [](const Cell& cell) {
                       return cell.theory && !cell.theory->predictions.empty();
                     });
}

void WritePredictionsCsv(const Analysis& analysis, std::ostream& out) {
  out << "run,study,case,factors,sender,sender_system,receiver,"
         "receiver_system,rule,metric,unit,kind,predicted,measured,low,high,"
         "difference_share,verdict,why,assumptions,limits,source,data\r\n";
  const std::string data =
      IsSynthetic(analysis.runs) ? CsvField(kSyntheticData) : "measured";
  for (const Cell& cell : analysis.cells) {
    if (!cell.theory) continue;
    const std::string fields = CellFields(analysis, cell);
    for (std::size_t i = 0; i < cell.theory->predictions.size(); ++i) {
      const auto& prediction = cell.theory->predictions[i];
      const PredictionVerdict* verdict = VerdictOn(cell, i);
      out << fields << ',' << CsvField(prediction.rule) << ','
          << MetricName(prediction.metric) << ',' << UnitText(prediction.metric)
          << ',' << KindText(prediction.kind) << ','
          << fmt::format("{}", prediction.value) << ','
          << MeasuredFields(prediction, cell.figure(prediction.metric)) << ','
          << (verdict ? ExplanationName(verdict->explanation) : "not judged")
          << ',' << (verdict ? CsvField(verdict->words) : "") << ','
          << CsvField(prediction.assumptions) << ','
          << CsvField(prediction.limits) << ',' << CsvField(prediction.source)
          << ',' << data << "\r\n";
    }
  }
}

}  // namespace wiretoll

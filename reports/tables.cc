#include "reports/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/base/units.h"
#include "reports/csv.h"
#include "reports/sentences.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

void Cut(Table& table, const std::string& where) {
  if (table.rows.size() <= kMostRows) return;
  if (!table.note.empty()) table.note += ' ';
  table.note += fmt::format("{} of {} rows are shown; the rest is in {}.",
                            kMostRows, table.rows.size(), where);
  table.rows.resize(kMostRows);
  if (table.marked.size() > kMostRows) table.marked.resize(kMostRows);
}

std::string Value(const Cell& cell, const std::string& name) {
  const FactorValue* value = FindFactor(cell.factors, name);
  return value == nullptr ? kNone : FactorValueText(name, *value);
}

std::string Median(const std::optional<Estimate>& figure, double scale = 1) {
  return figure.has_value() ? FormatNumber(figure->median * scale) : kNone;
}

std::string Range(const std::optional<Estimate>& figure, double scale = 1) {
  if (!figure.has_value() || !figure->interval.has_value()) return kNone;
  return IntervalText(*figure->interval, scale);
}

// "linux-1 → linux-2"; with their systems where there are several, or one that
// could be taken for another.
class PairNamer {
 public:
  explicit PairNamer(const Analysis& analysis) {
    std::set<std::string> systems;
    bool linux_only = true;
    for (const Cell& cell : analysis.cells) {
      systems.insert({cell.sender_system, cell.receiver_system});
      for (const std::string* os : {&cell.sender_os, &cell.receiver_os}) {
        linux_only = linux_only && (*os == "linux" || os->empty());
      }
    }
    bare_ = linux_only && systems.size() < 2;
  }

  [[nodiscard]] std::string operator()(const Cell& cell) const {
    return fmt::format(
        "{} → {}", End(cell.sender, cell.sender_os, cell.sender_system),
        End(cell.receiver, cell.receiver_os, cell.receiver_system));
  }

 private:
  [[nodiscard]] std::string End(const std::string& host, const std::string& os,
                                const std::string& system) const {
    if (bare_) return Printable(host);
    return fmt::format("{} [{}]", Printable(host),
                       Printable(system.empty() ? SystemName(os) : system));
  }

  bool bare_ = true;
};

std::string OkText(const Cell& cell) {
  std::string text = fmt::format("{}/{}", cell.ok, cell.failed);
  if (cell.skipped > 0) text += fmt::format(", {} skipped", cell.skipped);
  if (cell.disturbed > 0) text += fmt::format(", {} disturbed", cell.disturbed);
  return text;
}

std::string BytesASegment(const Cell& cell) {
  const auto& figure = cell.figure(Metric::kBytesPerSegment);
  return figure.has_value() ? WholeNumber(figure->median) : kNone;
}

std::string OfTheBest(const Cell& cell) {
  if (!cell.theory.has_value()) return kNone;
  const auto& rate = cell.figure(Metric::kThroughput);
  const auto& best = cell.theory->best_throughput;
  if (rate.has_value() && best.has_value() && *best > 0) {
    return Percent(rate->median / *best);
  }
  return kNone;
}

std::string EfficiencyText(const Cell& cell) {
  const auto& figure = cell.figure(Metric::kEfficiency);
  return figure.has_value() ? Percent(figure->median) : kNone;
}

bool IsStream(const Cell& cell) {
  const FactorValue* pattern = FindFactor(cell.factors, "pattern");
  return pattern == nullptr || SpellFactor(*pattern) != "request-response";
}

// By write, then as the study has them.
std::vector<const Cell*> CellsOf(const StudyView& view, bool streams) {
  std::vector<const Cell*> cells;
  for (const std::size_t index : CellsInOrder(view)) {
    const Cell& cell = view.analysis->cells[index];
    if (IsStream(cell) == streams) cells.push_back(&cell);
  }
  std::stable_sort(cells.begin(), cells.end(),
                   [](const Cell* a, const Cell* b) {
                     return WriteOf(a->factors).value_or(0) <
                            WriteOf(b->factors).value_or(0);
                   });
  return cells;
}

// Throughput or round trips, by case.
std::vector<const Effect*> PairEffects(const StudyView& view) {
  std::map<std::size_t, std::vector<const Effect*>> by_cell;
  for (const Effect& effect : view.analysis->effects) {
    const bool compares = effect.metric == Metric::kThroughput ||
                          effect.metric == Metric::kLatencyP50;
    if (effect.factor == "pair" && compares) {
      by_cell[effect.base_cell].push_back(&effect);
    }
  }
  std::vector<const Effect*> effects;
  for (const std::size_t cell : CellsInOrder(view)) {
    const auto& some = by_cell[cell];
    effects.insert(effects.end(), some.begin(), some.end());
  }
  return effects;
}

// Factors that vary and have no column of their own.
std::vector<std::string> OtherFactors(const StudyView& view,
                                      const std::set<std::string>& own) {
  std::vector<std::string> names;
  for (const std::string& name : view.varying) {
    if (own.count(name) == 0) names.push_back(name);
  }
  return names;
}

std::string WhyEmpty(const Cell& cell) {
  if (!cell.reason.empty()) return Printable(cell.reason);
  const auto why = cell.why_missing.find(Metric::kThroughput);
  return why == cell.why_missing.end() ? "" : Printable(why->second);
}

void AddWhy(Table& table, const std::set<std::string>& reasons) {
  if (reasons.empty()) return;
  constexpr std::size_t kMost = 5;
  std::vector<std::string> shown;
  for (const std::string& reason : reasons) {
    if (shown.size() < kMost) shown.push_back(reason);
  }
  table.note =
      fmt::format("{} not observed: {}{}.", kNone, fmt::join(shown, "; "),
                  reasons.size() > kMost ? "; and more" : "");
}

bool IsTime(Metric metric) {
  return metric == Metric::kLatencyP50 || metric == Metric::kLatencyP99 ||
         metric == Metric::kElapsed;
}

std::string FigureText(double value, Metric metric) {
  switch (metric) {
    case Metric::kThroughput:
    case Metric::kSteadyThroughput:
      return FormatNumber(value * kMega);
    case Metric::kBytesPerSegment:
    case Metric::kBytesPerRead:
    case Metric::kDataSegments:
    case Metric::kAckSegments:
    case Metric::kReceiveBuffer:
    case Metric::kWindowInitial:
    case Metric::kWindowPeak:
      return WholeNumber(value);
    case Metric::kLatencyP50:
    case Metric::kLatencyP99:
    case Metric::kElapsed:
      return TimeText(value);
    case Metric::kStalls:
      return fmt::format("{:.4g}", value);  // Rounds; halves are rare.
    default:
      return FormatNumber(value);
  }
}

std::string Stalls(const Cell& cell) {
  const auto& figure = cell.figure(Metric::kStalls);
  return figure.has_value() ? FigureText(figure->median, Metric::kStalls)
                            : kNone;
}

std::string TimeMedian(const std::optional<Estimate>& figure) {
  return figure.has_value() ? TimeText(figure->median) : kNone;
}

std::string TimeRange(const std::optional<Estimate>& figure) {
  if (!figure.has_value() || !figure->interval.has_value()) return kNone;
  return fmt::format("{} – {}", TimeText(figure->interval->low),
                     TimeText(figure->interval->high));
}

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

std::string MetricText(Metric metric) {
  if (metric == Metric::kThroughput || metric == Metric::kSteadyThroughput) {
    return fmt::format("{}, MB/s", MetricName(metric));
  }
  std::string unit = MetricUnit(metric);
  std::string name = MetricName(metric);
  std::replace(name.begin(), name.end(), '_', ' ');
  // Times carry their own unit, and some names say it already.
  const bool said =
      unit.empty() || IsTime(metric) || name.find(unit) != std::string::npos;
  return said ? name : fmt::format("{}, {}", name, unit);
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

Row PredictionRow(const Cell& cell, const std::string& pair,
                  const CaseTheory::Prediction& prediction) {
  const auto& measured = cell.figure(prediction.metric);
  return {
      Printable(cell.case_id),
      pair,
      Printable(prediction.rule),
      MetricText(prediction.metric),
      PredictedText(prediction),
      measured ? MeasuredText(*measured, prediction.metric) : "not observed",
      measured ? LeftOver(prediction, *measured) : kNone};
}

class PredictionTally {
 public:
  void Add(const CaseTheory::Prediction& prediction,
           const std::optional<Estimate>& measured) {
    if (!measured.has_value()) return;
    if (prediction.kind == PredictionKind::kValue) {
      ++values_;
      met_ += Covers(*measured, prediction.value) ? 1 : 0;
    } else {
      ++bounds_;
      kept_ += Keeps(prediction, *measured) ? 1 : 0;
    }
  }
  [[nodiscard]] std::string Sentence() const {
    return fmt::format(
        "{} of {} hold; {} of {} of a value lie within the interval of what "
        "was measured.",
        kept_, Count(bounds_, "bound"), met_, Count(values_, "prediction"));
  }

 private:
  int values_ = 0, met_ = 0, bounds_ = 0, kept_ = 0;
};

std::string CountText(const std::optional<std::int64_t>& value) {
  return value.has_value() ? fmt::format("{}", *value) : kNone;
}

std::string FactText(const RecordedFact& fact) {
  if (fact.number.has_value()) return FormatNumber(*fact.number);
  if (const auto* flag = std::get_if<bool>(&fact.value)) {
    return *flag ? "yes" : "no";
  }
  if (const auto* number = std::get_if<std::int64_t>(&fact.value)) {
    return fmt::format("{}", *number);
  }
  if (const auto* text = std::get_if<std::string>(&fact.value)) {
    return Printable(*text);
  }
  return fmt::format("not observed: {}", fact.reason.empty()
                                             ? "no reason given"
                                             : Printable(fact.reason));
}

using FactList = std::vector<std::pair<std::string, std::string>>;

FactList FactsOf(const RecordedHost& host) {
  FactList facts{
      {"system",
       Printable(SystemText({host.os, host.stack, host.description}))},
      {"stack", Printable(host.stack)},
      {"description", Printable(host.description)},
      {"address", Printable(host.address)},
      {"agent", Printable(host.agent_version)},
      {"started by", Printable(ShellCommand(host.agent))}};
  for (const RecordedFact& fact : host.facts) {
    facts.emplace_back(Printable(fact.name), FactText(fact));
  }
  return facts;
}

struct HostColumn {
  std::string name;
  FactList facts;
};

// Hosts that several runs share stand once, unless their facts changed.
std::vector<HostColumn> HostColumns(const Analysis& analysis) {
  std::vector<HostColumn> columns;
  for (std::size_t run = 0; run < analysis.runs.size(); ++run) {
    for (const RecordedHost& host : analysis.runs[run].hosts) {
      HostColumn column{Printable(host.name), FactsOf(host)};
      const bool same = std::any_of(
          columns.begin(), columns.end(), [&](const HostColumn& other) {
            return other.facts == column.facts &&
                   other.name.starts_with(column.name);
          });
      if (same) continue;
      if (run > 0) column.name += fmt::format(", run {}", run + 1);
      columns.push_back(std::move(column));
    }
  }
  return columns;
}

std::string FindFact(const FactList& facts, const std::string& name) {
  for (const auto& [key, value] : facts) {
    if (key == name) return value.empty() ? kNone : value;
  }
  return "not asked";
}

std::string OutcomeText(const Problem& problem) {
  if (problem.disturbed) return "disturbed";
  switch (problem.outcome) {
    case TrialOutcome::kFailed:
      return "failed";
    case TrialOutcome::kSkipped:
      return "skipped";
    case TrialOutcome::kOk:
      break;
  }
  return "ok";
}

std::string AnswerText(ClaimAnswer answer) {
  switch (answer) {
    case ClaimAnswer::kSupported:
      return "supported";
    case ClaimAnswer::kRefuted:
      return "refuted";
    case ClaimAnswer::kNotDistinguishable:
      return "not distinguishable";
    case ClaimAnswer::kNotTested:
      break;
  }
  return "not tested";
}

std::string VerdictText(const Ratio& ratio) {
  if (!ratio.interval.has_value()) return "too few blocks to tell";
  switch (ratio.verdict) {
    case Verdict::kHigher:
      return "higher";
    case Verdict::kLower:
      return "lower";
    case Verdict::kNotDistinguishable:
      break;
  }
  return "not distinguishable";
}

std::string SystemOfRow(const Analysis& analysis, const BufferRow& row) {
  const std::string plain = SystemText({row.os, row.stack, {}});
  for (const RunRecord& run : analysis.runs) {
    const std::string named = SystemOfHost(run, row.host, row.os, row.stack);
    if (named != plain) return Printable(named);
  }
  return Printable(plain);
}

// Fewer trials than were ok may have given a throughput.
bool SomeWithoutThroughput(const Cell& cell) {
  const auto& rate = cell.figure(Metric::kThroughput);
  return rate && rate->blocks < cell.ok;
}

std::string RateOfSome(const Cell& cell) {
  const auto& rate = cell.figure(Metric::kThroughput);
  std::string text = Median(rate, kMega);
  if (!SomeWithoutThroughput(cell)) return text;
  return fmt::format("{} ({} of {})", text, rate->blocks, cell.ok);
}

Row CaseRow(const Cell& cell, const std::string& pair,
            const std::vector<std::string>& others) {
  Row row{Value(cell, "write"), Value(cell, "read"), Value(cell, "nagle"),
          Value(cell, "rcvbuf")};
  for (const std::string& name : others) row.push_back(Value(cell, name));
  const auto& rate = cell.figure(Metric::kThroughput);
  row.insert(row.end(), {pair, RateOfSome(cell), Range(rate, kMega),
                         Median(cell.figure(Metric::kWritesPerSegment)),
                         BytesASegment(cell), EfficiencyText(cell),
                         OfTheBest(cell), OkText(cell)});
  return row;
}

}  // namespace

Table CasesTable(const StudyView& view) {
  Table table;
  table.title = "Cases";
  const std::vector<std::string> others = OtherFactors(
      view,
      {"write", "read", "nagle", "rcvbuf", "pattern", "request", "reply"});
  table.columns = {{"write"}, {"read"}, {"Nagle"}, {"rcvbuf"}};
  for (const std::string& name : others) {
    table.columns.push_back({Printable(name), true});
  }
  for (const char* head :
       {"pair", "MB/s", "95 %", "writes a segment", "bytes a segment",
        "efficiency", "of the best", "ok/failed"}) {
    table.columns.push_back({head, std::string_view(head) != "pair"});
  }
  std::set<std::string> reasons;
  bool some = false;
  const PairNamer namer(*view.analysis);
  for (const Cell* cell : CellsOf(view, true)) {
    table.rows.push_back(CaseRow(*cell, namer(*cell), others));
    const std::string why = WhyEmpty(*cell);
    if (!why.empty()) reasons.insert(why);
    some = some || SomeWithoutThroughput(*cell);
  }
  AddWhy(table, reasons);
  if (some) {
    if (!table.note.empty()) table.note += ' ';
    table.note +=
        "(1 of 3): so many trials gave a throughput; the others came out of "
        "buffers faster than the line carries, or in one read, so that the "
        "slower ones are left. More bytes in [stop] measure them all.";
  }
  Cut(table, "samples.csv, trial by trial, and report.json");
  table.empty = "No stream was measured.";
  return table;
}

Table LatencyTable(const StudyView& view) {
  Table table;
  table.title = "Request and response";
  table.columns = {{"case", false}, {"pair", false},
                   {"median"},      {"95 %"},
                   {"99 %"},        {"rounds over 30 ms, a trial"},
                   {"ok/failed"}};
  std::set<std::string> reasons;
  const PairNamer namer(*view.analysis);
  for (const Cell* cell : CellsOf(view, false)) {
    Row row{Printable(cell->case_id), namer(*cell)};
    const auto& median = cell->figure(Metric::kLatencyP50);
    row.insert(row.end(), {TimeMedian(median), TimeRange(median),
                           TimeMedian(cell->figure(Metric::kLatencyP99)),
                           Stalls(*cell), OkText(*cell)});
    table.rows.push_back(std::move(row));
    if (!cell->reason.empty()) reasons.insert(Printable(cell->reason));
  }
  AddWhy(table, reasons);
  Cut(table, "samples.csv");
  table.empty = "No request and response was measured.";
  return table;
}

Table PredictionsTable(const StudyView& view) {
  Table table;
  table.title = "Predictions against measurements";
  table.columns = {{"case", false},   {"pair", false}, {"rule", false},
                   {"figure", false}, {"predicted"},   {"measured"},
                   {"left over"}};
  PredictionTally tally;
  const PairNamer namer(*view.analysis);
  for (const bool streams : {true, false}) {
    for (const Cell* cell : CellsOf(view, streams)) {
      if (!cell->theory.has_value()) continue;
      for (const auto& prediction : cell->theory->predictions) {
        table.rows.push_back(PredictionRow(*cell, namer(*cell), prediction));
        tally.Add(prediction, cell->figure(prediction.metric));
      }
    }
  }
  if (!table.rows.empty()) table.sentence = tally.Sentence();
  Cut(table, "report.json");
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

Table PairsTable(const StudyView& view) {
  Table table;
  table.title = "Pairs of hosts against the first";
  table.columns = {{"case", false},        {"base", false}, {"other", false},
                   {"figure", false},      {"ratio"},       {"95 %"},
                   {"the other is", false}};
  std::vector<Row> alike;
  std::size_t judged = 0;
  const PairNamer namer(*view.analysis);
  for (const Effect* effect : PairEffects(view)) {
    const Cell& base = view.analysis->cells[effect->base_cell];
    const Cell& other = view.analysis->cells[effect->other_cell];
    const Ratio& ratio = effect->ratio;
    const bool told = ratio.verdict != Verdict::kNotDistinguishable;
    judged += ratio.interval ? 1 : 0;
    // Differences first.
    (told ? table.rows : alike)
        .push_back({Printable(base.case_id), namer(base), namer(other),
                    IsTime(effect->metric) ? "median round trip" : "throughput",
                    FormatNumber(ratio.median),
                    ratio.interval ? RatioRange(*ratio.interval) : kNone,
                    VerdictText(ratio)});
  }
  const std::size_t told = table.rows.size();
  table.rows.insert(table.rows.end(), alike.begin(), alike.end());
  if (judged > 0) {
    table.sentence = fmt::format(
        "In {} of {} a difference between the pairs can be told; chance alone "
        "would make up to {}.",
        told, Count(static_cast<long long>(judged), "comparison"),
        ByChance(judged));
  } else if (!table.rows.empty()) {
    table.sentence =
        "No comparison has the three blocks that an interval takes.";
  }
  Cut(table, "report.json");
  table.empty = "No two pairs of hosts ran the same case in the same blocks.";
  return table;
}

Table BuffersTable(const Analysis& analysis) {
  Table table;
  table.title = "Buffers: asked, read back, and the window that came";
  table.columns = {{"host", false},    {"system", false}, {"buffer", false},
                   {"asked"},          {"read back"},     {"first window"},
                   {"largest window"}, {"MSS"},           {"note", false}};
  if (!analysis.buffers.empty()) {
    table.sentence = BufferSentence(analysis.buffers);
  }
  for (const BufferRow& row : analysis.buffers) {
    std::string back = CountText(row.effective_low);
    if (row.effective_high != row.effective_low) {
      back += fmt::format("–{}", CountText(row.effective_high));
    }
    const bool window = row.buffer == "rcvbuf";
    table.rows.push_back({Printable(row.host), SystemOfRow(analysis, row),
                          Printable(row.buffer), Printable(row.requested), back,
                          window ? CountText(row.initial_window) : "",
                          window ? CountText(row.peak_window) : "",
                          CountText(row.mss), Printable(row.note)});
  }
  if (!table.rows.empty()) {
    table.note = fmt::format("All in bytes. {} not observed.", kNone);
  }
  Cut(table, "report.json");
  table.empty = "No buffer was read back.";
  return table;
}

Table AgreementTable(const Analysis& analysis) {
  const Agreement& seen = analysis.agreement;
  Table table;
  table.title = "Who counted the segments, and do the two ends agree?";
  table.columns = {{"counts", false}, {"trials"}};
  table.empty = "No segment was counted, so there is nothing to compare.";
  const auto add = [&table](const std::string& what, int trials) {
    table.rows.push_back({what, fmt::format("{}", trials)});
  };
  for (const auto& [observer, trials] : seen.observers) {
    add("counted by " + ObserverText(observer), trials);
  }
  if (seen.equal + seen.different + seen.one_observer == 0) return table;
  table.sentence = ObserverSentence(seen);
  add("equal at both ends", seen.equal);
  add("different", seen.different);
  for (const auto& [cause, trials] : seen.causes) {
    add(fmt::format("· {}", Printable(cause)), trials);
  }
  add("seen at one end only", seen.one_observer);
  Cut(table, "report.json");
  return table;
}

Table HostsTable(const Analysis& analysis) {
  Table table;
  table.title = "Hosts";
  table.empty = "No host is recorded.";
  const std::vector<HostColumn> hosts = HostColumns(analysis);
  if (hosts.empty()) return table;
  table.columns = {{"fact", false}};
  std::vector<std::string> names;
  for (const HostColumn& host : hosts) {
    table.columns.push_back({host.name, false});
    for (const auto& [name, value] : host.facts) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  table.columns.push_back({"", false});
  int different = 0;
  for (const std::string& name : names) {
    Row row{name};
    std::set<std::string> values;
    for (const HostColumn& host : hosts) {
      row.push_back(FindFact(host.facts, name));
      values.insert(row.back());
    }
    const bool differs = values.size() > 1;
    different += differs ? 1 : 0;
    row.emplace_back(differs ? "differs" : "");
    table.rows.push_back(std::move(row));
    table.marked.push_back(differs);
  }
  if (hosts.size() > 1) {
    table.sentence =
        fmt::format("{} of {} differ between the hosts.", different,
                    Count(static_cast<long long>(names.size()), "fact"));
  }
  return table;
}

Table LinksTable(const Analysis& analysis) {
  Table table;
  table.title = "The link";
  table.columns = {{"run"}, {"setting", false}, {"value", false}};
  table.empty = "No link is described.";
  for (std::size_t i = 0; i < analysis.runs.size(); ++i) {
    const RecordedLink& link = analysis.runs[i].link;
    const std::string run = fmt::format("{}", i + 1);
    const auto add = [&](const std::string& name, const std::string& value) {
      if (!value.empty()) {
        table.rows.push_back({run, Printable(name), Printable(value)});
      }
    };
    add("kind", link.kind);
    add("description", link.description);
    add("rate", link.rate_bits_per_second.has_value()
                    ? FormatBitRate({*link.rate_bits_per_second})
                    : "not known");
    add("framing", link.framing);
    add("MTU", link.mtu.has_value() ? fmt::format("{}", *link.mtu) : "");
    add("delay, each way", link.delay_ns.has_value()
                               ? FormatDuration(Nanoseconds{*link.delay_ns})
                               : "");
    add("loss", link.loss.has_value() ? Percent(*link.loss) : "");
    for (const auto& [name, value] : link.settings) add(name, value);
  }
  Cut(table, "report.json");
  return table;
}

Table ProblemsTable(const Analysis& analysis) {
  Table table;
  table.title = "What failed, was skipped or disturbed";
  table.columns = {{"outcome", false},
                   {"trials"},
                   {"reason", false},
                   {"for example", false}};
  for (const Problem& problem : analysis.problems) {
    table.rows.push_back({OutcomeText(problem),
                          fmt::format("{}", problem.trials),
                          problem.reason.empty() ? "no reason was recorded"
                                                 : Printable(problem.reason),
                          Printable(problem.example)});
  }
  if (!table.rows.empty()) {
    table.sentence = fmt::format(
        "{} failed, {} skipped, {} disturbed. Disturbed trials count; failed "
        "and skipped ones are in no figure.",
        Count(analysis.failed, "trial"), analysis.skipped, analysis.disturbed);
  }
  Cut(table, "samples.csv");
  table.empty = fmt::format("Nothing: all of {} ok and undisturbed.",
                            Count(analysis.ok, "trial"));
  return table;
}

Table ClaimsTable(const Analysis& analysis) {
  Table table;
  table.title = "Claims";
  table.columns = {{"claim", false},
                   {"what was said", false},
                   {"answer", false},
                   {"because", false}};
  for (const ClaimResult& result : analysis.claims) {
    table.rows.push_back({Printable(result.claim.id),
                          Printable(result.claim.text),
                          AnswerText(result.answer), Printable(result.why)});
  }
  Cut(table, "report.json");
  table.empty = "The study states no claim.";
  return table;
}

Table CsvColumnsTable() {
  Table table;
  table.title = "Columns of samples.csv";
  table.columns = {{"column", false}, {"meaning", false}};
  for (const CsvColumn& column : CsvColumns()) {
    table.rows.push_back({column.name, column.meaning});
  }
  return table;
}

}  // namespace wiretoll

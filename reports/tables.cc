#include "reports/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/base/units.h"
#include "reports/csv.h"
#include "reports/sentences.h"
#include "reports/table_parts.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

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

// A trial that was to be captured and was not is as good as any other, but
// cannot be explained.
void AddNotCaptured(const Agreement& agreement, Table& table) {
  for (const auto& [reason, trials] : agreement.not_captured) {
    table.rows.push_back(
        {"not captured", fmt::format("{}", trials),
         reason.empty() ? "no reason was recorded" : Printable(reason), kNone});
  }
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
  AddNotCaptured(analysis.agreement, table);
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

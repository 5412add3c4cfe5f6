#include "reports/size_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "harness/analysis/knee.h"
#include "reports/size_words.h"
#include "reports/table_parts.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

using Number64 = std::optional<std::int64_t>;

std::string WholeOrNone(const Number64& count) {
  return count ? fmt::format("{}", *count) : kNone;
}

std::string ShareOrNone(const Number64& count, std::int64_t of) {
  if (!count || of <= 0) return kNone;
  return Percent(static_cast<double>(*count) / static_cast<double>(of));
}

std::string TimeOrNone(const std::optional<double>& nanoseconds) {
  return nanoseconds ? TimeText(*nanoseconds) : kNone;
}

std::string FigureTime(const Cell& cell, Metric metric) {
  const auto& figure = cell.figure(metric);
  return figure ? TimeText(figure->median) : kNone;
}

// Which have no column of their own.
std::vector<std::string> MoreFactors(const StudyView& view) {
  std::vector<std::string> names;
  for (const std::string& name : view.varying) {
    if (name != "transport" && name != view.size_factor) names.push_back(name);
  }
  return names;
}

std::string NotSentText(const DatagramTotals& totals) {
  if (totals.not_sent == 0) return "0";
  return fmt::format("{} ({} for a full queue)", totals.not_sent,
                     totals.no_buffers);
}

std::string ClockError(const DatagramTotals& totals) {
  if (!totals.delay_error_ns) return kNone;
  return *totals.delay_error_ns == 0
             ? "one clock"
             : "± " + TimeText(static_cast<double>(*totals.delay_error_ns));
}

Row DatagramsRow(const StudyView& view, const Cell& cell,
                 const std::string& pair) {
  const DatagramTotals& totals = *cell.datagrams;
  Row row{
      PayloadText(static_cast<double>(SizeOf(view, cell.factors).value_or(0)))};
  for (const std::string& name : MoreFactors(view)) {
    const FactorValue* value = FindFactor(cell.factors, name);
    row.push_back(value == nullptr ? kNone : FactorValueText(name, *value));
  }
  row.insert(
      row.end(),
      {pair, fmt::format("{}", totals.sent), fmt::format("{}", totals.received),
       ShareOrNone(totals.lost, totals.sent),
       ShareOrNone(totals.lost_at_receiver, totals.sent),
       ShareOrNone(totals.lost_on_path, totals.sent), NotSentText(totals),
       WholeOrNone(totals.duplicated), WholeOrNone(totals.reordered),
       WholeOrNone(totals.late), WholeOrNone(totals.fragments_each),
       FigureTime(cell, Metric::kDelayP50), FigureTime(cell, Metric::kDelayP99),
       ClockError(totals), FigureTime(cell, Metric::kJitter),
       TimeOrNone(totals.jitter_rfc3550_ns)});
  return row;
}

std::vector<const Cell*> UdpCells(const StudyView& view) {
  std::vector<const Cell*> cells;
  for (const std::size_t index : CellsInOrder(view)) {
    const Cell& cell = view.analysis->cells[index];
    if (cell.datagrams) cells.push_back(&cell);
  }
  std::ranges::stable_sort(cells, {}, [&view](const Cell* cell) {
    return SizeOf(view, cell->factors).value_or(0);
  });
  return cells;
}

// Why some fields are empty.
std::string WhyBlank(const std::vector<const Cell*>& cells) {
  constexpr std::size_t kMost = 4;
  std::set<std::string> reasons;
  for (const Cell* cell : cells) {
    const std::string& own = cell->datagrams->reason;
    if (!own.empty()) reasons.insert(Printable(own));
    for (const Metric metric : {Metric::kDelayP50, Metric::kJitter}) {
      const auto why = cell->why_missing.find(metric);
      if (why != cell->why_missing.end() && !why->second.empty()) {
        reasons.insert(Printable(why->second));
      }
    }
  }
  if (reasons.empty()) return {};
  std::vector<std::string> shown;
  for (const std::string& reason : reasons) {
    if (shown.size() < kMost) shown.push_back(reason);
  }
  return fmt::format(" {} not observed: {}{}.", kNone, fmt::join(shown, "; "),
                     reasons.size() > kMost ? "; and more" : "");
}

// --- Knees

const char* KneeKindName(KneeKind kind) {
  switch (kind) {
    case KneeKind::kStillGrowing:
      return "still growing";
    case KneeKind::kNeverGrows:
      return "never grows";
    case KneeKind::kFound:
      break;
  }
  return "found";
}

// Of the curve's pairs of hosts, each by itself: what the pool hides.
std::string ByPair(const StudyView& view, const Series& series) {
  std::set<std::size_t> cells;
  for (const auto& [size, group] : series.by_write) {
    cells.insert(group->cells.begin(), group->cells.end());
  }
  std::set<double> sizes;
  int pairs = 0;
  for (const KneeRow& row : view.analysis->knees) {
    if (row.study != view.study || !cells.contains(row.cells.front())) continue;
    ++pairs;
    sizes.insert(row.knee.size);
  }
  if (sizes.empty()) return kNone;
  const std::string low = PayloadText(*sizes.begin());
  const std::string high = PayloadText(*sizes.rbegin());
  return fmt::format("{} ({})", low == high ? low : low + " to " + high,
                     Count(pairs, "pair"));
}

Row RowOfKnee(const StudyView& view, const Facet& facet, const Series& series,
              const Knee& knee) {
  const std::string curve =
      facet.label.empty() ? series.label
                          : fmt::format("{}, {}", series.label, facet.label);
  return {curve,
          knee.kind == KneeKind::kFound ? PayloadText(knee.size) : kNone,
          KneeInWords(knee),
          ByPair(view, series),
          fmt::format("{}", knee.sizes),
          fmt::format("{}", knee.blocks)};
}

// The factors that vary, but for the size: "transport=tcp gap=0us".
std::string CurveText(const Analysis& analysis, const KneeRow& row) {
  std::string text;
  for (const std::string& name : analysis.studies[row.study].varying) {
    const FactorValue* value =
        FindFactor(analysis.cells[row.cells.front()].factors, name);
    if (name == row.factor || value == nullptr) continue;
    text += (text.empty() ? "" : " ") + name + '=' + SpellFactor(*value);
  }
  return text;
}

std::string NumberField(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : "";
}

}  // namespace

Table DatagramsTable(const StudyView& view) {
  Table table;
  table.title = "Datagrams";
  table.empty = "No datagram was sent.";
  const std::vector<const Cell*> cells = UdpCells(view);
  if (cells.empty()) return table;
  table.columns = {{view.size_factor == "block" ? "block" : "datagram"}};
  for (const std::string& name : MoreFactors(view)) {
    table.columns.push_back({Printable(name)});
  }
  for (const char* head :
       {"pair", "sent", "received", "lost", "at the receiver", "on the path",
        "not sent", "duplicated", "reordered", "late", "fragments each",
        "delay p50", "delay p99", "clocks", "jitter, mean",
        "jitter, RFC 3550"}) {
    table.columns.push_back({head, std::string_view(head) != "pair"});
  }
  const PairNamer pair(*view.analysis);
  for (const Cell* cell : cells) {
    table.rows.push_back(DatagramsRow(view, *cell, pair(*cell)));
  }
  table.sentence = FatesSentence(view);
  table.note =
      "Counts are sums over ok trials, received with duplicates; losses are "
      "of what was sent, and what was not sent stands beside it: sent = "
      "received - duplicated + lost. Times are medians over blocks, RFC 3550's "
      "estimate the mean over trials; fragments are of a full datagram." +
      WhyBlank(cells);
  Cut(table, "report.json");
  return table;
}

Table KneesTable(const StudyView& view) {
  Table table;
  table.title = "Knees";
  table.empty = "No curve has four sizes.";
  if (!view.sizes) return table;
  table.columns = {{"curve", false},    {"knee"},
                   {"in words", false}, {"pairs by themselves", false},
                   {"sizes"},           {"blocks"}};
  for (const Facet& facet : view.facets) {
    for (const Series& series : facet.series) {
      const std::optional<Knee> knee = KneeOf(view, series);
      if (knee) table.rows.push_back(RowOfKnee(view, facet, series, *knee));
    }
  }
  table.sentence = KneeRule();
  return table;
}

Json DatagramsJson(const DatagramTotals& totals) {
  Json json{{"trials", totals.trials},
            {"sent", totals.sent},
            {"received", totals.received},
            {"lost", totals.lost},
            {"not_sent", totals.not_sent},
            {"not_sent_no_buffers", totals.no_buffers},
            {"duplicated", OrNull(totals.duplicated)},
            {"reordered", OrNull(totals.reordered)},
            {"late", OrNull(totals.late)},
            {"lost_at_receiver", OrNull(totals.lost_at_receiver)},
            {"lost_on_path", OrNull(totals.lost_on_path)},
            {"fragments_each", OrNull(totals.fragments_each)},
            {"mtu_bytes", OrNull(totals.mtu_bytes)},
            {"jitter_rfc3550_ns", OrNull(totals.jitter_rfc3550_ns)},
            {"delay_error_ns", OrNull(totals.delay_error_ns)}};
  const bool empty = std::ranges::any_of(
      json, [](const Json& value) { return value.is_null(); });
  if (empty) {
    json["why_null"] = totals.reason.empty()
                           ? "the cell's why_null has the reasons of delay and "
                             "jitter, or trials differ"
                           : totals.reason;
  }
  return json;
}

Json KneeJson(const KneeRow& row) {
  const Knee& knee = row.knee;
  Json json{
      {"study", row.study},
      {"factor", row.factor},
      {"cells", row.cells},
      {"kind", KneeKindName(knee.kind)},
      {"knee_bytes",
       knee.kind == KneeKind::kFound ? Json(knee.size) : Json(nullptr)},
      {"low_bytes", knee.interval ? Json(knee.interval->low) : Json(nullptr)},
      {"high_bytes", knee.interval ? Json(knee.interval->high) : Json(nullptr)},
      {"more_than_bytes", OrNull(knee.more_than)},
      {"open", knee.open},
      {"sizes", knee.sizes},
      {"blocks", knee.blocks},
      {"words", KneeInWords(knee)}};
  if (knee.kind != KneeKind::kFound || !knee.interval || !knee.more_than) {
    json["why_null"] =
        "words say it: no knee in the range, too few blocks, or "
        "no smaller size measured";
  }
  return json;
}

std::vector<const KneeRow*> KneesToTell(const Analysis& analysis) {
  std::vector<const KneeRow*> rows;
  for (const KneeRow& row : analysis.knees) {
    if (IsSizeStudy(analysis, row.study)) rows.push_back(&row);
  }
  return rows;
}

void WriteKneesCsv(const Analysis& analysis, std::ostream& out) {
  out << "study,factor,curve,sender,receiver,kind,knee_bytes,low_bytes,"
         "high_bytes,more_than_bytes,open,sizes,blocks\r\n";
  for (const KneeRow* row : KneesToTell(analysis)) {
    const Knee& knee = row->knee;
    const Cell& cell = analysis.cells[row->cells.front()];
    const auto end = [&knee](double Interval::*which) {
      return knee.interval ? NumberField((*knee.interval).*which) : "";
    };
    out << CsvField(analysis.studies[row->study].name) << ',' << row->factor
        << ',' << CsvField(CurveText(analysis, *row)) << ','
        << CsvField(cell.sender) << ',' << CsvField(cell.receiver) << ','
        << KneeKindName(knee.kind) << ','
        << (knee.kind == KneeKind::kFound ? NumberField(knee.size) : "") << ','
        << end(&Interval::low) << ',' << end(&Interval::high) << ','
        << NumberField(knee.more_than) << ',' << (knee.open ? 1 : 0) << ','
        << knee.sizes << ',' << knee.blocks << "\r\n";
  }
}

}  // namespace wiretoll

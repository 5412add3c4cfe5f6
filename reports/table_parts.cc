#include "reports/table_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/analysis/systems.h"
#include "harness/base/units.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

bool IsStream(const Cell& cell) {
  const FactorValue* pattern = FindFactor(cell.factors, "pattern");
  return pattern == nullptr || SpellFactor(*pattern) != "request-response";
}

}  // namespace

void Cut(Table& table, const std::string& where) {
  if (table.rows.size() <= kMostRows) return;
  if (!table.note.empty()) table.note += ' ';
  table.note += fmt::format("{} of {} rows are shown; the rest is in {}.",
                            kMostRows, table.rows.size(), where);
  table.rows.resize(kMostRows);
  if (table.marked.size() > kMostRows) table.marked.resize(kMostRows);
}

PairNamer::PairNamer(const Analysis& analysis) {
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

std::string PairNamer::operator()(const Cell& cell) const {
  return fmt::format(
      "{} → {}", End(cell.sender, cell.sender_os, cell.sender_system),
      End(cell.receiver, cell.receiver_os, cell.receiver_system));
}

std::string PairNamer::End(const std::string& host, const std::string& os,
                           const std::string& system) const {
  if (bare_) return Printable(host);
  return fmt::format("{} [{}]", Printable(host),
                     Printable(system.empty() ? SystemName(os) : system));
}

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

bool IsTime(Metric metric) {
  return metric == Metric::kLatencyP50 || metric == Metric::kLatencyP99 ||
         metric == Metric::kElapsed || metric == Metric::kDelayP50 ||
         metric == Metric::kDelayP99 || metric == Metric::kJitter ||
         (metric >= Metric::kRttHandshake && metric <= Metric::kRttRise);
}

std::string FigureText(double value, Metric metric) {
  switch (metric) {
    case Metric::kThroughput:
    case Metric::kSteadyThroughput:
    case Metric::kTotalThroughput:
      return FormatNumber(value * kMega);
    case Metric::kBytesPerSegment:
    case Metric::kBytesPerRead:
    case Metric::kDataSegments:
    case Metric::kAckSegments:
    case Metric::kReceiveBuffer:
    case Metric::kSendBuffer:
    case Metric::kWindowInitial:
    case Metric::kWindowPeak:
    case Metric::kDatagramRate:
    case Metric::kWindowReopened:
      return WholeNumber(value);
    case Metric::kLatencyP50:
    case Metric::kLatencyP99:
    case Metric::kElapsed:
    case Metric::kDelayP50:
    case Metric::kDelayP99:
    case Metric::kJitter:
    case Metric::kSillyWait:
    case Metric::kPersistWait:
    case Metric::kRttHandshake:
    case Metric::kRttMin:
    case Metric::kRttP50:
    case Metric::kRttP99:
    case Metric::kRttRise:
      return TimeText(value);
    case Metric::kStalls:
      return fmt::format("{:.4g}", value);  // Rounds; halves are rare.
    default:
      return FormatNumber(value);
  }
}

std::string MetricText(Metric metric) {
  std::string unit = MetricUnit(metric);
  std::string name = MetricName(metric);
  std::replace(name.begin(), name.end(), '_', ' ');
  if (metric == Metric::kThroughput || metric == Metric::kSteadyThroughput ||
      metric == Metric::kTotalThroughput) {
    return fmt::format("{}, MB/s", name);
  }
  // Times carry their own unit, and some names say it already.
  const bool said =
      unit.empty() || IsTime(metric) || name.find(unit) != std::string::npos;
  return said ? name : fmt::format("{}, {}", name, unit);
}

}  // namespace wiretoll

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reports/compare_report.h"
#include "reports/compare_words.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

// Rows that still can be read.
constexpr std::size_t kMostRowsDrawn = 40;
constexpr std::size_t kLongestName = 62;
// An interval that reaches farther beyond the ratios would squeeze them.
constexpr double kFarthest = 3;

using Cells = std::vector<const ComparedCell*>;

struct Look {
  Change change;
  const char* colour;
  Shape shape;
  const char* text;
};
constexpr std::array<Look, 3> kLooks{
    {{Change::kFaster, colour::kBlue, Shape::kCircle, "NEW is faster"},
     {Change::kSlower, colour::kVermilion, Shape::kSquare, "NEW is slower"},
     {Change::kNotDistinguishable, colour::kTheory, Shape::kDiamond,
      "not distinguishable (hollow: no interval)"}}};

Cells CellsOf(const Comparison& comparison, Compared which) {
  Cells cells;
  for (const ComparedCell& cell : comparison.cells) {
    if (cell.judged_by == which && cell.change != Change::kMissing &&
        cell.figure(which).ratio) {
      cells.push_back(&cell);
    }
  }
  return cells;
}

// What is drawn along x: all ratios, and intervals as far as they go within
// reason.
Interval SpanOf(const Cells& cells, Compared which) {
  Interval span{1, 1};
  for (const ComparedCell* cell : cells) {
    const double median = cell->figure(which).ratio->median;
    span = {std::min(span.low, median), std::max(span.high, median)};
  }
  const Interval limit{span.low / kFarthest, span.high * kFarthest};
  for (const ComparedCell* cell : cells) {
    const auto& interval = cell->figure(which).ratio->interval;
    if (!interval) continue;
    span = {std::min(span.low, std::max(interval->low, limit.low)),
            std::max(span.high, std::min(interval->high, limit.high))};
  }
  return span;
}

// Ratios lie near 1, where decades have no ticks.
Axis RatioAxis(const std::string& title, const Interval& span) {
  constexpr double kWide = 4;
  if (span.high / span.low > kWide) {
    return DecimalLogAxis(title, span.low, span.high);
  }
  Axis axis;
  axis.title = title;
  axis.log = true;
  const double air = std::max(0.005, 0.04 * (span.high - span.low));
  axis.low = span.low - air * span.low;
  axis.high = span.high + air;
  double step = 1;
  for (const double candidate :
       {0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5}) {
    constexpr double kMostTicks = 9;
    step = candidate;
    if ((axis.high - axis.low) / step <= kMostTicks) break;
  }
  const auto first = static_cast<long>(std::ceil(axis.low / step));
  const auto last = static_cast<long>(std::floor(axis.high / step));
  for (long k = first; k <= last; ++k) {
    const double at = static_cast<double>(k) * step;
    axis.ticks.push_back({at, fmt::format("{:.4g}", at)});
  }
  return axis;
}

Curve CurveOf(const Cells& cells, Compared which, const Look& look,
              const Interval& limit) {
  Curve curve;
  curve.colour = look.colour;
  curve.shape = look.shape;
  curve.points_only = true;
  curve.across = true;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i]->change != look.change) continue;
    const UnpairedRatio& ratio = *cells[i]->figure(which).ratio;
    ChartPoint point{ratio.median, static_cast<double>(cells.size() - 1 - i),
                     std::nullopt, !ratio.interval};
    if (ratio.interval) {
      point.interval = Interval{std::max(ratio.interval->low, limit.low),
                                std::min(ratio.interval->high, limit.high)};
    }
    curve.points.push_back(point);
  }
  return curve;
}

// The pair is kept whole: cells may differ in nothing else.
std::string RowName(const Comparison& comparison, const ComparedCell& cell) {
  const std::string pair =
      Shorten(PairOf(comparison, cell), kLongestName * 2 / 3);
  const std::size_t left = kLongestName - Length(pair);
  return fmt::format("{}, {}", Shorten(CaseOf(comparison, cell), left), pair);
}

// A row a cell, the largest effect on top.
Chart ChartOf(const Comparison& comparison, const Cells& cells,
              Compared which) {
  Chart chart;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string name = RowName(comparison, *cells[i]);
    longest = std::max(longest, Length(name));
    chart.y.ticks.push_back({static_cast<double>(cells.size() - 1 - i), name});
  }
  chart.y.low = -0.6;
  chart.y.high = static_cast<double>(cells.size()) - 0.4;
  chart.left = std::clamp(20 + static_cast<int>(longest) * 15 / 2, 60, 500);
  chart.top = 8;
  chart.height = chart.top + chart.bottom + 24 * static_cast<int>(cells.size());
  chart.curve_labels = false;
  const char* side = which == Compared::kRoundTrip ? "left" : "right";
  chart.x = RatioAxis(fmt::format("{}, NEW / BASE (log scale); {} of 1 is "
                                  "faster",
                                  NameOf(which), side),
                      SpanOf(cells, which));
  chart.guides.push_back({true, 1, {}});
  const Interval limit{chart.x.low, chart.x.high};
  for (const Look& look : kLooks) {
    chart.curves.push_back(CurveOf(cells, which, look, limit));
  }
  return chart;
}

std::string SentenceOf(const Comparison& comparison, const Cells& cells,
                       Compared which) {
  const auto count = [&](Change change) {
    return std::count_if(
        cells.begin(), cells.end(),
        [&](const ComparedCell* cell) { return cell->change == change; });
  };
  const auto slower = count(Change::kSlower);
  const auto faster = count(Change::kFaster);
  if (slower + faster == 0) {
    return "No interval leaves out 1, the dashed line: no cell can be told "
           "from BASE.";
  }
  const ComparedCell& first = *cells.front();
  const long long intervals =
      std::count_if(cells.begin(), cells.end(), [&](const ComparedCell* cell) {
        return cell->figure(which).ratio->interval.has_value();
      });
  return fmt::format(
      "{} of {} leave out 1, the dashed line: NEW is slower in {} and faster "
      "in {}, most of all in {} ({}), with {} times the {} (95 %: {}).",
      slower + faster, Count(intervals, "interval"), slower, faster,
      CaseOf(comparison, first), PairOf(comparison, first),
      FormatNumber(first.figure(which).ratio->median), NameOf(which),
      RatioRange(*first.figure(which).ratio->interval));
}

std::string DrawnOf(const Comparison& comparison, const Cells& all,
                    std::size_t drawn) {
  std::string text =
      "Ratio of the medians over blocks, bar: its 95 % interval (cut at the "
      "picture's edge), by the size of the effect. Blocks are not paired "
      "across the runs.";
  const std::string base =
      Printable(comparison.analysis.runs[0].link.description);
  const std::string next =
      Printable(comparison.analysis.runs[1].link.description);
  if (base == next && !base.empty()) text += fmt::format(" Link: {}.", base);
  if (base != next) text += " Links differ between the runs.";
  if (drawn < all.size()) {
    text +=
        fmt::format(" The first {} of {} cells are drawn.", drawn, all.size());
  }
  return text;
}

}  // namespace

Picture ComparisonPicture(const Comparison& comparison, Compared which) {
  Picture picture;
  picture.kind = "comparison";
  picture.title = fmt::format("NEW against BASE: {}", NameOf(which));
  Cells cells = CellsOf(comparison, which);
  if (cells.empty()) {
    picture.sentence =
        fmt::format("No {} was measured in both runs.", NameOf(which));
    picture.missing = "Nothing to draw.";
    return picture;
  }
  picture.sentence = SentenceOf(comparison, cells, which);
  picture.drawn =
      DrawnOf(comparison, cells, std::min(cells.size(), kMostRowsDrawn));
  cells.resize(std::min(cells.size(), kMostRowsDrawn));
  for (const Look& look : kLooks) {
    picture.keys.push_back({look.colour, look.text, true, false, look.shape});
  }
  Panel panel;
  panel.request = {ChartOf(comparison, cells, which), picture.title,
                   picture.sentence + " " + picture.drawn};
  picture.panels.push_back(std::move(panel));
  return picture;
}

}  // namespace wiretoll

#include "reports/bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "harness/base/units.h"
#include "reports/captions.h"
#include "reports/sentences.h"
#include "reports/size_words.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

// Rows of a picture that still can be read.
constexpr std::size_t kMostBars = 32;
constexpr double kMilli = 1e-6;  // Milliseconds of nanoseconds.

// What a bar is made of: one share of a whole, with its colour and its name.
template <class Whole>
struct Part {
  double Whole::*of;
  const char* colour;
  const char* text;
};

constexpr std::array<Part<Capacity>, 7> kShares{{
    {&Capacity::payload, colour::kGreen, "payload"},
    {&Capacity::headers, colour::kSky, "TCP and IP headers"},
    {&Capacity::framing, colour::kPale, "framing, preamble, gap"},
    {&Capacity::retransmission, colour::kPink, "retransmissions"},
    {&Capacity::window_wait, colour::kOrange, "waits: window"},
    {&Capacity::ack_wait, colour::kYellow, "waits: ACK"},
    {&Capacity::program_wait, colour::kGrey, "waits: program"},
}};

constexpr std::array<Part<DatagramFates>, 6> kFates{{
    {&DatagramFates::received, colour::kGreen, "received"},
    {&DatagramFates::lost_on_path, colour::kPink, "lost on the path"},
    {&DatagramFates::lost_at_receiver, colour::kOrange,
     "lost at the receiver's buffer"},
    {&DatagramFates::lost_somewhere, colour::kGrey, "lost, where is not known"},
    {&DatagramFates::no_buffers, colour::kYellow,
     "not sent: the sender's own queue was full"},
    {&DatagramFates::not_sent_otherwise, colour::kPale,
     "not sent: other reasons"},
}};

// Evenly chosen where there are too many, so that none of the ends is lost.
template <class T>
std::vector<T> Thin(const std::vector<T>& all) {
  if (all.size() <= kMostBars) return all;
  std::vector<T> kept;
  for (std::size_t i = 0; i < kMostBars; ++i) {
    kept.push_back(all[i * (all.size() - 1) / (kMostBars - 1)]);
  }
  return kept;
}

std::string ThinNote(std::size_t all, std::size_t drawn) {
  if (all == drawn) return {};
  return fmt::format(" {} of {} cases are drawn; all are in report.json.",
                     drawn, all);
}

// Rows from the top; the left margin fits the longest name.
Chart RowChart(const std::vector<std::string>& names) {
  constexpr std::size_t kLongest = 56;
  Chart chart;
  std::size_t longest = 0;
  const std::size_t rows = names.size();
  chart.y.low = -0.6;
  chart.y.high = static_cast<double>(rows) - 0.4;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::string name = Shorten(names[i], kLongest);
    longest = std::max(longest, Length(name));
    chart.y.ticks.push_back({static_cast<double>(rows - 1 - i), name});
  }
  chart.left = std::clamp(20 + static_cast<int>(longest) * 8, 60, 430);
  chart.top = 8;
  chart.height = chart.top + chart.bottom + 24 * static_cast<int>(rows);
  return chart;
}

Chart SmallRowChart(const std::vector<std::string>& names) {
  constexpr std::size_t kLongest = 20;
  std::vector<std::string> shorter;
  shorter.reserve(names.size());
  for (const std::string& name : names) {
    shorter.push_back(Shorten(name, kLongest));
  }
  Chart chart = RowChart(shorter);
  chart.width = 350;
  chart.font = 13;
  chart.left = std::min(chart.left, 150);
  chart.right = 16;
  chart.bottom = 30;
  chart.height = chart.top + chart.bottom + 19 * static_cast<int>(names.size());
  return chart;
}

template <class Whole>
struct BarRow {
  std::string name;
  Whole whole;
};
template <class Whole>
struct BarPanel {
  std::string label;
  std::vector<BarRow<Whole>> rows;
};

// A panel a facet, in it by size. `row_of` gives the row of a series' group at
// a size, if it has one.
template <class Whole, class RowOf>
std::vector<BarPanel<Whole>> RowsBySize(const StudyView& view, RowOf row_of) {
  std::vector<BarPanel<Whole>> panels;
  for (const Facet& facet : view.facets) {
    std::map<std::int64_t, std::vector<BarRow<Whole>>> by_size;
    for (const Series& series : facet.series) {
      for (const auto& [size, group] : series.by_write) {
        std::optional<BarRow<Whole>> row = row_of(series, size, *group);
        if (row) by_size[size].push_back(*std::move(row));
      }
    }
    BarPanel<Whole> panel{facet.label, {}};
    for (auto& [size, rows] : by_size) {
      panel.rows.insert(panel.rows.end(), rows.begin(), rows.end());
    }
    if (!panel.rows.empty()) panels.push_back(std::move(panel));
  }
  return panels;
}

std::string WhyNoCapacity(const StudyView& view) {
  for (const Group& group : view.groups) {
    if (!group.first->why_no_capacity.empty()) {
      return Printable(group.first->why_no_capacity);
    }
  }
  return "the line's rate is not known";
}

template <class Whole, std::size_t kParts>
void AddBar(Chart& chart, const std::array<Part<Whole>, kParts>& parts,
            const Whole& whole, double row) {
  double from = 0;
  for (const Part<Whole>& part : parts) {
    const double to = from + whole.*part.of * kPercent;
    if (to > from) chart.bars.push_back({row, from, to, part.colour});
    from = to;
  }
}

template <class Whole, std::size_t kParts>
Chart StackedChart(const std::vector<BarRow<Whole>>& rows,
                   const std::array<Part<Whole>, kParts>& parts,
                   const char* axis, bool small) {
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const BarRow<Whole>& row : rows) names.push_back(row.name);
  Chart chart = small ? SmallRowChart(names) : RowChart(names);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    AddBar(chart, parts, rows[i].whole,
           static_cast<double>(rows.size() - 1 - i));
  }
  chart.x = LinearAxis(small ? "" : axis, kPercent);
  chart.x.high = kPercent;
  return chart;
}

// The first is large; what is beyond kMostPanels is said to be left out.
template <class Whole, std::size_t kParts>
void AddPanels(const std::vector<BarPanel<Whole>>& panels,
               const std::array<Part<Whole>, kParts>& parts, const char* axis,
               Picture& picture) {
  const std::string drawn_from = picture.sentence + " " + picture.drawn;
  const std::size_t drawn = std::min(panels.size(), kMostPanels + 1);
  for (std::size_t i = 0; i < drawn; ++i) {
    const BarPanel<Whole>& all = panels[i];
    const std::vector<BarRow<Whole>> rows = Thin(all.rows);
    Panel panel;
    panel.label = all.label + ThinNote(all.rows.size(), rows.size());
    panel.request = {StackedChart(rows, parts, axis, i > 0),
                     all.label.empty()
                         ? picture.title
                         : fmt::format("{} ({})", picture.title, all.label),
                     drawn_from};
    picture.panels.push_back(std::move(panel));
  }
  if (drawn == panels.size()) return;
  picture.drawn += fmt::format(
      " {} more such pictures are left out; their figures are in report.json.",
      panels.size() - drawn);
}

// Only what there is: six colours are hard to tell apart.
void AddFateKeys(const std::vector<BarPanel<DatagramFates>>& panels,
                 Picture& picture) {
  for (const Part<DatagramFates>& fate : kFates) {
    bool any = false;
    for (const BarPanel<DatagramFates>& panel : panels) {
      any = any || std::any_of(panel.rows.begin(), panel.rows.end(),
                               [&fate](const auto& row) {
                                 return row.whole.*fate.of > 0;
                               });
    }
    if (any) picture.keys.push_back({fate.colour, fate.text});
  }
}

Curve LatencyCurve(const std::vector<const Group*>& groups, Metric metric) {
  const bool median = metric == Metric::kLatencyP50;
  Curve curve;
  curve.label = median ? "median" : "99 % are faster";
  curve.colour = median ? colour::kGreen : colour::kPink;
  curve.shape = median ? Shape::kCircle : Shape::kDiamond;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto& figure = groups[i]->figure(metric);
    if (!figure.has_value() || figure->median <= 0) continue;
    curve.points.push_back({figure->median * kMilli,
                            static_cast<double>(groups.size() - 1 - i),
                            std::nullopt, false});
  }
  return curve;
}

}  // namespace

Picture CapacityPicture(const StudyView& view) {
  Picture picture;
  picture.kind = "capacity";
  picture.title = "Where the line's capacity went";
  std::vector<const Group*> groups;
  const auto panels = RowsBySize<Capacity>(
      view,
      [&groups](const Series& series, std::int64_t write,
                const Group& group) -> std::optional<BarRow<Capacity>> {
        if (!group.capacity.has_value()) return std::nullopt;
        groups.push_back(&group);
        return BarRow<Capacity>{
            fmt::format("{}, {}", FormatBytes(Bytes{write}), series.label),
            *group.capacity};
      });
  if (panels.empty()) {
    picture.sentence = fmt::format("Not observed: {}.", WhyNoCapacity(view));
    picture.missing = "Nothing to draw.";
    return picture;
  }
  picture.sentence = CapacitySentence(view, groups);
  picture.drawn = fmt::format(
      "Shares of the time in which the line could have carried bytes, of the "
      "trial of median throughput, by size of write.{}{}",
      PooledLine(view), LinkLine(view));
  for (const Part<Capacity>& share : kShares) {
    picture.keys.push_back({share.colour, share.text});
  }
  AddPanels(panels, kShares, "% of the line's capacity", picture);
  return picture;
}

Picture FatesPicture(const StudyView& view) {
  Picture picture;
  picture.kind = "losses";
  picture.title = "What became of the datagrams";
  picture.sentence = FatesSentence(view);
  const auto panels = RowsBySize<DatagramFates>(
      view,
      [&view](const Series& series, std::int64_t size,
              const Group& group) -> std::optional<BarRow<DatagramFates>> {
        const auto totals = TotalsOf(view, group);
        const auto fates = totals ? FatesOf(*totals) : std::nullopt;
        if (!fates) return std::nullopt;
        std::string name = PayloadText(static_cast<double>(size));
        if (view.pools.size() > 1) name += ", " + series.label;
        return BarRow<DatagramFates>{std::move(name), *fates};
      });
  if (panels.empty()) {
    picture.missing = "Nothing to draw.";
    return picture;
  }
  picture.drawn = fmt::format(
      "Shares of all datagrams that a program handed over, sent or not, in all "
      "ok trials, by size.{}{}{}",
      DuplicatesLine(view), PooledLine(view), LinkLine(view));
  AddFateKeys(panels, picture);
  AddPanels(panels, kFates, "% of the datagrams handed over", picture);
  return picture;
}

Picture LatencyPicture(const StudyView& view) {
  Picture picture;
  picture.kind = "latency";
  picture.title = "Round trips of request and response";
  picture.sentence = LatencySentence(view);
  const std::vector<const Group*> drawn = Thin(view.latency);
  picture.drawn = fmt::format(
      "Time of a round at the client, median of the blocks' median and 99 % "
      "quantile (log scale).{}{}{}",
      ThinNote(view.latency.size(), drawn.size()), PooledLine(view),
      LinkLine(view));
  std::vector<std::string> names;
  names.reserve(drawn.size());
  for (const Group* group : drawn) {
    names.push_back(CaseText(view, *group, {"pattern"}));
  }
  Chart chart = RowChart(names);
  chart.curves = {LatencyCurve(drawn, Metric::kLatencyP50),
                  LatencyCurve(drawn, Metric::kLatencyP99)};
  chart.curve_labels = false;
  std::vector<double> span;
  for (Curve& curve : chart.curves) {
    picture.keys.push_back({curve.colour, curve.label});
    curve.points_only = true;
    for (const ChartPoint& point : curve.points) span.push_back(point.x);
  }
  if (span.empty()) {
    picture.missing = "Nothing to draw.";
    return picture;
  }
  chart.x = DecimalLogAxis("round trip, ms (log scale)",
                           *std::min_element(span.begin(), span.end()),
                           *std::max_element(span.begin(), span.end()));
  Panel panel;
  panel.request = {std::move(chart), picture.title,
                   picture.sentence + " " + picture.drawn};
  picture.panels.push_back(std::move(panel));
  return picture;
}

}  // namespace wiretoll

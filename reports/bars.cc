#include "reports/bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

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

struct Share {
  double Capacity::*of;
  const char* colour;
  const char* text;
};
constexpr std::array<Share, 7> kShares{{
    {&Capacity::payload, colour::kGreen, "payload"},
    {&Capacity::headers, colour::kSky, "TCP and IP headers"},
    {&Capacity::framing, colour::kPale, "framing, preamble, gap"},
    {&Capacity::retransmission, colour::kPink, "retransmissions"},
    {&Capacity::window_wait, colour::kOrange, "waits: window"},
    {&Capacity::ack_wait, colour::kYellow, "waits: ACK"},
    {&Capacity::program_wait, colour::kGrey, "waits: program"},
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

struct CaseRow {
  std::string name;
  const Group* group = nullptr;
};
struct RowPanel {
  std::string label;
  std::vector<CaseRow> rows;
};

// By size of write within each facet.
std::vector<RowPanel> CapacityRows(const StudyView& view) {
  std::vector<RowPanel> panels;
  for (const Facet& facet : view.facets) {
    std::map<std::int64_t, std::vector<CaseRow>> by_write;
    for (const Series& series : facet.series) {
      for (const auto& [write, group] : series.by_write) {
        if (!group->capacity.has_value()) continue;
        by_write[write].push_back(
            {fmt::format("{}, {}", FormatBytes(Bytes{write}), series.label),
             group});
      }
    }
    RowPanel panel{facet.label, {}};
    for (auto& [write, rows] : by_write) {
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

void AddBars(Chart& chart, const Capacity& capacity, double row) {
  double from = 0;
  for (const Share& share : kShares) {
    const double to = from + capacity.*share.of * kPercent;
    if (to > from) chart.bars.push_back({row, from, to, share.colour});
    from = to;
  }
}

Panel CapacityPanel(const RowPanel& rows, const Picture& picture, bool small) {
  const std::vector<CaseRow> drawn = Thin(rows.rows);
  std::vector<std::string> names;
  names.reserve(drawn.size());
  for (const CaseRow& row : drawn) names.push_back(row.name);
  Panel panel;
  panel.label = rows.label;
  if (drawn.size() < rows.rows.size()) {
    panel.label += ThinNote(rows.rows.size(), drawn.size());
  }
  Chart chart = small ? SmallRowChart(names) : RowChart(names);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    AddBars(chart, *drawn[i].group->capacity,
            static_cast<double>(drawn.size() - 1 - i));
  }
  chart.x = LinearAxis(small ? "" : "% of the line's capacity", kPercent);
  chart.x.high = kPercent;
  panel.request = {std::move(chart),
                   rows.label.empty()
                       ? picture.title
                       : fmt::format("{} ({})", picture.title, rows.label),
                   picture.sentence + " " + picture.drawn};
  return panel;
}

// --- Datagrams

struct Fate {
  double DatagramFates::*of;
  const char* colour;
  const char* text;
};
constexpr std::array<Fate, 6> kFates{{
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

struct FateRow {
  std::string name;
  DatagramFates fates;
};
struct FatePanel {
  std::string label;
  std::vector<FateRow> rows;
};

std::vector<FatePanel> FateRows(const StudyView& view) {
  std::vector<FatePanel> panels;
  for (const Facet& facet : view.facets) {
    std::map<std::int64_t, std::vector<FateRow>> by_size;
    for (const Series& series : facet.series) {
      for (const auto& [size, group] : series.by_write) {
        const auto totals = TotalsOf(view, *group);
        const auto fates = totals ? FatesOf(*totals) : std::nullopt;
        if (!fates) continue;
        std::string name = PayloadText(static_cast<double>(size));
        if (view.pools.size() > 1) name += ", " + series.label;
        by_size[size].push_back({std::move(name), *fates});
      }
    }
    FatePanel panel{facet.label, {}};
    for (auto& [size, rows] : by_size) {
      panel.rows.insert(panel.rows.end(), rows.begin(), rows.end());
    }
    if (!panel.rows.empty()) panels.push_back(std::move(panel));
  }
  return panels;
}

void AddFateBars(Chart& chart, const DatagramFates& fates, double row) {
  double from = 0;
  for (const Fate& fate : kFates) {
    const double to = from + fates.*fate.of * kPercent;
    if (to > from) chart.bars.push_back({row, from, to, fate.colour});
    from = to;
  }
}

Panel PanelOfFates(const FatePanel& rows, const Picture& picture, bool small) {
  const std::vector<FateRow> drawn = Thin(rows.rows);
  std::vector<std::string> names;
  names.reserve(drawn.size());
  for (const FateRow& row : drawn) names.push_back(row.name);
  Chart chart = small ? SmallRowChart(names) : RowChart(names);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    AddFateBars(chart, drawn[i].fates,
                static_cast<double>(drawn.size() - 1 - i));
  }
  chart.x = LinearAxis(small ? "" : "% of the datagrams handed over", kPercent);
  chart.x.high = kPercent;
  Panel panel;
  panel.label = rows.label + ThinNote(rows.rows.size(), drawn.size());
  panel.request = {std::move(chart),
                   rows.label.empty()
                       ? picture.title
                       : fmt::format("{} ({})", picture.title, rows.label),
                   picture.sentence + " " + picture.drawn};
  return panel;
}

// Only what there is: six colours are hard to tell apart.
void AddFateKeys(const std::vector<FatePanel>& panels, Picture& picture) {
  for (const Fate& fate : kFates) {
    bool any = false;
    for (const FatePanel& panel : panels) {
      any = any || std::any_of(panel.rows.begin(), panel.rows.end(),
                               [&fate](const FateRow& row) {
                                 return row.fates.*fate.of > 0;
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
  const std::vector<RowPanel> panels = CapacityRows(view);
  if (panels.empty()) {
    picture.sentence = fmt::format("Not observed: {}.", WhyNoCapacity(view));
    picture.missing = "Nothing to draw.";
    return picture;
  }
  std::vector<const Group*> groups;
  for (const RowPanel& panel : panels) {
    for (const CaseRow& row : panel.rows) groups.push_back(row.group);
  }
  picture.sentence = CapacitySentence(view, groups);
  picture.drawn = fmt::format(
      "Shares of the time in which the line could have carried bytes, of the "
      "trial of median throughput, by size of write.{}{}",
      PooledLine(view), LinkLine(view));
  for (const Share& share : kShares) {
    picture.keys.push_back({share.colour, share.text});
  }
  const std::size_t drawn = std::min(panels.size(), kMostPanels + 1);
  for (std::size_t i = 0; i < drawn; ++i) {
    picture.panels.push_back(CapacityPanel(panels[i], picture, i > 0));
  }
  if (drawn < panels.size()) {
    picture.drawn += fmt::format(
        " {} more such pictures are left out; their figures are in "
        "report.json.",
        panels.size() - drawn);
  }
  return picture;
}

Picture FatesPicture(const StudyView& view) {
  Picture picture;
  picture.kind = "losses";
  picture.title = "What became of the datagrams";
  picture.sentence = FatesSentence(view);
  const std::vector<FatePanel> panels = FateRows(view);
  if (panels.empty()) {
    picture.missing = "Nothing to draw.";
    return picture;
  }
  picture.drawn = fmt::format(
      "Shares of all datagrams that a program handed over, sent or not, in all "
      "ok trials, by size.{}{}{}",
      DuplicatesLine(view), PooledLine(view), LinkLine(view));
  AddFateKeys(panels, picture);
  const std::size_t drawn = std::min(panels.size(), kMostPanels + 1);
  for (std::size_t i = 0; i < drawn; ++i) {
    picture.panels.push_back(PanelOfFates(panels[i], picture, i > 0));
  }
  if (drawn < panels.size()) {
    picture.drawn += fmt::format(
        " {} more such pictures are left out; their figures are in "
        "report.json.",
        panels.size() - drawn);
  }
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

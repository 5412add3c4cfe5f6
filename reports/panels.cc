#include "reports/panels.h"

#include <fmt/format.h>

#include "reports/bars.h"

namespace wiretoll {
namespace {

// Small multiples leave labels to the keys above them and titles to the large
// picture; 350 pixels and 13 of font stay readable at 360 pixels of screen.
void MakeSmall(Chart& chart) {
  chart.width = 350;
  chart.height = 230;
  chart.left = 52;
  chart.right = 10;
  chart.bottom = 34;
  chart.top = 10;
  chart.font = 13;
  chart.curve_labels = false;
  chart.x.title.clear();
  chart.y.title.clear();
  for (Guide& guide : chart.guides) guide.label.clear();
  constexpr std::size_t kMostTicks = 6;
  for (Axis* axis : {&chart.x, &chart.y}) {
    std::vector<Tick>& ticks = axis->ticks;
    if (ticks.size() <= kMostTicks) continue;
    std::vector<Tick> kept;
    for (std::size_t i = 0; i < ticks.size(); i += 2) kept.push_back(ticks[i]);
    ticks = std::move(kept);
  }
}

}  // namespace

Span SpanOf(const std::vector<Chart>& charts,
            const std::function<double(const ChartPoint&)>& value) {
  Span span;
  for (const Chart& chart : charts) {
    for (const Curve& curve : chart.curves) {
      for (const ChartPoint& point : curve.points) span.Take(value(point));
    }
  }
  return span;
}

void TakeIntervals(const Curve& curve, Span& span) {
  for (const ChartPoint& point : curve.points) {
    if (!point.interval.has_value()) continue;
    span.Take(point.interval->low);
    span.Take(point.interval->high);
  }
}

Curve MeasuredCurve(const Series& series, Metric metric, double scale) {
  Curve curve;
  curve.label = series.label;
  curve.name = series.name;
  curve.colour = series.colour;
  curve.shape = series.shape;
  curve.dashed = series.dashed;
  for (const auto& [write, group] : series.by_write) {
    const auto& figure = group->figure(metric);
    if (!figure.has_value() || figure->median <= 0) continue;
    ChartPoint point{static_cast<double>(write), figure->median * scale,
                     std::nullopt, false};
    if (figure->interval.has_value() && figure->interval->low > 0) {
      point.interval = {figure->interval->low * scale,
                        figure->interval->high * scale};
    }
    curve.points.push_back(point);
  }
  return curve;
}

std::vector<Key> KeysOf(const Chart& chart) {
  std::vector<Key> keys;
  for (const Curve& curve : chart.curves) {
    keys.push_back({curve.colour, curve.name.empty() ? curve.label : curve.name,
                    true, curve.dashed, curve.shape});
  }
  return keys;
}

void AddPanels(Picture& picture, std::vector<Chart> charts,
               const std::vector<std::string>& labels) {
  const std::size_t all = charts.size();
  const std::vector<Curve>& curves = charts.front().curves;
  const bool named =
      std::any_of(curves.begin(), curves.end(),
                  [](const Curve& curve) { return !curve.name.empty(); });
  if (all > 1 || named || !charts.front().curve_labels) {
    picture.keys = KeysOf(charts.front());
  }
  for (std::size_t i = 0; i < std::min(all, kMostPanels + 1); ++i) {
    if (i > 0) MakeSmall(charts[i]);
    Panel panel;
    panel.label = labels[i];
    panel.request.title =
        labels[i].empty() ? picture.title
                          : fmt::format("{} ({})", picture.title, labels[i]);
    panel.request.description = picture.sentence + " " + picture.drawn;
    panel.request.chart = std::move(charts[i]);
    picture.panels.push_back(std::move(panel));
  }
  if (all > kMostPanels + 1) {
    picture.drawn += fmt::format(
        " {} more such pictures are left out; their figures are in "
        "samples.csv.",
        all - kMostPanels - 1);
  }
}

}  // namespace wiretoll

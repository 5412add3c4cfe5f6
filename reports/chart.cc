#include "reports/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/base/units.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

constexpr double kMarkerWidth = 16;

double Share(const Axis& axis, double value) {
  if (!axis.log) return (value - axis.low) / (axis.high - axis.low);
  return std::log(value / axis.low) / std::log(axis.high / axis.low);
}

struct Spot {
  double x = 0, y = 0;
};

std::vector<Spot> Spots(const Chart& chart, const Curve& curve) {
  std::vector<Spot> spots;
  for (const ChartPoint& point : curve.points) {
    spots.push_back({PixelX(chart, point.x), PixelY(chart, point.y)});
  }
  return spots;
}

// Every few pixels along the curve, its ends and corners among them.
std::vector<Spot> Trace(const std::vector<Spot>& corners) {
  constexpr double kStep = 8;
  std::vector<Spot> trace;
  for (std::size_t i = 0; i + 1 < corners.size(); ++i) {
    const Spot a = corners[i];
    const Spot b = corners[i + 1];
    const int steps =
        1 + static_cast<int>(std::hypot(b.x - a.x, b.y - a.y) / kStep);
    for (int k = 0; k < steps; ++k) {
      const double t = static_cast<double>(k) / steps;
      trace.push_back({a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)});
    }
  }
  if (!corners.empty()) trace.push_back(corners.back());
  // Each spot is a place to try, and a reason against others.
  constexpr std::size_t kMost = 400;
  if (trace.size() <= kMost) return trace;
  std::vector<Spot> some;
  for (std::size_t i = 0; i < kMost; ++i) {
    some.push_back(trace[i * (trace.size() - 1) / (kMost - 1)]);
  }
  return some;
}

bool Inside(const Box& box, const Spot& spot) {
  return spot.x >= box.left && spot.x <= box.right && spot.y >= box.top &&
         spot.y <= box.bottom;
}

double Distance(const Box& box, const Spot& spot) {
  const double dx = std::max({box.left - spot.x, spot.x - box.right, 0.0});
  const double dy = std::max({box.top - spot.y, spot.y - box.bottom, 0.0});
  return std::hypot(dx, dy);
}

class LabelPlacer {
 public:
  explicit LabelPlacer(const Chart& chart) : chart_(chart) {
    for (const Curve& curve : chart.curves) {
      traces_.push_back(Trace(Spots(chart, curve)));
      if (curve.error_bars) AddBars(curve);
    }
    for (const Strokes& strokes : chart.strokes) AddStrokes(strokes);
  }

  void PlaceGuide(const Guide& guide) {
    if (guide.label.empty()) return;
    Best best;
    for (const double along : {0.02, 0.25, 0.5, 0.75, 0.98}) {
      for (const double side : {-1.0, 1.0}) {
        const Box box = GuideBox(guide, along, side);
        Offer(best, box, Cost(box, std::nullopt) + 2 * (side > 0 ? 1 : 0));
      }
    }
    Keep(guide.label, best, std::nullopt);
  }

  void PlaceCurve(std::size_t index) {
    const Curve& curve = chart_.curves[index];
    if (curve.label.empty() || curve.points.empty()) return;
    Best best;
    for (const Spot& spot : traces_[index]) {
      for (const double dy : {-13.0, 13.0, -24.0, 24.0}) {
        for (const double anchor : {0.0, 0.5, 1.0}) {
          const Box box = CurveBox(curve.label, spot, dy, anchor);
          Offer(best, box, Cost(box, index) + std::abs(dy) / 8);
        }
      }
    }
    Keep(curve.label, best, index);
  }

  std::vector<PlacedLabel> Take() { return std::move(placed_); }

 private:
  struct Best {
    bool any = false;
    double cost = 0;
    Box box;
  };

  void AddBars(const Curve& curve) {
    for (const ChartPoint& point : curve.points) {
      if (!point.interval.has_value()) continue;
      const double x = PixelX(chart_, point.x);
      const auto bar = Trace({{x, PixelY(chart_, point.interval->low)},
                              {x, PixelY(chart_, point.interval->high)}});
      bars_.insert(bars_.end(), bar.begin(), bar.end());
    }
  }

  // Some of many.
  void AddStrokes(const Strokes& strokes) {
    constexpr std::size_t kMost = 300;
    const std::size_t step = 1 + strokes.lines.size() / kMost;
    for (std::size_t i = 0; i < strokes.lines.size(); i += step) {
      const Stroke& line = strokes.lines[i];
      bars_.push_back({PixelX(chart_, (line.from_x + line.to_x) / 2),
                       PixelY(chart_, (line.from_y + line.to_y) / 2)});
    }
  }

  [[nodiscard]] double Width(const std::string& text) const {
    return TextWidth(chart_, text);
  }
  [[nodiscard]] double Height() const { return chart_.font + 4; }

  [[nodiscard]] Box CurveBox(const std::string& text, const Spot& spot,
                             double dy, double anchor) const {
    const double width = Width(text) + kMarkerWidth;
    const double left = spot.x - anchor * width;
    return {left, spot.y + dy - Height() / 2, left + width,
            spot.y + dy + Height() / 2};
  }

  [[nodiscard]] Box GuideBox(const Guide& guide, double along,
                             double side) const {
    const double width = Width(guide.label);
    const double inner_width = chart_.width - chart_.left - chart_.right;
    const double inner_height = chart_.height - chart_.top - chart_.bottom;
    if (guide.vertical) {
      const double x = PixelX(chart_, guide.at);
      const double left = side < 0 ? x + 5 : x - 5 - width;
      const double middle = chart_.height - chart_.bottom - Height() -
                            along * (inner_height - 2 * Height());
      return {left, middle - Height() / 2, left + width, middle + Height() / 2};
    }
    const double middle = PixelY(chart_, guide.at) + side * (Height() / 2 + 2);
    const double left = chart_.left + 4 + along * (inner_width - width - 8);
    return {left, middle - Height() / 2, left + width, middle + Height() / 2};
  }

  // What a box hides or touches; the farther from others' curves the better.
  [[nodiscard]] double Cost(const Box& box,
                            std::optional<std::size_t> own) const {
    double cost = Outside(box) + GuidesHit(box);
    for (const PlacedLabel& other : placed_) {
      if (Overlap(box, other.box)) cost += 1000;
    }
    for (const Spot& spot : bars_) {
      if (Inside(box, spot)) cost += 15;
    }
    double nearest = 60;
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      for (const Spot& spot : traces_[i]) {
        if (Inside(box, spot)) cost += 15;
        if (i != own) nearest = std::min(nearest, Distance(box, spot));
      }
    }
    return cost - nearest / 4;
  }

  [[nodiscard]] double Outside(const Box& box) const {
    const bool inside = box.left >= chart_.left + 2 &&
                        box.right <= chart_.width - 2 && box.top >= 0 &&
                        box.bottom <= chart_.height - chart_.bottom - 2;
    return inside ? 0 : 5000;
  }

  [[nodiscard]] double GuidesHit(const Box& box) const {
    double cost = 0;
    for (const Guide& guide : chart_.guides) {
      const double at =
          guide.vertical ? PixelX(chart_, guide.at) : PixelY(chart_, guide.at);
      const bool hit = guide.vertical ? at > box.left && at < box.right
                                      : at > box.top && at < box.bottom;
      if (hit) cost += 25;
    }
    return cost;
  }

  static void Offer(Best& best, const Box& box, double cost) {
    if (best.any && best.cost <= cost) return;
    best = {true, cost, box};
  }

  void Keep(const std::string& text, const Best& best,
            std::optional<std::size_t> curve) {
    PlacedLabel label;
    label.text = text;
    label.box = best.box;
    label.curve = curve;
    label.x = best.box.left + (curve.has_value() ? kMarkerWidth : 2);
    label.y = (best.box.top + best.box.bottom) / 2;
    placed_.push_back(std::move(label));
  }

  const Chart& chart_;
  std::vector<std::vector<Spot>> traces_;
  std::vector<Spot> bars_;  // Of intervals.
  std::vector<PlacedLabel> placed_;
};

std::string BinaryLabel(int exponent) {
  constexpr std::array<const char*, 4> kPrefixes{"", " Ki", " Mi", " Gi"};
  const auto prefix = static_cast<std::size_t>(exponent / 10);
  return fmt::format("{}{}", 1 << (exponent % 10),
                     kPrefixes[std::min(prefix, kPrefixes.size() - 1)]);
}

}  // namespace

double PixelX(const Chart& chart, double x) {
  const double inner = chart.width - chart.left - chart.right;
  return chart.left + Share(chart.x, x) * inner;
}

double PixelY(const Chart& chart, double y) {
  const double inner = chart.height - chart.top - chart.bottom;
  return chart.height - chart.bottom - Share(chart.y, y) * inner;
}

bool Overlap(const Box& a, const Box& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom &&
         b.top < a.bottom;
}

std::vector<PlacedLabel> PlaceLabels(const Chart& chart) {
  LabelPlacer placer(chart);
  for (const Guide& guide : chart.guides) placer.PlaceGuide(guide);
  if (chart.curve_labels) {
    for (std::size_t i = 0; i < chart.curves.size(); ++i) placer.PlaceCurve(i);
  }
  return placer.Take();
}

Axis BinaryAxis(std::string title, double low, double high) {
  Axis axis;
  axis.title = std::move(title);
  axis.log = true;
  const int first =
      std::clamp(static_cast<int>(std::floor(std::log2(low))), 0, 39);
  const int last =
      std::clamp(static_cast<int>(std::ceil(std::log2(high))), first + 1, 40);
  // A little air, so that the first marker does not sit on the axis.
  axis.low = std::exp2(first - 0.15);
  axis.high = std::exp2(last + 0.15);
  // Even steps of two suit most ranges; wide ones would crowd.
  const int step = last - first <= 3 ? 1 : last - first <= 18 ? 2 : 4;
  for (int k = first; k <= last; k += step) {
    axis.ticks.push_back({std::exp2(k), BinaryLabel(k)});
  }
  return axis;
}

Axis DecimalLogAxis(std::string title, double low, double high) {
  Axis axis;
  axis.title = std::move(title);
  axis.log = true;
  axis.low = low / 1.35;
  axis.high = high * 1.35;
  const int first = static_cast<int>(std::floor(std::log10(axis.low)));
  const int last = static_cast<int>(std::ceil(std::log10(axis.high)));
  const bool few = std::log10(axis.high / axis.low) < 2.8;
  const int step = std::max(1, (last - first) / 8);
  for (int decade = first; decade <= last; decade += step) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double at = digit * std::pow(10, decade);
      if ((digit > 1 && !few) || at < axis.low || at > axis.high) continue;
      axis.ticks.push_back({at, fmt::format("{:.6g}", at)});
    }
  }
  return axis;
}

Axis LinearAxis(std::string title, double high) {
  Axis axis;
  axis.title = std::move(title);
  const double magnitude = std::pow(10, std::floor(std::log10(high)));
  double step = magnitude;
  for (const double candidate : {0.2, 0.25, 0.5, 1.0, 2.0}) {
    step = candidate * magnitude;
    if (high / step <= 6) break;
  }
  const int steps = static_cast<int>(std::ceil(high / step - 1e-9));
  axis.high = step * steps * 1.04;  // Room above the highest marker.
  for (int k = 0; k <= steps; ++k) {
    axis.ticks.push_back({k * step, fmt::format("{:.6g}", k * step)});
  }
  return axis;
}

Axis SpanAxis(std::string title, double low, double high) {
  constexpr double kMostTicks = 8;
  Axis axis;
  axis.title = std::move(title);
  axis.low = low;
  axis.high = high;
  const double magnitude = std::pow(10, std::floor(std::log10(high - low)));
  double step = magnitude;
  for (const double candidate : {0.1, 0.2, 0.25, 0.5, 1.0, 2.0}) {
    step = candidate * magnitude;
    if ((high - low) / step <= kMostTicks) break;
  }
  const double first = std::ceil(low / step - 1e-9);
  for (int k = 0; k <= kMostTicks; ++k) {
    const double at = (first + k) * step;
    if (at > high + step * 1e-9) break;
    // -0 would be shown with its sign.
    axis.ticks.push_back({at, fmt::format("{:.8g}", at == 0 ? 0.0 : at)});
  }
  return axis;
}

double TextWidth(const Chart& chart, const std::string& text) {
  return 0.56 * chart.font * static_cast<double>(Length(text)) + 4;
}

}  // namespace wiretoll

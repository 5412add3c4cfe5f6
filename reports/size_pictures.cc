#include "reports/size_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "harness/theory/overhead.h"
#include "reports/bars.h"
#include "reports/captions.h"
#include "reports/panels.h"
#include "reports/size_words.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

constexpr double kMillisecond = 1e-6;  // Of nanoseconds.

Span SizesOf(const Facet& facet) {
  Span span;
  for (const Series& series : facet.series) {
    for (const auto& [size, group] : series.by_write) {
      span.Take(static_cast<double>(size));
    }
  }
  return span;
}

std::string SizeTitle(const StudyView& view) {
  if (view.size_factor == "block") {
    return "bytes in a block, handed over at once (log scale)";
  }
  return "bytes in a write, or in a datagram (log scale)";
}

Curve Limit(std::string label) {
  Curve curve;
  curve.label = std::move(label);
  curve.colour = colour::kTheory;
  curve.shape = Shape::kNone;
  curve.dashed = true;
  return curve;
}

// Sizes at which a curve of theory is worked out: evenly on a log axis, and on
// both sides of each size that takes one fragment more (RFC 791 3.2).
std::vector<std::int64_t> TheorySizes(const Span& span, std::int64_t whole) {
  constexpr int kEven = 160;
  constexpr int kMostSteps = 60;
  std::vector<std::int64_t> sizes;
  for (int i = 0; i <= kEven; ++i) {
    const double share = static_cast<double>(i) / kEven;
    sizes.push_back(
        std::llround(span.low * std::pow(span.high / span.low, share)));
  }
  // A datagram's own header stands in its first fragment.
  const std::int64_t fragment = (whole + kUdpHeader.count) / 8 * 8;
  for (int i = 1; i <= kMostSteps; ++i) {
    const std::int64_t last = fragment * i - kUdpHeader.count;
    sizes.push_back(last);
    sizes.push_back(last + 1);
  }
  const auto outside = [&span](std::int64_t size) {
    const auto value = static_cast<double>(size);
    return value < span.low || value > span.high;
  };
  std::erase_if(sizes, outside);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

Curve UdpLimitCurve(const StudyView& view, const Series& series,
                    const Span& span) {
  Curve curve = Limit("limit of the line, UDP");
  const auto whole = WholeDatagram(view, series);
  if (!whole) return curve;
  for (const std::int64_t size : TheorySizes(span, *whole)) {
    const auto limit = UdpLimit(view, series, size);
    if (!limit) continue;
    curve.points.push_back(
        {static_cast<double>(size), *limit * kMega, {}, false});
  }
  return curve;
}

void AddLimits(Chart& chart, const StudyView& view, const Facet& facet) {
  bool tcp = false, udp = false;
  for (const Series& series : facet.series) {
    bool& done = IsUdp(series) ? udp : tcp;
    if (done) continue;
    if (IsUdp(series)) {
      Curve curve = UdpLimitCurve(view, series, SizesOf(facet));
      done = !curve.points.empty();
      if (done) chart.curves.push_back(std::move(curve));
      continue;
    }
    const auto limit = TcpLimit(view, series);
    if (!limit) continue;
    done = true;
    chart.guides.push_back({false, *limit * kMega,
                            fmt::format("limit of the line, TCP: {} MB/s",
                                        FormatNumber(*limit * kMega))});
  }
}

// What a program gets that waits after each block, whatever the network does.
void AddPauseCurve(Chart& chart, const Facet& facet) {
  const std::optional<double> pause = PauseOf(facet);
  if (!pause) return;
  double highest = 0;
  for (const Curve& curve : chart.curves) {
    for (const ChartPoint& point : curve.points) {
      highest = std::max(highest, point.y);
    }
  }
  Curve curve = Limit("size / pause");
  const Span span = SizesOf(facet);
  constexpr int kSteps = 80;
  for (int i = 0; i <= kSteps; ++i) {
    const double share = static_cast<double>(i) / kSteps;
    const double size = span.low * std::pow(span.high / span.low, share);
    const double rate = size / *pause * kMega;
    if (rate > highest) break;
    curve.points.push_back({size, rate, {}, false});
  }
  chart.curves.push_back(std::move(curve));
}

// Knees of several curves at one size share a guide.
void AddKnees(Chart& chart, const StudyView& view, const Facet& facet) {
  std::map<double, std::string> at;
  for (const Series& series : facet.series) {
    const std::optional<Knee> knee = KneeOf(view, series);
    if (!knee || knee->kind != KneeKind::kFound) continue;
    std::string& names = at[knee->size];
    names += (names.empty() ? "" : ", ") + series.label;
  }
  for (const auto& [size, names] : at) {
    chart.guides.push_back(
        {true, size, fmt::format("knee {}, {}", PayloadText(size), names)});
  }
}

// A value at so many pixels above the bottom of the chart.
double Above(const Chart& chart, double pixels) {
  const double share = pixels / (chart.height - chart.top - chart.bottom);
  const Axis& y = chart.y;
  return y.log ? y.low * std::pow(y.high / y.low, share)
               : y.low + share * (y.high - y.low);
}

// Along the bottom, where the knees are to within their intervals.
void AddKneeIntervals(Chart& chart, const StudyView& view, const Facet& facet) {
  constexpr double kFirst = 6, kStep = 7, kWidth = 4;  // Pixels.
  double height = kFirst;
  for (const Series& series : facet.series) {
    const std::optional<Knee> knee = KneeOf(view, series);
    if (!knee || !knee->interval) continue;
    const double from = knee->more_than.value_or(knee->interval->low);
    if (!(from < knee->interval->high)) continue;
    const double y = Above(chart, height);
    chart.strokes.push_back(
        {series.colour, kWidth, {{from, y, knee->interval->high, y}}});
    height += kStep;
  }
}

void AddFrameGuide(Chart& chart, const StudyView& view, const Facet& facet) {
  const Span span = SizesOf(facet);
  for (const Series& series : facet.series) {
    if (!IsUdp(series)) continue;
    const auto whole = WholeDatagram(view, series);
    if (!whole) continue;
    const auto at = static_cast<double>(*whole);
    const bool taken = std::ranges::any_of(
        chart.guides,
        [at](const Guide& guide) { return guide.vertical && guide.at == at; });
    if (taken || at < span.low || at > span.high) return;
    chart.guides.push_back(
        {true, at, fmt::format("{} in one frame", PayloadText(at))});
    return;
  }
}

Chart ThroughputChart(const StudyView& view, const Facet& facet) {
  Chart chart;
  for (const Series& series : facet.series) {
    chart.curves.push_back(MeasuredCurve(series, Metric::kThroughput, kMega));
  }
  AddLimits(chart, view, facet);
  AddPauseCurve(chart, facet);
  AddKnees(chart, view, facet);
  // A block is many datagrams.
  if (view.size_factor == "write") AddFrameGuide(chart, view, facet);
  return chart;
}

bool HasMeasured(const Chart& chart) {
  return std::ranges::any_of(chart.curves, [](const Curve& curve) {
    return curve.shape != Shape::kNone && !curve.points.empty();
  });
}

using AxisMaker = std::function<Axis(const Span&)>;
// What goes in once the axes are known.
using Finisher = std::function<void(Chart&, const Facet&)>;

struct Extents {
  Span x, y;
};

// Of all facets, so that heights compare.
Extents ExtentsOf(const StudyView& view, const std::vector<Chart>& charts) {
  Extents all;
  all.y = SpanOf(charts, [](const ChartPoint& point) { return point.y; });
  for (const Facet& facet : view.facets) {
    all.x.Take(SizesOf(facet).low);
    all.x.Take(SizesOf(facet).high);
  }
  for (const Chart& chart : charts) {
    for (const Curve& curve : chart.curves) TakeIntervals(curve, all.y);
    for (const Guide& guide : chart.guides) {
      if (!guide.vertical) all.y.Take(guide.at);
    }
  }
  return all;
}

// One chart a facet on common axes; without any, `picture.missing` is told.
void FillPicture(Picture& picture, const StudyView& view,
                 const std::function<Chart(const Facet&)>& make,
                 const AxisMaker& make_y, const Finisher& finish = nullptr) {
  std::vector<Chart> charts;
  std::vector<std::string> labels;
  std::vector<const Facet*> drawn;
  for (const Facet& facet : view.facets) {
    Chart chart = make(facet);
    if (!HasMeasured(chart)) continue;
    charts.push_back(std::move(chart));
    labels.push_back(facet.label);
    drawn.push_back(&facet);
  }
  if (charts.empty()) {
    picture.missing = "Nothing to draw.";
    return;
  }
  const Extents all = ExtentsOf(view, charts);
  constexpr std::size_t kMostLabels = 7;
  for (std::size_t i = 0; i < charts.size(); ++i) {
    Chart& chart = charts[i];
    chart.x = BinaryAxis(SizeTitle(view), all.x.low, all.x.high);
    chart.y = make_y(all.y);
    chart.curve_labels = chart.curves.size() <= kMostLabels;
    if (finish) finish(chart, *drawn[i]);
  }
  AddPanels(picture, std::move(charts), labels);
}

// From where on a linear axis would hide the small ones.
constexpr double kNeedsLog = 20;

Axis RateAxis(const Span& span) {
  const std::string title = "received, MB/s";
  return span.high > kNeedsLog * span.low
             ? DecimalLogAxis(title + " (log scale)", span.low, span.high)
             : LinearAxis(title, span.high);
}

Axis TimeAxis(const Span& span) {
  return DecimalLogAxis("ms (log scale)", span.low, span.high);
}

Axis ShareAxis(const Span& /*span*/) {
  return LinearAxis("received, % of what was sent", kPercent);
}

Picture RatesPicture(const StudyView& view) {
  Picture picture;
  picture.kind = "throughput";
  picture.title = view.size_factor == "block"
                      ? "Throughput against the size of a block"
                      : "Throughput against the size of a write or datagram";
  picture.sentence = KneeSentence(view);
  picture.drawn = DrawnLine(
      view, Metric::kThroughput,
      "Dashed grey: what the line has room for, of TCP full segments, of UDP "
      "datagrams with the fragments that each takes; upright the knees, with "
      "their intervals along the bottom.");
  FillPicture(
      picture, view,
      [&view](const Facet& facet) { return ThroughputChart(view, facet); },
      RateAxis,
      [&view](Chart& chart, const Facet& facet) {
        AddKneeIntervals(chart, view, facet);
      });
  return picture;
}

// With its points at 0, which a log axis would not have.
Curve SharesCurve(const Series& series) {
  Curve curve;
  curve.label = series.label;
  curve.name = series.name;
  curve.colour = series.colour;
  curve.shape = series.shape;
  curve.dashed = series.dashed;
  for (const auto& [size, group] : series.by_write) {
    const auto& figure = group->figure(Metric::kReceivedShare);
    if (!figure) continue;
    ChartPoint point{static_cast<double>(size), figure->median * kPercent,
                     std::nullopt, false};
    if (figure->interval) {
      // With few blocks an interval can reach beyond what is possible.
      point.interval =
          Interval{std::max(figure->interval->low, 0.0) * kPercent,
                   std::min(figure->interval->high, 1.0) * kPercent};
    }
    curve.points.push_back(point);
  }
  return curve;
}

Picture ReceivedPicture(const StudyView& view) {
  Picture picture;
  picture.kind = "received";
  picture.title = "Share received against size";
  picture.sentence = ReceivedSentence(view);
  picture.drawn = DrawnLine(
      view, Metric::kReceivedShare,
      "TCP: bytes read of those written. UDP: datagrams that came, each "
      "counted once, of those that got to the network layer of the sending "
      "host.");
  FillPicture(
      picture, view,
      [](const Facet& facet) {
        Chart chart;
        // TCP's last, for it lies on the edge that UDP's curves come up to.
        for (const bool udp : {true, false}) {
          for (const Series& series : facet.series) {
            if (IsUdp(series) == udp) {
              chart.curves.push_back(SharesCurve(series));
            }
          }
        }
        return chart;
      },
      ShareAxis);
  return picture;
}

struct TimeKind {
  Metric metric;
  const char* label;
  const char* colour;
  Shape shape;
};
constexpr std::array<TimeKind, 3> kTimes{{
    {Metric::kDelayP50, "delay, median", colour::kGreen, Shape::kCircle},
    {Metric::kDelayP99, "delay, 99 % are faster", colour::kPink,
     Shape::kDiamond},
    {Metric::kJitter, "jitter, mean", colour::kOrange, Shape::kTriangle},
}};

Chart TimesChart(const StudyView& view, const Facet& facet) {
  Chart chart;
  std::size_t nth = 0;
  for (const Series& series : facet.series) {
    if (!IsUdp(series)) continue;
    for (const TimeKind& kind : kTimes) {
      Curve curve = MeasuredCurve(series, kind.metric, kMillisecond);
      curve.label = view.pools.size() < 2
                        ? kind.label
                        : fmt::format("{}: {}", series.label, kind.label);
      curve.name.clear();
      curve.colour = kind.colour;
      curve.shape = kind.shape;
      curve.dashed = nth > 0;
      if (!curve.points.empty()) chart.curves.push_back(std::move(curve));
    }
    ++nth;
  }
  return chart;
}

Picture TimesPicture(const StudyView& view) {
  Picture picture;
  picture.kind = "delay";
  picture.title = "Delay and jitter of datagrams against size";
  picture.sentence = DelaySentence(view);
  picture.drawn = DrawnLine(
      view, Metric::kJitter,
      "Delay: from the sender's call to the receiver's, its own waiting in "
      "buffers included. Jitter: how much one datagram's delay differs from "
      "the next one's.");
  FillPicture(
      picture, view,
      [&view](const Facet& facet) { return TimesChart(view, facet); },
      TimeAxis);
  return picture;
}

bool HasUdp(const StudyView& view) {
  return std::ranges::any_of(
      view.groups, [](const Group& group) { return IsUdp(*group.first); });
}

}  // namespace

std::vector<Picture> SizePictures(const StudyView& view) {
  std::vector<Picture> pictures{RatesPicture(view), ReceivedPicture(view)};
  if (!HasUdp(view)) return pictures;
  pictures.push_back(FatesPicture(view));
  pictures.push_back(TimesPicture(view));
  return pictures;
}

}  // namespace wiretoll

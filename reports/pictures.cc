#include "reports/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "harness/base/units.h"
#include "reports/bars.h"
#include "reports/captions.h"
#include "reports/flow_pictures.h"
#include "reports/panels.h"
#include "reports/sentences.h"
#include "reports/size_pictures.h"
#include "reports/text.h"
#include "reports/window_pictures.h"
#include "reports/window_view.h"

namespace wiretoll {
namespace {

// --- Curves against the size of a write -------------------------------------

// One kind of curve picture: which figure, in which unit, beside what theory.
struct CurveKind {
  Metric metric;
  double scale = 1;
  std::string axis;
  std::function<Axis(const std::string&, const Span&)> make_axis;
};

void Extend(Curve& curve, const std::string& what) {
  curve.label += what;
  if (!curve.name.empty()) curve.name += what;
}

using TheoryFigure =
    std::function<std::optional<double>(const CaseTheory&, std::int64_t write)>;

// Theory by write, of whichever series has it: headers are the same for all.
Curve TheoryCurve(const Facet& facet, const std::string& label,
                  const TheoryFigure& figure) {
  std::map<std::int64_t, double> by_write;
  for (const Series& series : facet.series) {
    for (const auto& [write, group] : series.by_write) {
      if (!group->first->theory.has_value()) continue;
      const auto value = figure(*group->first->theory, write);
      if (value.has_value() && *value > 0) by_write.try_emplace(write, *value);
    }
  }
  Curve curve;
  curve.label = label;
  curve.colour = colour::kTheory;
  curve.shape = Shape::kNone;
  curve.dashed = true;
  for (const auto& [write, value] : by_write) {
    curve.points.push_back({static_cast<double>(write), value, {}, false});
  }
  return curve;
}

std::optional<std::int64_t> MssOf(const Facet& facet) {
  for (const Series& series : facet.series) {
    for (const auto& [write, group] : series.by_write) {
      const auto& theory = group->first->theory;
      if (theory.has_value() && theory->mss > 0) return theory->mss;
    }
  }
  return std::nullopt;
}

bool SpansWrite(const Facet& facet, double write) {
  double low = 0, high = 0;
  for (const Series& series : facet.series) {
    for (const auto& [size, group] : series.by_write) {
      const auto value = static_cast<double>(size);
      low = low == 0 ? value : std::min(low, value);
      high = std::max(high, value);
    }
  }
  return write >= low && write <= high;
}

void AddMssGuide(Chart& chart, const Facet& facet) {
  const std::optional<std::int64_t> mss = MssOf(facet);
  if (!mss.has_value() || !SpansWrite(facet, static_cast<double>(*mss))) return;
  chart.guides.push_back(
      {true, static_cast<double>(*mss), fmt::format("MSS {}", *mss)});
}

// The axes are the same in all panels, so that heights compare.
void ShareAxes(std::vector<Chart>& charts, const CurveKind& kind) {
  const Span x = SpanOf(charts, [](const ChartPoint& p) { return p.x; });
  Span y = SpanOf(charts, [](const ChartPoint& p) { return p.y; });
  for (const Chart& chart : charts) {
    for (const Guide& guide : chart.guides) {
      if (!guide.vertical) y.Take(guide.at);
    }
    for (const Curve& curve : chart.curves) TakeIntervals(curve, y);
  }
  for (Chart& chart : charts) {
    chart.x =
        BinaryAxis("bytes handed to one write call (log scale)", x.low, x.high);
    chart.y = kind.make_axis(kind.axis, y);
  }
}

using PlotMaker = std::function<Chart(const Facet&)>;

// A curve picture over all facets of the view.
void FillCurves(Picture& picture, const StudyView& view, const CurveKind& kind,
                const PlotMaker& make) {
  std::vector<Chart> charts;
  std::vector<std::string> labels;
  for (const Facet& facet : view.facets) {
    Chart chart = make(facet);
    const bool measured = std::any_of(
        chart.curves.begin(), chart.curves.end(), [](const Curve& curve) {
          return curve.shape != Shape::kNone && !curve.points.empty();
        });
    if (!measured) continue;
    charts.push_back(std::move(chart));
    labels.push_back(facet.label);
  }
  if (charts.empty()) {
    picture.missing =
        fmt::format("Nothing to draw: {}.", WhyMissing(view, kind.metric));
    return;
  }
  ShareAxes(charts, kind);
  // More labels than this hide what they name; the keys remain.
  constexpr std::size_t kMostLabels = 6;
  for (Chart& chart : charts) {
    chart.curve_labels = chart.curves.size() <= kMostLabels;
  }
  AddPanels(picture, std::move(charts), labels);
}

Axis LogFigures(const std::string& title, const Span& span) {
  return DecimalLogAxis(title + " (log scale)", span.low, span.high);
}

void AddLineGuides(Chart& chart, const StudyView& view, const Facet& facet) {
  double best = 0;
  for (const Series& series : facet.series) {
    for (const auto& [write, group] : series.by_write) {
      const auto& theory = group->first->theory;
      if (!theory.has_value()) continue;
      best = std::max(best, theory->best_throughput.value_or(0));
    }
  }
  if (best > 0) {
    chart.guides.push_back(
        {false, best * kMega,
         fmt::format("full segments, {}", FormatNumber(best * kMega))});
  }
  const std::optional<double> rate = LineRate(view);
  if (!rate.has_value()) return;
  const double line = *rate / 8;
  chart.guides.push_back(
      {false, line * kMega,
       fmt::format("the line itself, {}", FormatNumber(line * kMega))});
}

Picture ThroughputPicture(const StudyView& view) {
  Picture picture;
  picture.kind = "throughput";
  picture.title = "Throughput against the size of a write";
  picture.sentence = ThroughputSentence(view);
  picture.drawn = DrawnLine(
      view, Metric::kThroughput,
      "Dashed grey: what headers allow (a segment a write; full segments) and "
      "the line's own rate. Rates in the sentence are medians.");
  const CurveKind kind{Metric::kThroughput, kMega, "received, MB/s",
                       LogFigures};
  FillCurves(picture, view, kind, [&](const Facet& facet) {
    Chart chart;
    for (const Series& series : facet.series) {
      chart.curves.push_back(MeasuredCurve(series, kind.metric, kind.scale));
    }
    chart.curves.push_back(TheoryCurve(
        facet, "a segment a write",
        [](const CaseTheory& theory, std::int64_t) -> std::optional<double> {
          if (!theory.worst_throughput.has_value()) return std::nullopt;
          return *theory.worst_throughput * kMega;
        }));
    AddLineGuides(chart, view, facet);
    AddMssGuide(chart, facet);
    return chart;
  });
  return picture;
}

Picture EfficiencyPicture(const StudyView& view) {
  Picture picture;
  picture.kind = "efficiency";
  picture.title = "Efficiency: payload among all bytes on the line";
  picture.sentence = EfficiencySentence(view);
  picture.drawn = DrawnLine(
      view, Metric::kEfficiency,
      "Efficiency is payload / bytes at layer 1 (preamble and gap counted), "
      "data direction. Dashed grey: a segment a write, and full segments.");
  const CurveKind kind{Metric::kEfficiency, kPercent, "payload, % of layer 1",
                       [](const std::string& title, const Span& span) {
                         return LinearAxis(title, std::max(span.high, 100.0));
                       }};
  FillCurves(picture, view, kind, [&](const Facet& facet) {
    Chart chart;
    for (const Series& series : facet.series) {
      chart.curves.push_back(MeasuredCurve(series, kind.metric, kind.scale));
    }
    chart.curves.push_back(TheoryCurve(
        facet, "a segment a write",
        [](const CaseTheory& theory, std::int64_t) -> std::optional<double> {
          return theory.worst_efficiency * kPercent;
        }));
    chart.curves.push_back(TheoryCurve(
        facet, "full segments",
        [](const CaseTheory& theory, std::int64_t) -> std::optional<double> {
          return theory.best_efficiency * kPercent;
        }));
    AddMssGuide(chart, facet);
    return chart;
  });
  return picture;
}

Picture SegmentsPicture(const StudyView& view) {
  Picture picture;
  picture.kind = "segments";
  picture.title = "From writes to segments to reads";
  picture.sentence = SegmentsSentence(view);
  picture.drawn = DrawnLine(
      view, Metric::kBytesPerSegment,
      "Solid: bytes a segment; dashed with hollow markers: bytes a read. "
      "Dashed grey: a segment a write.");
  const CurveKind segments{Metric::kBytesPerSegment, 1,
                           "bytes a segment, bytes a read (log scale)",
                           [](const std::string& title, const Span& span) {
                             return BinaryAxis(title, span.low, span.high);
                           }};
  CurveKind reads = segments;
  reads.metric = Metric::kBytesPerRead;
  FillCurves(picture, view, segments, [&](const Facet& facet) {
    Chart chart;
    for (const Series& series : facet.series) {
      chart.curves.push_back(MeasuredCurve(series, segments.metric));
      Extend(chart.curves.back(), ": a segment");
    }
    // After all solid ones, so that a ring shows where curves coincide.
    for (const Series& series : facet.series) {
      chart.curves.push_back(MeasuredCurve(series, reads.metric));
      Extend(chart.curves.back(), ": a read");
      chart.curves.back().dashed = true;
      chart.curves.back().shape = Shape::kDiamond;
    }
    chart.curves.push_back(
        TheoryCurve(facet, "a segment a write",
                    [](const CaseTheory& theory,
                       std::int64_t write) -> std::optional<double> {
                      return static_cast<double>(std::min(write, theory.mss));
                    }));
    AddMssGuide(chart, facet);
    return chart;
  });
  return picture;
}

// --- Effects ----------------------------------------------------------------

Curve EffectCurve(const EffectSeries& series, std::size_t place) {
  constexpr std::array kShapes{Shape::kCircle, Shape::kSquare, Shape::kTriangle,
                               Shape::kDiamond};
  constexpr std::array kColours{colour::kGreen,     colour::kOrange,
                                colour::kPink,      colour::kSky,
                                colour::kVermilion, colour::kBlue};
  Curve curve;
  curve.label = series.label;
  curve.name = series.name;
  curve.colour = series.factor == "nagle" && place == 0
                     ? colour::kBlue  // As in every picture.
                     : kColours[place % kColours.size()];
  curve.shape = kShapes[place % kShapes.size()];
  curve.error_bars = true;
  for (const EffectPoint& point : series.points) {
    if (point.ratio.median <= 0) continue;
    ChartPoint drawn{static_cast<double>(point.write), point.ratio.median,
                     point.ratio.interval,
                     point.ratio.verdict == Verdict::kNotDistinguishable};
    if (drawn.interval.has_value() && drawn.interval->low <= 0) {
      drawn.interval.reset();
    }
    curve.points.push_back(drawn);
  }
  return curve;
}

struct EffectKind {
  std::string factor;
  std::string noun;
  std::string base;  // What the ratio is to.
};

Picture EffectPicture(const StudyView& view, const EffectKind& kind) {
  const auto& [factor, noun, base] = kind;
  const std::vector<EffectSeries> effects = EffectsOf(view, factor);
  Picture picture;
  picture.kind = "effects";
  picture.title = fmt::format("Effect of {}", noun);
  if (effects.empty()) {
    picture.sentence = fmt::format(
        "No two cases that differ in {} alone were measured in the same "
        "blocks, so its effect is not known.",
        noun);
    picture.missing = "Nothing to draw.";
    return picture;
  }
  picture.sentence = EffectSentence(effects, noun);
  picture.drawn = fmt::format(
      "Ratio of throughputs block by block, median and 95 % interval (log "
      "scale); at 1 there is no difference, hollow: the interval covers 1 or "
      "is not known. Base: {}.{}{}",
      base, PooledLine(view), LinkLine(view));
  std::vector<Chart> charts;
  std::vector<std::string> labels;
  for (const EffectSeries& series : effects) {
    if (labels.empty() || labels.back() != series.facet) {
      labels.push_back(series.facet);
      charts.emplace_back();
      charts.back().guides.push_back({false, 1, "no difference"});
    }
    Chart& chart = charts.back();
    chart.curves.push_back(EffectCurve(series, chart.curves.size()));
  }
  ShareAxes(charts, {Metric::kThroughput, 1, "throughput, ratio", LogFigures});
  AddPanels(picture, std::move(charts), labels);
  return picture;
}

void LeadWith(const Study& study, std::vector<Picture>& pictures) {
  const auto place = [&study](const Picture& picture) {
    return std::find_if(study.plots.begin(), study.plots.end(),
                        [&](const auto& p) { return p.kind == picture.kind; });
  };
  for (Picture& picture : pictures) {
    const auto wanted = place(picture);
    if (wanted == study.plots.end() || wanted->title.empty()) continue;
    // Two pictures of effects keep telling which is which.
    picture.title =
        picture.kind == "effects"
            ? fmt::format("{}: {}", Printable(wanted->title), picture.title)
            : Printable(wanted->title);
  }
  std::stable_sort(
      pictures.begin(), pictures.end(),
      [&](const Picture& a, const Picture& b) { return place(a) < place(b); });
}

// Of the pair that all others are held against.
std::size_t FirstPool(const StudyView& view) {
  return view.groups.front().pool;
}

bool HasContrast(const StudyView& view) {
  const auto& all = view.analysis->contrasts;
  return std::any_of(all.begin(), all.end(), [&](const Contrast& contrast) {
    return contrast.study == view.study;
  });
}

void Append(std::vector<Picture> more, std::vector<Picture>& pictures) {
  for (Picture& picture : more) pictures.push_back(std::move(picture));
}

bool Varies(const StudyView& view, const std::string& factor) {
  return std::find(view.varying.begin(), view.varying.end(), factor) !=
         view.varying.end();
}

// Of a study of writes: how fast, at what cost, and what made a difference.
std::vector<Picture> WritePictures(const StudyView& view) {
  std::vector<Picture> pictures{ThroughputPicture(view),
                                EfficiencyPicture(view), SegmentsPicture(view)};
  // Two systems have a section of their own.
  if (view.pools.size() > 1 && !HasContrast(view)) {
    pictures.push_back(EffectPicture(
        view, {"pair", "the pair of systems", view.pools[FirstPool(view)]}));
  }
  if (Varies(view, "nagle")) {
    pictures.push_back(EffectPicture(view, {"nagle", "Nagle", "Nagle off"}));
  }
  if (Varies(view, "rcvbuf")) {
    pictures.push_back(EffectPicture(
        view, {"rcvbuf", "the receive buffer", "the buffer unset"}));
  }
  Append(CoursePictures(view), pictures);
  pictures.push_back(CapacityPicture(view));
  return pictures;
}

}  // namespace

std::vector<Picture> StudyPictures(const StudyView& view) {
  std::vector<Picture> pictures;
  if (IsWindowStudy(view)) {
    pictures = WindowPictures(view);
    Append(CoursePictures(view), pictures);
    pictures.push_back(CapacityPicture(view));
  } else if (IsFlowStudy(view)) {
    pictures = FlowPictures(view);
    Append(CoursePictures(view), pictures);
  } else if (IsControlStudy(view)) {
    pictures = ControlPictures(view);
    pictures.push_back(CapacityPicture(view));
  } else if (view.sizes && !view.facets.empty()) {
    pictures = SizePictures(view);
    if (view.size_factor == "write") {
      pictures.push_back(EfficiencyPicture(view));
      pictures.push_back(CapacityPicture(view));
    }
  } else if (!view.facets.empty()) {
    pictures = WritePictures(view);
  }
  if (!view.latency.empty()) pictures.push_back(LatencyPicture(view));
  if (view.study < view.analysis->studies.size()) {
    LeadWith(view.analysis->studies[view.study], pictures);
  }
  return pictures;
}

}  // namespace wiretoll

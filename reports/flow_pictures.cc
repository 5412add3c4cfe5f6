#include "reports/flow_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "harness/analysis/statistics.h"
#include "reports/captions.h"
#include "reports/panels.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

struct FlowLook {
  const char* colour;
  Shape shape;
};
constexpr std::array<FlowLook, 6> kFlowLooks{
    {{colour::kBlue, Shape::kCircle},
     {colour::kVermilion, Shape::kSquare},
     {colour::kGreen, Shape::kTriangle},
     {colour::kOrange, Shape::kDiamond},
     {colour::kPink, Shape::kCircle},
     {colour::kSky, Shape::kSquare}}};

// Values of all blocks, of all sets that are alike but for who sends.
struct Together {
  std::vector<double> totals, fairness;
};
using ByFlows = std::map<int, Together>;

// One topology: curves in the study's order.
struct FlowPanel {
  std::string topology;
  std::vector<std::pair<std::string, ByFlows>> curves;

  ByFlows& CurveOf(const std::string& label) {
    const auto found = std::ranges::find(
        curves, label, &std::pair<std::string, ByFlows>::first);
    if (found != curves.end()) return found->second;
    return curves.emplace_back(label, ByFlows()).second;
  }
};

std::string TopologyOf(const Factors& factors) {
  const FactorValue* topology = FindFactor(factors, "topology");
  return topology == nullptr ? std::string(kTopologyNames[0])
                             : SpellFactor(*topology);
}

// What tells curves apart: "congestion cubic"; empty where nothing does.
std::string CurveLabel(const StudyView& view, const Factors& factors) {
  std::string label;
  for (const std::string& name : view.varying) {
    if (name == "streams" || name == "topology") continue;
    const FactorValue* value = FindFactor(factors, name);
    if (value == nullptr) continue;
    label += (label.empty() ? "" : ", ") + FactorText(name, *value);
  }
  return label;
}

FlowPanel& PanelOf(std::vector<FlowPanel>& panels, const std::string& name) {
  const auto found = std::ranges::find(panels, name, &FlowPanel::topology);
  if (found != panels.end()) return *found;
  FlowPanel panel;
  panel.topology = name;
  return panels.emplace_back(std::move(panel));
}

void TakeValues(const BlockValues& by_block, std::vector<double>& values) {
  for (const auto& [block, value] : by_block) values.push_back(value);
}

// A flow of its own is a set of one, which the analysis has as a cell.
void AddLoneFlow(const StudyView& view, const Group& group, FlowPanel& panel) {
  Together& one = panel.CurveOf(CurveLabel(view, group.first->factors))[1];
  TakeValues(PooledBlocks(*view.analysis, group, Metric::kThroughput),
             one.totals);
}

std::vector<FlowPanel> FlowPanelsOf(const StudyView& view) {
  std::map<std::string, std::vector<const FlowSet*>> sets;
  for (const FlowSet& set : view.analysis->flow_sets) {
    if (set.study == view.study) sets[set.case_id].push_back(&set);
  }
  // Groups stand in the study's order.
  std::vector<FlowPanel> panels;
  std::set<std::string> done;
  for (const Group& group : view.groups) {
    const Cell& cell = *group.first;
    FlowPanel& panel = PanelOf(panels, TopologyOf(cell.factors));
    const auto found = sets.find(cell.case_id);
    if (found == sets.end()) {
      AddLoneFlow(view, group, panel);
      continue;
    }
    if (!done.insert(cell.case_id).second) continue;
    for (const FlowSet* set : found->second) {
      Together& here =
          panel.CurveOf(CurveLabel(view, set->factors))[set->flows];
      TakeValues(set->total_by_block, here.totals);
      TakeValues(set->fairness_by_block, here.fairness);
    }
  }
  return panels;
}

using ValuesOf = std::function<const std::vector<double>&(const Together&)>;

const std::vector<double>& FlowTotals(const Together& at) { return at.totals; }
const std::vector<double>& FlowFairness(const Together& at) {
  return at.fairness;
}

// Called with each set's panel, curve, number of flows and figure.
using FigureVisitor = std::function<void(const FlowPanel&, const std::string&,
                                         int, const Estimate&)>;

void ForEachFigure(const std::vector<FlowPanel>& panels, const ValuesOf& values,
                   const FigureVisitor& visit) {
  MedianIntervals intervals(1);
  for (const FlowPanel& panel : panels) {
    for (const auto& [label, by_flows] : panel.curves) {
      for (const auto& [flows, at] : by_flows) {
        if (values(at).empty()) continue;
        Estimate figure = intervals.Of(values(at));
        // With few blocks an interval can reach beyond what is possible.
        if (&values(at) == &at.fairness && figure.interval) {
          figure.interval->high = std::min(figure.interval->high, 1.0);
        }
        visit(panel, label, flows, figure);
      }
    }
  }
}

std::vector<Chart> ChartsOf(const std::vector<FlowPanel>& panels,
                            const ValuesOf& values, double scale) {
  std::vector<Chart> charts(panels.size());
  for (std::size_t i = 0; i < panels.size(); ++i) {
    std::size_t nth = 0;
    for (const auto& [label, by_flows] : panels[i].curves) {
      const FlowLook& look = kFlowLooks[nth++ % kFlowLooks.size()];
      Curve curve;
      curve.label = label.empty() ? "all together" : label;
      curve.colour = look.colour;
      curve.shape = look.shape;
      ForEachFigure(
          {FlowPanel{panels[i].topology, {{label, by_flows}}}}, values,
          [&](const FlowPanel& /*panel*/, const std::string& /*label*/,
              int flows, const Estimate& figure) {
            ChartPoint point{static_cast<double>(flows), figure.median * scale,
                             std::nullopt, false};
            if (figure.interval) {
              point.interval = {figure.interval->low * scale,
                                figure.interval->high * scale};
            }
            curve.points.push_back(point);
          });
      if (!curve.points.empty()) charts[i].curves.push_back(std::move(curve));
    }
  }
  return charts;
}

int MostFlows(const std::vector<FlowPanel>& panels) {
  int most = 1;
  for (const FlowPanel& panel : panels) {
    for (const auto& [label, by_flows] : panel.curves) {
      if (!by_flows.empty()) most = std::max(most, by_flows.rbegin()->first);
    }
  }
  return most;
}

void FillFlowPanels(Picture& picture, const std::vector<FlowPanel>& panels,
                    std::vector<Chart> charts,
                    const std::function<Axis(const Span&)>& make_y) {
  const Span span =
      SpanOf(charts, [](const ChartPoint& point) { return point.y; });
  std::vector<Chart> drawn;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < charts.size(); ++i) {
    if (charts[i].curves.empty()) continue;
    charts[i].x = BinaryAxis("flows at once (log scale)", 1,
                             std::max(2, MostFlows(panels)));
    charts[i].y = make_y(span);
    labels.push_back(panels.size() > 1 ? panels[i].topology : "");
    drawn.push_back(std::move(charts[i]));
  }
  if (drawn.empty()) {
    picture.missing = "Nothing to draw: no group of flows ran whole.";
    return;
  }
  AddPanels(picture, std::move(drawn), labels);
}

// A set and its figure.
struct Extreme {
  Estimate figure;
  std::string text;  // "8 flows of all-to-all, congestion bbr"
};

// The one that comes first by `before`; empty without any.
template <class Before>
std::optional<Extreme> ExtremeOf(const std::vector<FlowPanel>& panels,
                                 const ValuesOf& values, Before before) {
  std::optional<Extreme> found;
  ForEachFigure(panels, values,
                [&](const FlowPanel& panel, const std::string& label, int flows,
                    const Estimate& figure) {
                  if (found && !before(figure.median, found->figure.median)) {
                    return;
                  }
                  std::string text = Count(flows, "flow");
                  if (panels.size() > 1) text += " of " + panel.topology;
                  if (!label.empty()) text += ", " + label;
                  found = Extreme{figure, std::move(text)};
                });
  return found;
}

std::string FigureText(const Estimate& figure) {
  std::string text = FormatNumber(figure.median);
  if (figure.interval) {
    text += fmt::format(" ({})", IntervalText(*figure.interval));
  }
  return text;
}

std::string FairnessWords(const std::vector<FlowPanel>& panels) {
  const auto least = ExtremeOf(panels, FlowFairness, std::less<>());
  const auto most = ExtremeOf(panels, FlowFairness, std::greater<>());
  if (!least) return "No group of flows ran without a failure.";
  return fmt::format(
      "Least even share {}: Jain's index {}; most even {}: {}. 1 is equal "
      "shares.",
      least->text, FigureText(least->figure), most->text,
      FigureText(most->figure));
}

std::string TotalWords(const std::vector<FlowPanel>& panels) {
  const auto least = ExtremeOf(panels, FlowTotals, std::less<>());
  const auto most = ExtremeOf(panels, FlowTotals, std::greater<>());
  if (!least) return "No group of flows ran without a failure.";
  return fmt::format("Most is carried by {}, {}; least by {}, {}.", most->text,
                     RateText(most->figure), least->text,
                     RateText(least->figure));
}

// One flow has all, the others nothing.
Curve WorstShares(int most) {
  Curve curve;
  curve.label = "one flow has all";
  curve.colour = colour::kTheory;
  curve.shape = Shape::kNone;
  curve.dashed = true;
  constexpr int kSteps = 60;
  for (int i = 0; i <= kSteps; ++i) {
    const double flows = std::pow(most, static_cast<double>(i) / kSteps);
    curve.points.push_back({flows, 1 / flows, std::nullopt, false});
  }
  return curve;
}

Picture FairnessPicture(const StudyView& view,
                        const std::vector<FlowPanel>& panels) {
  Picture picture;
  picture.kind = "fairness";
  picture.title = "How evenly flows share";
  picture.sentence = FairnessWords(panels);
  picture.drawn = DrawnLine(
      view, Metric::kFairness,
      "Jain's index of what each flow got. Dashed grey: one flow has all.");
  std::vector<Chart> charts = ChartsOf(panels, FlowFairness, 1);
  for (Chart& chart : charts) {
    if (!chart.curves.empty()) {
      chart.curves.push_back(WorstShares(std::max(2, MostFlows(panels))));
    }
  }
  FillFlowPanels(picture, panels, std::move(charts), [](const Span& /*all*/) {
    return LinearAxis("Jain's index of fairness", 1);
  });
  return picture;
}

Picture TotalPicture(const StudyView& view,
                     const std::vector<FlowPanel>& panels) {
  Picture picture;
  picture.kind = "throughput";
  picture.title = "What flows get together";
  picture.sentence = TotalWords(panels);
  picture.drawn = DrawnLine(
      view, Metric::kTotalThroughput,
      "The sum of what each flow received in its own time. Dashed grey: the "
      "line's rate, one way.");
  std::vector<Chart> charts = ChartsOf(panels, FlowTotals, kMega);
  const auto rate = LineRate(view);
  constexpr double kBitsInByte = 8;
  double highest = 0;
  for (Chart& chart : charts) {
    if (!rate) break;
    const double line = *rate / kBitsInByte * kMega;
    highest = line;
    chart.guides.push_back(
        {false, line,
         fmt::format("the line, one way: {} MB/s", FormatNumber(line))});
  }
  FillFlowPanels(picture, panels, std::move(charts), [&](const Span& all) {
    return LinearAxis("received by all together, MB/s",
                      std::max(all.high, highest));
  });
  return picture;
}

}  // namespace

bool IsFlowStudy(const StudyView& view) {
  const auto varies = [&](const char* factor) {
    return std::ranges::find(view.varying, factor) != view.varying.end();
  };
  if (!varies("streams") && !varies("topology")) return false;
  if (varies("write") || varies("block")) return false;
  return std::ranges::any_of(view.analysis->flow_sets, [&](const FlowSet& set) {
    return set.study == view.study;
  });
}

std::vector<Picture> FlowPictures(const StudyView& view) {
  const std::vector<FlowPanel> panels = FlowPanelsOf(view);
  return {FairnessPicture(view, panels), TotalPicture(view, panels)};
}

void AddFlowCards(const StudyView& view, std::vector<Card>& cards) {
  const std::vector<FlowPanel> panels = FlowPanelsOf(view);
  if (const auto least = ExtremeOf(panels, FlowFairness, std::less<>())) {
    cards.push_back(
        {FormatNumber(least->figure.median),
         "is Jain's index of the least even share: " + least->text});
  }
  if (const auto most = ExtremeOf(panels, FlowTotals, std::greater<>())) {
    cards.push_back({FormatByteRate(most->figure.median),
                     "is the largest total: " + most->text});
  }
}

}  // namespace wiretoll

// Panels of a picture: the first is large, the others are small multiples.
#ifndef WIRETOLL_REPORTS_PANELS_H_
#define WIRETOLL_REPORTS_PANELS_H_

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "reports/chart.h"
#include "reports/document.h"
#include "reports/selection.h"

namespace wiretoll {

// Of what has a place on a log axis.
struct Span {
  double low = 0, high = 0;
  [[nodiscard]] bool any() const { return high > 0; }
  void Take(double value) {
    if (!(value > 0)) return;  // A log axis has no place for 0.
    low = any() ? std::min(low, value) : value;
    high = std::max(high, value);
  }
};

Span SpanOf(const std::vector<Chart>& charts,
            const std::function<double(const ChartPoint&)>& value);
void TakeIntervals(const Curve& curve, Span& span);

// The figure's medians above 0 by size, with their intervals, times `scale`.
Curve MeasuredCurve(const Series& series, Metric metric, double scale = 1);

// What the chart's curves mean.
std::vector<Key> KeysOf(const Chart& chart);

// A panel for each chart, with its label; at least one. The keys where labels
// at the curves are not enough. More than kMostPanels small ones are left out,
// and the picture says so.
void AddPanels(Picture& picture, std::vector<Chart> charts,
               const std::vector<std::string>& labels);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_PANELS_H_

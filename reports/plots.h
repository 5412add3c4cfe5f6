// Plots to SVG, through gnuplot.
#ifndef WIRETOLL_REPORTS_PLOTS_H_
#define WIRETOLL_REPORTS_PLOTS_H_

#include <chrono>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "reports/chart.h"

namespace wiretoll {

struct PlotRequest {
  Chart chart;
  std::string title;  // For screen readers, as is the description.
  std::string description;
};

// One SVG a request, in order, ready to stand in one HTML page. All are drawn
// by one gnuplot (to start one costs more than to draw ten); `limit` bounds
// it. The failure says why there are none, and the remedy.
Outcome<std::vector<std::string>> DrawPlots(
    const std::vector<PlotRequest>& requests, std::chrono::milliseconds limit);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_PLOTS_H_

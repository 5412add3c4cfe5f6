#include "reports/captions.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/text.h"

namespace wiretoll {
namespace {

// "Median of 5 blocks, band: 95 % interval."
std::string MedianLine(const StudyView& view, Metric metric) {
  int fewest = 0, most = 0;
  bool intervals = false;
  for (const Group& group : view.groups) {
    const auto& figure = group.figure(metric);
    if (!figure.has_value()) continue;
    fewest = fewest == 0 ? figure->blocks : std::min(fewest, figure->blocks);
    most = std::max(most, figure->blocks);
    intervals = intervals || figure->interval.has_value();
  }
  const std::string blocks = fewest == most
                                 ? Count(most, "block")
                                 : fmt::format("{} to {} blocks", fewest, most);
  return fmt::format(
      "Median of {}{}.", blocks,
      intervals ? ", band: 95 % interval" : "; too few for an interval");
}

}  // namespace

std::string PooledLine(const StudyView& view) {
  const bool pooled =
      std::any_of(view.groups.begin(), view.groups.end(),
                  [](const Group& group) { return group.cells.size() > 1; });
  return pooled ? " Pairs of equal systems are pooled." : "";
}

std::string LinkLine(const StudyView& view) {
  std::string link;
  for (const Group& group : view.groups) {
    if (link.empty()) link = group.first->link;
    if (link != group.first->link) return " Links differ between runs.";
  }
  return link.empty() ? "" : fmt::format(" Link: {}.", Printable(link));
}

std::string DrawnLine(const StudyView& view, Metric metric,
                      const std::string& theory) {
  return fmt::format("{} {}{}{}", MedianLine(view, metric), theory,
                     PooledLine(view), LinkLine(view));
}

}  // namespace wiretoll

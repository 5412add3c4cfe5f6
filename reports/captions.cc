#include "reports/captions.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/text.h"

namespace wiretoll {
namespace {

bool IsPooled(const StudyView& view) {
  return std::any_of(view.groups.begin(), view.groups.end(),
                     [](const Group& group) { return group.cells.size() > 1; });
}

// "Median of 5 blocks, band: 95 % interval." Pooled pairs give more than one
// trial to a block.
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
  const std::string unit = IsPooled(view) ? "trial" : "block";
  const std::string blocks =
      fewest == most ? Count(most, unit)
                     : fmt::format("{} to {} {}s", fewest, most, unit);
  return fmt::format(
      "Median of {}{}.", blocks,
      intervals ? ", band: 95 % interval" : "; too few for an interval");
}

}  // namespace

std::string PooledLine(const StudyView& view) {
  return IsPooled(view) ? " Pairs of equal systems are pooled." : "";
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

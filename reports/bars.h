// The pictures that have a row a case instead of a curve.
#ifndef WIRETOLL_REPORTS_BARS_H_
#define WIRETOLL_REPORTS_BARS_H_

#include <cstddef>

#include "reports/document.h"
#include "reports/selection.h"

namespace wiretoll {

// Besides the large one; beyond that a page is no longer looked at.
inline constexpr std::size_t kMostPanels = 18;

// Where the line's capacity went: stacked bars, a panel a facet.
Picture CapacityPicture(const StudyView& view);

// What became of datagrams: stacked bars by size, a panel a facet. UDP.
Picture FatesPicture(const StudyView& view);

// Median and 99 % quantile of round trips. Requires view.latency not empty.
Picture LatencyPicture(const StudyView& view);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_BARS_H_

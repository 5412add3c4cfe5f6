// Texts above a chart, each with a line down to the time it speaks of, moved
// apart where they would collide.
#ifndef WIRETOLL_REPORTS_FLAGS_H_
#define WIRETOLL_REPORTS_FLAGS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "reports/chart.h"

namespace wiretoll {

// More than these hide each other.
inline constexpr std::size_t kMostFlags = 6;

struct FlagWish {
  double x = 0;  // Axis units.
  std::string text;
};

// Which wishes have a place, by index, rightmost first; those that stand first
// in `wishes` are preferred. Adds their flags to `chart` and makes room above
// it: `chart.top` and `chart.height` grow by the rows they take. Neither text
// nor line of one touches text or line of another.
std::vector<std::size_t> PlaceFlags(const std::vector<FlagWish>& wishes,
                                    Chart& chart);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_FLAGS_H_

// The small lines under pictures: what is drawn, from how much, over what.
#ifndef WIRETOLL_REPORTS_CAPTIONS_H_
#define WIRETOLL_REPORTS_CAPTIONS_H_

#include <string>

#include "reports/selection.h"

namespace wiretoll {

// "Median of 5 blocks, band: 95 % interval." then `theory`, and the two below.
std::string DrawnLine(const StudyView& view, Metric metric,
                      const std::string& theory);

// Each starts with a space, or is empty where there is nothing to say.
std::string PooledLine(const StudyView& view);
// Names the link: emulated ones are named wherever their figures stand.
std::string LinkLine(const StudyView& view);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_CAPTIONS_H_

// Two systems side by side: the part of a report that leads where there are
// two.
#ifndef WIRETOLL_REPORTS_CONTRAST_H_
#define WIRETOLL_REPORTS_CONTRAST_H_

#include <vector>

#include "reports/document.h"
#include "reports/selection.h"

namespace wiretoll {

// One for each two systems of the view; none where there is one system.
std::vector<Section> ContrastSections(const StudyView& view);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_CONTRAST_H_

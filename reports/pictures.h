// The pictures of a study, each with its sentence.
#ifndef WIRETOLL_REPORTS_PICTURES_H_
#define WIRETOLL_REPORTS_PICTURES_H_

#include <vector>

#include "reports/document.h"
#include "reports/selection.h"

namespace wiretoll {

// In the order in which the report shows them; those that the study's [[plot]]
// entries name come first.
std::vector<Picture> StudyPictures(const StudyView& view);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_PICTURES_H_

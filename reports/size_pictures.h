// The pictures of a study of sizes.
#ifndef WIRETOLL_REPORTS_SIZE_PICTURES_H_
#define WIRETOLL_REPORTS_SIZE_PICTURES_H_

#include <vector>

#include "reports/document.h"
#include "reports/selection.h"

namespace wiretoll {

// Throughput and the share received against size, TCP and UDP together, then
// of UDP what became of the datagrams, and their delay. Requires view.facets
// not empty.
std::vector<Picture> SizePictures(const StudyView& view);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_SIZE_PICTURES_H_

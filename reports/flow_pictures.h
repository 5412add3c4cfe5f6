// What flows that run at once get together, and how evenly, against how many
// they are.
#ifndef WIRETOLL_REPORTS_FLOW_PICTURES_H_
#define WIRETOLL_REPORTS_FLOW_PICTURES_H_

#include <vector>

#include "reports/document.h"
#include "reports/selection.h"

namespace wiretoll {

// A study whose question is flows: their number or who sends to whom varies,
// and what is handed over at once does not.
bool IsFlowStudy(const StudyView& view);

// Of such a study: Jain's index and the total, each against the number of
// flows; a panel a topology, a curve for each value of what else varies.
std::vector<Picture> FlowPictures(const StudyView& view);

// Of such a study: the least even set of flows and the largest total.
void AddFlowCards(const StudyView& view, std::vector<Card>& cards);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_FLOW_PICTURES_H_

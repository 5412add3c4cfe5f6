// Flows that ran at once, as a report tells of them.
#ifndef WIRETOLL_REPORTS_FLOW_SETS_H_
#define WIRETOLL_REPORTS_FLOW_SETS_H_

#include "reports/document.h"
#include "reports/json_parts.h"
#include "reports/selection.h"

namespace wiretoll {

// Of the view's study: a row a case and set of flows, totals beside the parts.
// Without rows where no flows ran at once.
Table FlowsTable(const StudyView& view);

// An entry of "flow_sets" in report.json.
Json FlowSetJson(const FlowSet& set);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_FLOW_SETS_H_

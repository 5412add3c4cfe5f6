// The tables of a report.
#ifndef WIRETOLL_REPORTS_TABLES_H_
#define WIRETOLL_REPORTS_TABLES_H_

#include "reports/document.h"
#include "reports/selection.h"

namespace wiretoll {

// Of one study. Long ones are cut, with a note where the rest is.
Table CasesTable(const StudyView& view);        // A row a case and pair.
Table LatencyTable(const StudyView& view);      // Request-response.
Table PredictionsTable(const StudyView& view);  // Against measurements.
Table RulesTable(const StudyView& view);
Table PairsTable(const StudyView& view);  // Pairs of hosts compared.

// Of the whole report.
Table BuffersTable(const Analysis& analysis);
Table AgreementTable(const Analysis& analysis);
Table SendingRulesTable(const Analysis& analysis);
Table HostsTable(const Analysis& analysis);  // Side by side.
Table LinksTable(const Analysis& analysis);
Table ProblemsTable(const Analysis& analysis);
Table ClaimsTable(const Analysis& analysis);
Table CsvColumnsTable();

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_TABLES_H_

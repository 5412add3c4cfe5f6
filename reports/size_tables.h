// Tables and files of a study of sizes: its datagrams and its knees.
#ifndef WIRETOLL_REPORTS_SIZE_TABLES_H_
#define WIRETOLL_REPORTS_SIZE_TABLES_H_

#include <iosfwd>
#include <vector>

#include "harness/analysis/analysis.h"
#include "reports/document.h"
#include "reports/json_parts.h"
#include "reports/selection.h"

namespace wiretoll {

// A row a case and pair over UDP; without any, no rows.
Table DatagramsTable(const StudyView& view);
// A row a curve; without any, and for studies of no sizes, no rows.
Table KneesTable(const StudyView& view);

// Of a cell over UDP; names say the unit, nulls have a reason beside them.
Json DatagramsJson(const DatagramTotals& totals);
Json KneeJson(const KneeRow& row);

// The knees of studies of sizes, one a curve of a pair of hosts.
std::vector<const KneeRow*> KneesToTell(const Analysis& analysis);

// knees.csv: header, and a row a knee. Columns are stable, new ones are added
// at the end only. An empty field: no interval, or the range ends there.
void WriteKneesCsv(const Analysis& analysis, std::ostream& out);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_SIZE_TABLES_H_

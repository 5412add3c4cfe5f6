// directions.csv: two systems side by side, one row a case and direction.
#ifndef WIRETOLL_REPORTS_DIRECTIONS_CSV_H_
#define WIRETOLL_REPORTS_DIRECTIONS_CSV_H_

#include <iosfwd>

#include "harness/analysis/analysis.h"

namespace wiretoll {

// Header and rows, the directions' own (case "all") before their cases'. An
// empty field was not observed; report.json has the reasons. Columns are
// stable, new ones are added at the end only.
void WriteDirectionsCsv(const Analysis& analysis, std::ostream& out);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_DIRECTIONS_CSV_H_

// samples.csv: one row a trial, columns stable.
#ifndef WIRETOLL_REPORTS_CSV_H_
#define WIRETOLL_REPORTS_CSV_H_

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace wiretoll {

struct CsvColumn {
  std::string name;  // Ends in its unit where it has one.
  std::string meaning;
};

// In order; new ones are added at the end only.
const std::vector<CsvColumn>& CsvColumns();

// Header and one row for each sample of the runs, one sample in memory at a
// time. An empty field was not observed; column "why_null" says why.
// kUsage: a run folder that cannot be read.
Outcome<Done> WriteSamplesCsv(const std::vector<std::filesystem::path>& runs,
                              std::ostream& out);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_CSV_H_

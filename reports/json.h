// report.json: everything in the analysis.
#ifndef WIRETOLL_REPORTS_JSON_H_
#define WIRETOLL_REPORTS_JSON_H_

#include <iosfwd>
#include <string>

#include "harness/analysis/analysis.h"

namespace wiretoll {

inline constexpr int kReportVersion = 1;

// As metrics are called in report.json: MetricName() with the unit at its end,
// "throughput_bytes_per_s".
std::string JsonMetricName(Metric metric);

// One object; nulls stand with their reason. Written cell by cell: a document
// of a large matrix would not fit beside the analysis.
void WriteReportJson(const Analysis& analysis, std::ostream& out);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_JSON_H_

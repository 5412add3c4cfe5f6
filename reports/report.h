// An analysis as something to read: HTML with pictures, Markdown, CSV, JSON.
#ifndef WIRETOLL_REPORTS_REPORT_H_
#define WIRETOLL_REPORTS_REPORT_H_

#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "harness/analysis/analysis.h"
#include "harness/base/result.h"

namespace wiretoll {

enum class ReportFormat { kHtml, kMarkdown, kCsv, kJson };

struct ReportSpec {
  std::filesystem::path out;  // Folder; made if missing.
  std::set<ReportFormat> formats{ReportFormat::kHtml, ReportFormat::kMarkdown,
                                 ReportFormat::kCsv, ReportFormat::kJson};
  std::vector<std::filesystem::path> runs;  // samples.csv is one row a trial.
  std::chrono::milliseconds picture_limit{60'000};  // gnuplot is stopped then.
};

struct WrittenReport {
  std::vector<std::filesystem::path> files;  // The page first.
  std::vector<std::string> warnings;  // "no gnuplot: pictures left out; ..."
};

// Writes report.html, report.md, samples.csv, report.json into spec.out,
// predictions.csv where a rule predicts a figure, and directions.csv where two
// systems stand side by side. A missing or failing gnuplot costs the pictures
// only: the page says why in their place. kNothingRan if the folder or a file
// cannot be written.
Outcome<WrittenReport> WriteReport(const Analysis& analysis,
                                   const ReportSpec& spec);

// The same of what Analyse() makes of spec.runs, with its failures: then
// spec.out is as it was before.
Outcome<WrittenReport> WriteReport(const ReportSpec& spec);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_REPORT_H_

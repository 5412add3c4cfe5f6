// Two runs side by side, to read: as text, Markdown, JSON and one page.
#ifndef WIRETOLL_REPORTS_COMPARE_REPORT_H_
#define WIRETOLL_REPORTS_COMPARE_REPORT_H_

#include <chrono>
#include <filesystem>
#include <iosfwd>
#include <string>

#include "harness/analysis/compare.h"
#include "harness/base/result.h"
#include "reports/document.h"
#include "reports/report.h"

namespace wiretoll {

inline constexpr int kComparisonVersion = 1;

// For a terminal; lines of a table are as wide as its names make them.
std::string ComparisonText(const Comparison& comparison);

// What page and Markdown hold.
Document ComparisonDocument(const Comparison& comparison);
std::string ComparisonMarkdown(const Comparison& comparison);

// One object; nulls stand with their reason. Times in ns, rates in bytes/s.
void WriteComparisonJson(const Comparison& comparison, std::ostream& out);

// Ratios with their intervals, a row a cell, of what is judged by `which`; the
// largest effects where there are too many. Its panels are empty where there
// is nothing to draw.
Picture ComparisonPicture(const Comparison& comparison, Compared which);

// Writes compare.html, compare.md and compare.json into `out`, which is made
// if it is missing. A missing gnuplot costs the pictures only. kNothingRan if
// the folder or a file cannot be written.
Outcome<WrittenReport> WriteComparison(const Comparison& comparison,
                                       const std::filesystem::path& out,
                                       std::chrono::milliseconds picture_limit =
                                           std::chrono::milliseconds(60'000));

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_COMPARE_REPORT_H_

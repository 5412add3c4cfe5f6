// Text on its way into HTML, Markdown, CSV and a shell, and figures as the
// report spells them. Whatever comes from a run is taken as hostile.
#ifndef WIRETOLL_REPORTS_TEXT_H_
#define WIRETOLL_REPORTS_TEXT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/analysis/analysis.h"
#include "harness/base/words.h"

namespace wiretoll {

// What a table says where there is nothing.
inline constexpr const char* kNone = "–";
inline constexpr double kMega = 1e-6;
inline constexpr double kPercent = 100;

// Valid UTF-8 on one line: control characters and those that reorder text are
// dropped, line ends and tabs become spaces, broken sequences become U+FFFD.
std::string Printable(std::string_view text);

// Each makes its argument Printable() first.
std::string HtmlText(std::string_view text);      // Element or attribute.
std::string MarkdownText(std::string_view text);  // A paragraph or a cell.

// RFC 4180. A leading = + - @, which a spreadsheet takes for a formula, gets
// an apostrophe before it.
std::string CsvField(std::string_view text);
// False if CsvField() gives the text as it is.
bool CsvNeedsCare(std::string_view text);

// One word for a POSIX shell; quoted only where it must be.
std::string ShellWord(std::string_view word);
std::string ShellCommand(const std::vector<std::string>& words);

// The number of code points; what a reader sees as length.
std::size_t Length(std::string_view utf8);

// At most `longest` code points; what is cut off leaves an ellipsis.
std::string Shorten(std::string_view utf8, std::size_t longest);

// "0.19–0.24": three digits, more where the two ends would read the same; one
// figure where they are.
std::string IntervalText(const Interval& interval, double scale = 1);

// The same of a ratio: an end near 1 gets the digits that tell its side of 1.
std::string RatioRange(const Interval& interval);

// Three digits, but whole ones where there are thousands: an MSS of 1448 must
// not read 1450.
std::string WholeNumber(double value);

// "94.1 %" of 0.941.
std::string Percent(double share);

// "11.8 MB/s (11.7–11.8)"; without an interval only the median.
std::string RateText(const Estimate& bytes_per_second);

// With a large first letter, where that is one of a to z.
std::string Capital(std::string text);

// "1.5 ms".
std::string TimeText(double nanoseconds);

// How people read a factor: "Nagle on", "64 KiB writes", "rcvbuf unset".
std::string FactorText(const std::string& name, const FactorValue& value);
// The value alone: "64 KiB", "unset", "20us".
std::string FactorValueText(const std::string& name, const FactorValue& value);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_TEXT_H_

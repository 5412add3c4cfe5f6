// What several tables share: who ran with whom, in which order, and how
// figures are spelled.
#ifndef WIRETOLL_REPORTS_TABLE_PARTS_H_
#define WIRETOLL_REPORTS_TABLE_PARTS_H_

#include <string>
#include <vector>

#include "reports/document.h"
#include "reports/selection.h"

namespace wiretoll {

// At most kMostRows rows; the note says how many there are and `where`.
void Cut(Table& table, const std::string& where);

// "linux-1 → linux-2"; with their systems where there are several, or one that
// could be taken for another.
class PairNamer {
 public:
  explicit PairNamer(const Analysis& analysis);
  std::string operator()(const Cell& cell) const;

 private:
  [[nodiscard]] std::string End(const std::string& host, const std::string& os,
                                const std::string& system) const;

  bool bare_ = true;
};

// The view's streams, or its request-responses: by write, then as the study
// has them.
std::vector<const Cell*> CellsOf(const StudyView& view, bool streams);

// True of a figure that carries its own unit of time.
bool IsTime(Metric metric);
// A figure as tables spell it: rates in MB/s, times with their unit.
std::string FigureText(double value, Metric metric);
// "throughput, MB/s"; the unit only where the figure does not carry it.
std::string MetricText(Metric metric);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_TABLE_PARTS_H_

// What became of a cell's datagrams, added up while trials come.
#ifndef WIRETOLL_HARNESS_ANALYSIS_DATAGRAM_TOTALS_H_
#define WIRETOLL_HARNESS_ANALYSIS_DATAGRAM_TOTALS_H_

#include <optional>

#include "harness/analysis/analysis.h"
#include "harness/samples/sample.h"

namespace wiretoll {

// Adds an ok trial's datagrams; of a trial over TCP nothing.
void AddDatagrams(const Sample& sample, std::optional<DatagramTotals>& totals);

// Both together, as of two pairs of hosts that run the same systems.
DatagramTotals Sum(const DatagramTotals& a, const DatagramTotals& b);

// Shares of what the program handed over (sent and not sent); they sum to 1.
struct DatagramFates {
  double received = 0;  // Each counted once.
  double no_buffers = 0;
  double not_sent_otherwise = 0;
  double lost_at_receiver = 0;
  double lost_on_path = 0;
  double lost_somewhere = 0;  // Where is not known.
};
// Empty where nothing was handed over.
std::optional<DatagramFates> FatesOf(const DatagramTotals& totals);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_DATAGRAM_TOTALS_H_

// What samples tell beside their figures: buffers, problems, agreement.
#ifndef WIRETOLL_HARNESS_ANALYSIS_TALLIES_H_
#define WIRETOLL_HARNESS_ANALYSIS_TALLIES_H_

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "harness/analysis/analysis.h"

namespace wiretoll {

// The buffer truth table: a row for each host, buffer and value asked for.
class BufferTable {
 public:
  void Add(const Sample& sample);  // An ok trial.
  // By host, buffer, "unset" first, then by size.
  [[nodiscard]] std::vector<BufferRow> Rows() const;

 private:
  void AddEnd(const EndReport& end, const std::string& buffer,
              const TcpCounters* window);
  // Requested: -1 is unset.
  std::map<std::tuple<std::string, std::string, std::int64_t>, BufferRow> rows_;
};

// Kinds of trials that failed, were skipped or disturbed. Reasons that differ
// in nothing but numbers (a port, a count) are one kind.
class ProblemTable {
 public:
  void Add(const Sample& sample);
  // Failed, skipped, disturbed; each by number of trials, most first.
  [[nodiscard]] std::vector<Problem> Problems() const;

 private:
  void Count(const Problem& problem);
  std::map<std::tuple<TrialOutcome, bool, std::string>, Problem> problems_;
};

// How the counts of an ok trial agreed, the ends' and the capture's; causes
// without their numbers. `record` is its run's, for the sender's system.
void AddAgreement(const Sample& sample, const RunRecord& record,
                  Agreement& agreement);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_TALLIES_H_

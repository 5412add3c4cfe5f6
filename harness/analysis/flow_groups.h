// Flows that ran at once: totals beside the parts, and how even the parts are.
#ifndef WIRETOLL_HARNESS_ANALYSIS_FLOW_GROUPS_H_
#define WIRETOLL_HARNESS_ANALYSIS_FLOW_GROUPS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/analysis/analysis.h"
#include "harness/analysis/cells.h"
#include "harness/analysis/statistics.h"

namespace wiretoll {

// (sum x)^2 / (n sum x^2): 1 where all shares are equal, k / n where k of n
// share equally and the others get nothing (R. Jain, D. Chiu, W. Hawe,
// DEC-TR-301, 1984). Empty without shares, or where all are 0.
std::optional<double> JainFairness(const std::vector<double>& shares);

// Samples with a flow, gathered into the groups that ran at once. StartRun,
// then Add for each sample of the run, EndRun; at last Finish.
class FlowSetTable {
 public:
  // As CellTable::StartRun; `first_block` is the number of the run's block 0
  // there.
  void StartRun(RunPlace place, int first_block);
  // Samples of trials that ran alone do nothing.
  void Add(const Sample& sample);
  void EndRun();
  // Gives `cells` their group's figures too (kTotalThroughput, kFairness), of
  // studies that have flows at once.
  std::vector<FlowSet> Finish(MedianIntervals& intervals,
                              std::vector<Cell>& cells);

 private:
  // One group, as its samples come.
  struct Group {
    TrialFlow flow;  // Of the first that came.
    int block = 0;
    std::vector<double> rates;
    std::optional<double> overlap = 1;  // The least of its flows'.
    std::optional<double> cpu_ns = 0;   // Of all loops.
    double longest_ns = 0;              // Flow.
    int seen = 0;
    std::string reason;  // Why it has no figures.
  };
  struct Draft {
    FlowSet set;
    BlockValues least, largest, overlap, cpus_used;
  };

  void AddTo(Group& group, const Sample& sample) const;
  Draft& DraftOf(const Sample& sample);
  // A group that has come to its end, with all of its flows or without.
  void Close(Group& group, Draft& draft);

  RunPlace place_;
  int first_block_ = 0;
  std::vector<Draft> drafts_;
  std::map<std::string, std::size_t> index_;  // Of this run.
  std::map<std::string, std::pair<Group, std::size_t>> open_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_FLOW_GROUPS_H_

// Samples gathered into cells: compact columns while they come, figures at the
// end.
#ifndef WIRETOLL_HARNESS_ANALYSIS_CELLS_H_
#define WIRETOLL_HARNESS_ANALYSIS_CELLS_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/analysis/analysis.h"
#include "harness/analysis/case_theory.h"
#include "harness/analysis/metrics.h"
#include "harness/analysis/statistics.h"
#include "harness/analysis/verdicts.h"

namespace wiretoll {

// Where the cells of one run belong.
struct RunPlace {
  std::size_t run = 0;
  const RunRecord* record = nullptr;  // Outlives the table.
  // Study names of the run, to Analysis::studies.
  std::map<std::string, std::size_t> studies;
};

// What trials negotiated, figure by figure: many are kept, and of most figures
// a trial has none.
class NegotiatedColumns {
 public:
  static constexpr std::array kFields{
      &Negotiated::mss,           &Negotiated::path_mtu,
      &Negotiated::header_bytes,  &Negotiated::timestamps,
      &Negotiated::rtt_ns,        &Negotiated::min_rtt_ns,
      &Negotiated::window,        &Negotiated::sending_ns,
      &Negotiated::writes,        &Negotiated::bytes,
      &Negotiated::receiving_ns,  &Negotiated::timed_bytes,
      &Negotiated::sndbuf,        &Negotiated::window_reopened,
      &Negotiated::silly_wait_ns, &Negotiated::persist_wait_ns};

  void Add(const Negotiated& trial);
  // Of each figure over the trials that have it. Sorts the columns.
  Negotiated Medians();

 private:
  std::array<std::vector<double>, kFields.size()> columns_;
};

// Cells of all runs. StartRun, then Add for each of its samples, EndRun; at
// last Finish, which empties the table.
class CellTable {
 public:
  // `studies` outlives the table and stays as it is.
  explicit CellTable(const std::vector<Study>& studies);

  void StartRun(RunPlace place);
  // The number of this run's block 0.
  [[nodiscard]] int first_block() const { return first_block_; }
  void Add(const Sample& sample);
  // Gives the complete blocks, those with a trial of every cell, and what
  // there is to say about others.
  int EndRun(std::vector<std::string>& notes);
  std::vector<Cell> Finish(MedianIntervals& intervals);

 private:
  // Of one ok trial, what its cell's capacity needs.
  struct Trial {
    double throughput = 0;  // 0: none.
    std::array<float, 7> capacity{};
  };
  // An ok trial's time series.
  struct SeriesFile {
    double speed = 0;  // Steady throughput, else throughput; 0: none.
    std::string trial, file;
  };
  struct Draft {
    Cell cell;
    std::vector<SeriesFile> series;
    std::vector<Trial> trials;
    NegotiatedColumns negotiated;  // Of ok trials.
    std::vector<TrialSigns> signs;
    const Workload* workload = nullptr;
    std::optional<double> rate_bits_per_second;
    Bytes burst;  // Of the link's shaper.
    std::optional<Nanoseconds> receiver_tick;
    bool autocorking = false;
    std::size_t blocks_to_come = 0;  // Room to make for them, at most.
    std::vector<int> blocks;         // With any outcome, sorted.
    int repeated = 0;                // Trials of a block that was there.
    bool at_once = false;  // Its trials are flows that share the line.
    // Then of each block how many are in its values.
    std::map<int, std::array<int, kMetricCount>> flows;
  };

  Draft& DraftOf(const Sample& sample);
  // The draft of that key, made of the sample if there is none.
  Draft& DraftAt(std::string key, const Sample& sample,
                 const std::pair<std::string, std::string>& pair);
  Draft MakeDraft(const Sample& sample,
                  const std::pair<std::string, std::string>& pair) const;
  [[nodiscard]] std::pair<std::string, std::string> PairOf(
      const Sample& sample) const;
  static void AddValues(const Figures& figures, int block, Draft& draft);
  static void AddFigures(const Sample& sample, int block, Draft& draft);
  static void ChooseCourse(Draft& draft);
  static void FinishDraft(MedianIntervals& intervals, Draft& draft);
  // Theory, and how it stands to the figures.
  static void JudgeTheory(Draft& draft);

  const std::vector<Study>& studies_;
  // Study, then case id.
  std::vector<std::unordered_map<std::string, const Case*>> cases_;
  RunPlace place_;
  int first_block_ = 0;  // Of this run; the next run's begin after the last.
  int last_block_ = -1;
  std::size_t first_draft_ = 0;
  std::vector<Draft> drafts_;
  std::unordered_map<std::string, std::size_t> index_;  // Of this run.
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_CELLS_H_

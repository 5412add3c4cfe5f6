// Predictions of a cell held against what was measured, and why they differ:
// explained by a mechanism that the same trials showed, or unexplained.
#ifndef WIRETOLL_HARNESS_ANALYSIS_VERDICTS_H_
#define WIRETOLL_HARNESS_ANALYSIS_VERDICTS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/analysis/analysis.h"
#include "harness/base/units.h"
#include "harness/samples/run_folder.h"
#include "harness/samples/sample.h"

namespace wiretoll {

// Of one ok trial, what explanations rest on. NaN: not observed. Floats: many
// are kept.
struct TrialSigns {
  float retransmitted = 0;
  float window_share = 0;  // Of the sender's time, held back by the window.
  float sndbuf_share = 0;  // And by its own send buffer.
  float acks = 0;
  float segments = 0;
  float replay_minshall = 0;
  float replay_classic = 0;
};
TrialSigns SignsOf(const Sample& sample);

// Of a cell: medians over its trials; empty where none has the figure, of
// replays where one has it not.
struct CellSigns {
  int trials = 0;
  int disturbed = 0;
  std::optional<double> rtt_ns, min_rtt_ns;
  std::optional<double> retransmitted, window_share, sndbuf_share;
  std::optional<double> acks, segments;
  std::optional<double> replay_minshall, replay_classic;
  std::optional<double> bytes;
  Bytes burst{0};            // Of the link's shaper; 0: none known.
  bool autocorking = false;  // The sender's system says that it is on.
};

// Fills the medians of trials' own signs.
void TakeMedians(const std::vector<TrialSigns>& trials, CellSigns& signs);

// "burst 8000" among the link's settings; 0 where it has no such shaper.
Bytes BurstOf(const RecordedLink& link);
// A fact of a host as a whole number; empty: no such host or fact.
std::optional<std::int64_t> FactOf(const RunRecord& record,
                                   const std::string& host,
                                   const std::string& fact);

// One for each prediction of the cell's theory, from its figures. An
// explanation names the figure that it rests on; the first that applies is
// given, the most telling first:
//   the rule replayed over the capture's own writes and ACKs gives the count;
//   the sender's other rule, Minshall's, is met;
//   as many segments more as were retransmitted, or fewer;
//   the measured lies between what the shortest and the smoothed round trip
//   give (the rules take it for constant);
//   the peer's window, or the send buffer, held the sender back for a tenth of
//   its time or more;
//   fewer ACKs than segments by a tenth or more: they were delayed;
//   a Linux sender may have sent a partial segment each round trip;
//   autocorking merged writes while the line was busy; a shaper's burst;
//   a round trip below 1 ms, where scheduling decides when an ACK is seen;
//   more than half of the trials were disturbed from outside.
std::vector<PredictionVerdict> VerdictsOf(const Cell& cell,
                                          const CellSigns& signs);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_VERDICTS_H_

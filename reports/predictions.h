// Predictions against measurements: each rule's verdict, in words, tables and
// predictions.csv.
#ifndef WIRETOLL_REPORTS_PREDICTIONS_H_
#define WIRETOLL_REPORTS_PREDICTIONS_H_

#include <array>
#include <iosfwd>
#include <string>

#include "harness/analysis/analysis.h"

namespace wiretoll {

// "as predicted", "explained", "unexplained", "not measured".
std::string ExplanationName(Explanation explanation);

// Of the cell's prediction of that index; null where it was not judged.
const PredictionVerdict* VerdictOn(const Cell& cell, std::size_t prediction);

// How many cells are explained and how many predictions of which kind.
class VerdictTally {
 public:
  void Add(const Cell& cell);
  // "3 of 120 cells are unexplained. Of 300 predictions ..."; empty where
  // there is no prediction.
  [[nodiscard]] std::string Sentence() const;

 private:
  long long cells_ = 0, unexplained_cells_ = 0;
  long long predictions_ = 0, not_judged_ = 0;
  std::array<long long, 4> by_{};  // Explanation -> predictions.
};

bool HasPredictions(const Analysis& analysis);

// Header and a row a prediction of every cell. An empty field was not observed.
// Columns are stable, new ones are added at the end only.
void WritePredictionsCsv(const Analysis& analysis, std::ostream& out);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_PREDICTIONS_H_

// What the person at the keyboard sees while a run goes on.
#ifndef WIRETOLL_HARNESS_RUN_PROGRESS_H_
#define WIRETOLL_HARNESS_RUN_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "harness/base/units.h"

namespace wiretoll {

// Time left, from how long each cell took so far.
class TimeLeft {
 public:
  explicit TimeLeft(std::int64_t trials) : left_(trials) {}
  void Finished(const std::string& cell, Nanoseconds took);
  void Skipped() { --left_; }
  // Empty before the first trial has ended.
  [[nodiscard]] std::optional<Nanoseconds> Estimate() const;

 private:
  struct Mean {
    double sum = 0;
    std::int64_t count = 0;
  };
  std::map<std::string, Mean> by_cell_;
  double seen_mean_sum_ = 0;  // Of the cells' means.
  std::int64_t left_;
};

// Writes lines about a run: over and over the same line on a terminal, else
// one every ten seconds.
class Progress {
 public:
  struct Look {
    bool quiet = false;
    bool terminal = false;
  };
  // `write` gets text for standard error.
  Progress(Look look, std::function<void(const std::string&)> write);
  ~Progress();

  struct State {
    int block = 0, blocks = 0;
    std::int64_t done = 0, trials = 0;
    std::int64_t failed = 0, skipped = 0;
    std::optional<Nanoseconds> left;
    std::string now;  // The trial under way.
  };
  void Show(const State& state);
  // A line that stays, whatever the look.
  void Say(const std::string& line);

 private:
  void Clear();
  Look look_;
  std::function<void(const std::string&)> write_;
  std::size_t shown_ = 0;  // Columns of the line that stands.
  std::optional<SteadyTime> last_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_RUN_PROGRESS_H_

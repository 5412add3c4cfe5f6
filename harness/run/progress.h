// What the person at the keyboard sees while a run goes on.
#ifndef WIRETOLL_HARNESS_RUN_PROGRESS_H_
#define WIRETOLL_HARNESS_RUN_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/units.h"

namespace wiretoll {

// Time left: a cell that was measured lasts as long as it did; one that was
// not, as long as planned, times what the plan was wrong by so far.
class TimeLeft {
 public:
  // Another cell, told by its place from 0 on: `trials` of it are to come,
  // each of `expected`, above 0.
  void Plan(Nanoseconds expected, std::int64_t trials);
  // A trial of a cell ended, after this long.
  void Finished(std::size_t cell, Nanoseconds took);
  // One need not be run: --resume found it done.
  void Skipped(std::size_t cell);
  // From the first trial on. Empty if nothing was planned.
  [[nodiscard]] std::optional<Nanoseconds> Estimate() const;

 private:
  struct Cell {
    double expected = 0;  // Nanoseconds, as all here.
    double took = 0;      // Sum over `seen` trials.
    std::int64_t seen = 0;
    std::int64_t left = 0;
    [[nodiscard]] double mean() const {
      return took / static_cast<double>(seen);
    }
  };
  // Takes a cell out of the sums below, or puts it in.
  void Account(const Cell& cell, double sign);

  std::vector<Cell> cells_;
  double left_measured_ = 0;  // Of the cells seen: trials left x mean.
  double left_planned_ = 0;   // Of the others: trials left x expected.
  double seen_means_ = 0;     // Of the cells seen: the sum of their means,
  double seen_planned_ = 0;   // and of what was expected of them.
};

// Writes lines about a run: over and over the same line on a terminal, else
// one every ten seconds. What takes over two seconds is said within them.
class Progress {
 public:
  struct Look {
    bool quiet = false;
    bool terminal = false;
  };
  using Now = std::function<SteadyTime()>;
  // `write` gets text for standard error. `now`: for tests.
  Progress(Look look, std::function<void(const std::string&)> write,
           Now now = std::chrono::steady_clock::now);
  ~Progress();

  struct State {
    int block = 0, blocks = 0;
    std::int64_t done = 0, trials = 0;
    std::int64_t failed = 0, skipped = 0;
    std::optional<Nanoseconds> left;
    std::string now;      // The trial under way,
    Nanoseconds most{0};  // and when it is given up.
  };
  // The run got this far.
  void Show(const State& state);
  // Nothing goes on until `what` is there ("host b to answer"), or given up.
  void Wait(const std::string& what, SteadyTime until);
  // What was waited for is there.
  void WaitIsOver();
  // To be called a few times a second: time passes also where nothing happens.
  void Tick();
  // A message that stays, whatever the look; "wiretoll: " is put before it.
  void Say(const std::string& line);

 private:
  [[nodiscard]] std::string Line(SteadyTime now) const;
  void Draw();
  void Clear();

  Look look_;
  std::function<void(const std::string&)> write_;
  Now now_;
  std::size_t shown_ = 0;  // Columns of the line that stands.
  SteadyTime next_;        // No line before this.
  std::optional<State> state_;
  SteadyTime state_since_;
  std::string wait_;  // Empty: nothing is waited for.
  SteadyTime wait_until_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_RUN_PROGRESS_H_

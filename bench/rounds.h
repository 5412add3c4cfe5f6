// The measuring loop against a bare one, iperf3 and nuttcp.
#ifndef WIRETOLL_BENCH_ROUNDS_H_
#define WIRETOLL_BENCH_ROUNDS_H_

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/analysis/analysis.h"
#include "harness/lab/lab.h"

namespace wiretoll {

// A line of the published table.
struct Figure {
  std::string what;
  std::string unit;
  std::optional<double> goal{};  // Ratio to reach; none: for comparison.
  double ours = 0;
  double theirs = 0;
  Estimate ratio{};    // Of the rounds' own ratios.
  std::string note{};  // Why there is none.
};

struct BenchSpec {
  std::filesystem::path programs;  // Folder of wiretoll and wiretoll-agent.
  std::filesystem::path bare;      // bare-loop
  int rounds = 5;
  std::string only{};  // Figures whose name holds this; empty: all.
};

// One after the other within a round, so that drift of the machine touches
// all alike.
std::vector<Figure> RunRounds(const Lab& lab, const BenchSpec& spec);

}  // namespace wiretoll

#endif  // WIRETOLL_BENCH_ROUNDS_H_

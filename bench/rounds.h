// The measuring loop against a bare one, iperf3 and nuttcp.
#ifndef WIRETOLL_BENCH_ROUNDS_H_
#define WIRETOLL_BENCH_ROUNDS_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/lab/lab.h"

namespace wiretoll {

// A line of the published table.
struct Figure {
  std::string what;
  std::string unit;
  double ours = 0;
  double theirs = 0;
  double ratio = 0;  // Median of the rounds' own ratios.
  double goal = 0;   // Ratio to reach.
  std::string note;  // Why there is none.
};

struct BenchSpec {
  std::filesystem::path programs;  // Folder of wiretoll and wiretoll-agent.
  std::filesystem::path bare;      // bare-loop
  int rounds = 5;
  double seconds = 1;  // Of one measurement.
};

// One after the other within a round, so that drift of the machine touches
// all alike.
std::vector<Figure> RunRounds(const Lab& lab, const BenchSpec& spec);

double Median(std::vector<double> values);

}  // namespace wiretoll

#endif  // WIRETOLL_BENCH_ROUNDS_H_

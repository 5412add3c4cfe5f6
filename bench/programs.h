// Other programs of a benchmark: started, waited for, ended.
#ifndef WIRETOLL_BENCH_PROGRAMS_H_
#define WIRETOLL_BENCH_PROGRAMS_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace wiretoll {

using CommandLine = std::vector<std::string>;

// A program in the background, its standard output kept. Ended, if it has not
// by itself, when this goes.
class Background {
 public:
  explicit Background(const CommandLine& command);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  // Waits for its end, at most `timeout`, and gives what it printed.
  std::string Finish(std::chrono::seconds timeout);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Runs to the end (at most a minute) and gives standard output. Empty if the
// program is not there or failed.
std::string Output(const CommandLine& command);

bool OnPath(const std::string& program);

// The same command, inside a namespace, on one CPU.
CommandLine Inside(const std::string& netns, int cpu,
                   const CommandLine& command);

struct Cost {
  double seconds = 0;
  double peak_mib = 0;  // Largest resident memory, by the kernel's VmHWM.
  int exit_code = -1;
};
// Runs a program and looks at its memory on the way.
Cost Measure(const CommandLine& command);

}  // namespace wiretoll

#endif  // WIRETOLL_BENCH_PROGRAMS_H_

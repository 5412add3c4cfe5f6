// Run folders out of a few parameters, for tests of analysis and reports.
#ifndef WIRETOLL_TESTS_ANALYSIS_SYNTHETIC_RUN_H_
#define WIRETOLL_TESTS_ANALYSIS_SYNTHETIC_RUN_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/samples/run_folder.h"
#include "harness/samples/sample.h"
#include "harness/study/study.h"

namespace wiretoll {

struct SyntheticHost {
  std::string name;
  std::string os = "linux";
  std::string stack = "Linux 6.18.44";
  std::string description = {};
};

// What a run consists of. Every pair runs every case in every block.
struct SyntheticRun {
  std::string study_name = "synthetic";
  std::string study_text = {};  // TOML; SyntheticStudyText() if empty.
  std::vector<SyntheticHost> hosts{{"linux-1"}, {"linux-2"}};
  // Empty: every ordered pair of different hosts.
  std::vector<std::pair<std::string, std::string>> pairs = {};
  int blocks = 5;
  std::optional<double> rate_bits_per_second = 100e6;
  double noise = 0.02;  // Log-normal, standard deviation of times.
  std::uint64_t seed = 1;
  std::string link = {};  // Its description; empty: a lab's.
  // What run.json says of where the samples come from; a report of such a run
  // says that nothing was measured. Empty only for tests of that.
  std::string synthetic = "made up by tests/analysis/synthetic_run";
  // Changes a sample after the model has made it: outcomes, figures, gaps.
  std::function<void(Sample&)> adjust = nullptr;
};

// Two factors with three and two values: write 1, 32, 1448 and nagle on, off.
std::string SyntheticStudyText();

// The model, coherent in all fields. Nagle on: full segments; off: a segment a
// write. The line carries them back to back, at the link's rate (or at 1
// Gbit/s where it has none), with timestamps over IPv4; reads are as large as
// they may be. A receive buffer reads back as on Linux. Request-response:
// 100 us a round; 44 ms with Nagle and a request of two writes.
Sample SyntheticSample(const SyntheticRun& run, const Case& one_case,
                       const std::pair<std::string, std::string>& pair,
                       int block);

RunRecord SyntheticRecord(const SyntheticRun& run);

// Makes the folder (which must not exist) with run.json and samples.jsonl.
// Aborts the test program with a message if that fails.
void WriteSyntheticRun(const std::filesystem::path& folder,
                       const SyntheticRun& run);

// A folder of its own under the system's temporary one, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_ANALYSIS_SYNTHETIC_RUN_H_

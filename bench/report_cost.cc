#include "bench/report_cost.h"

#include "tests/analysis/synthetic_run.h"

namespace wiretoll {
namespace {

// 5 writes x 2 x 3 receive buffers x 2 readers = 60 cases, both directions:
// 120 samples a block, the shape of the default study.
constexpr char kCostStudy[] = R"(
title = "Report cost"
question = "What does a report cost?"
[factors]
write = [1, 32, 256, 1448, 16384]
read = [1, 65536]
nagle = ["on", "off"]
rcvbuf = [2, 65536, "unset"]
[stop]
bytes = "64KiB"
)";
constexpr std::int64_t kSamplesInBlock = 120;

}  // namespace

ReportCost MeasureReportCost(const std::filesystem::path& wiretoll,
                             std::int64_t samples) {
  const TemporaryFolder folder;
  SyntheticRun run;
  run.study_text = kCostStudy;
  run.blocks =
      static_cast<int>((samples + kSamplesInBlock - 1) / kSamplesInBlock);
  const auto run_folder = folder.path() / "run";
  WriteSyntheticRun(run_folder, run);
  ReportCost cost;
  cost.samples = run.blocks * kSamplesInBlock;
  cost.megabytes = static_cast<double>(std::filesystem::file_size(
                       run_folder / "samples.jsonl")) /
                   1e6;
  cost.cost = Measure({wiretoll.string(), "report", run_folder.string()});
  return cost;
}

}  // namespace wiretoll

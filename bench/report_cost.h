// What a report over many samples costs.
#ifndef WIRETOLL_BENCH_REPORT_COST_H_
#define WIRETOLL_BENCH_REPORT_COST_H_

#include <cstdint>
#include <filesystem>

#include "bench/programs.h"

namespace wiretoll {

struct ReportCost {
  std::int64_t samples = 0;
  double megabytes = 0;  // Of samples.jsonl.
  Cost cost;
};

// `wiretoll report` as a program of its own, over a synthetic run folder.
ReportCost MeasureReportCost(const std::filesystem::path& wiretoll,
                             std::int64_t samples);

}  // namespace wiretoll

#endif  // WIRETOLL_BENCH_REPORT_COST_H_

#include "harness/programs/compare_verb.h"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>

#include "harness/analysis/compare.h"
#include "harness/base/units.h"
#include "harness/base/words.h"
#include "harness/programs/run_verb.h"
#include "reports/compare_report.h"
#include "reports/compare_words.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

void Print(const Comparison& comparison, CompareOptions::Format format) {
  using Format = CompareOptions::Format;
  if (format == Format::kJson) {
    WriteComparisonJson(comparison, std::cout);
    return;
  }
  std::cout << (format == Format::kMarkdown ? ComparisonMarkdown(comparison)
                                            : ComparisonText(comparison));
}

// Standard output is the comparison's, so the files are told on the other.
Outcome<Done> WriteFiles(const Comparison& comparison, const std::string& out) {
  const auto written = WriteComparison(comparison, out);
  if (!written.has_value()) return written.error();
  for (const std::string& warning : written.value().warnings) {
    fmt::print(stderr, "wiretoll: {}\n", warning);
  }
  for (const auto& file : written.value().files) {
    fmt::print(stderr, "written: {}\n", file.string());
  }
  return Done{};
}

// Whether a cell is beyond, named on standard error; so is what could not be
// judged, for it did not pass either.
bool AnySlowerBy(const Comparison& comparison, double share) {
  long long beyond = 0;
  for (const ComparedCell& cell : comparison.cells) {
    if (!SlowerBy(cell, share)) continue;
    ++beyond;
    const UnpairedRatio speed = *SpeedOf(cell);
    fmt::print(stderr,
               "wiretoll: slower by more than {}: {}, {}: {} times as fast (95 "
               "%: {})\n",
               Percent(share), CaseOf(comparison, cell),
               PairOf(comparison, cell), FormatNumber(speed.median),
               RatioRange(*speed.interval));
  }
  const int missing = comparison.CountOf(Change::kMissing);
  if (missing > 0) {
    fmt::print(stderr,
               "wiretoll: --fail-on judged no cell that is missing in a run: "
               "{}\n",
               Count(missing, "cell"));
  }
  const int unsure = comparison.CountUnjudged();
  if (unsure > 0) {
    fmt::print(stderr,
               "wiretoll: --fail-on could not judge {}: no interval (\"?\"), "
               "which takes three blocks of each run\n",
               Count(unsure, "cell"));
  }
  return beyond > 0;
}

}  // namespace

Outcome<ExitCode> CompareVerb(const CompareOptions& options) {
  auto base = RunFolder(options.base);
  if (!base.has_value()) return base.error();
  auto next = RunFolder(options.next);
  if (!next.has_value()) return next.error();
  const auto comparison = CompareRuns(base.value(), next.value());
  if (!comparison.has_value()) return comparison.error();
  Print(comparison.value(), options.format);
  if (options.out) {
    const auto written = WriteFiles(comparison.value(), *options.out);
    if (!written.has_value()) return written.error();
  }
  if (!options.fail_on) return ExitCode::kDone;
  if (AnySlowerBy(comparison.value(), *options.fail_on))
    return ExitCode::kSomeTrialsFailed;
  // Green would say that something had been looked at.
  if (comparison.value().CountJudged() > 0) return ExitCode::kDone;
  return Failure{ExitCode::kNothingRan, "--fail-on found no cell to judge"};
}

}  // namespace wiretoll

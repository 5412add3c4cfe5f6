// One trial's figures.
#ifndef WIRETOLL_HARNESS_ANALYSIS_METRICS_H_
#define WIRETOLL_HARNESS_ANALYSIS_METRICS_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "harness/analysis/analysis.h"

namespace wiretoll {

// A count as a figure, to calculate with.
inline std::optional<double> Number(const std::optional<std::int64_t>& count) {
  if (!count) return std::nullopt;
  return static_cast<double>(*count);
}

using Figures = std::array<std::optional<double>, kMetricCount>;

inline constexpr std::size_t Index(Metric metric) {
  return static_cast<std::size_t>(metric);
}

// What a trial's figures need beside its sample.
struct TrialContext {
  std::optional<double> rate_bits_per_second;  // Of the link.
  bool request_response = false;
};

// Of an ok trial.
Figures FiguresOf(const Sample& sample, const TrialContext& context);

// Why FiguresOf gave none for `metric`.
std::string WhyMissing(Metric metric, const Sample& sample,
                       const TrialContext& context);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_METRICS_H_

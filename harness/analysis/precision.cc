#include <algorithm>

#include "harness/analysis/metrics.h"
#include "harness/analysis/statistics.h"

namespace wiretoll {
namespace {

std::string KeyOf(const Sample& sample) {
  std::string key = sample.study + '\x1f' + sample.case_id;
  for (const auto* end : {&sample.sender, &sample.receiver}) {
    key += '\x1f';
    if (*end) key += (*end)->host;
  }
  return key;
}

// Empty where there is no interval, or nothing to hold it against.
std::optional<double> HalfWidth(const Estimate& estimate) {
  if (!estimate.interval || estimate.median <= 0) return std::nullopt;
  const Interval& interval = *estimate.interval;
  return std::max(interval.high - estimate.median,
                  estimate.median - interval.low) /
         estimate.median;
}

}  // namespace

PrecisionGoal::PrecisionGoal(double precision, std::uint64_t seed)
    : precision_(precision), seed_(seed) {}

void PrecisionGoal::Add(const Sample& sample) {
  if (sample.outcome != TrialOutcome::kOk) return;
  const bool rounds = sample.sender && sample.sender->latency.has_value();
  const Figures figures = FiguresOf(sample, {std::nullopt, rounds});
  const auto& figure =
      figures[Index(rounds ? Metric::kLatencyP50 : Metric::kThroughput)];
  if (figure) values_[KeyOf(sample)].push_back(*figure);
}

bool PrecisionGoal::Reached() const {
  MedianIntervals intervals(seed_);
  for (const auto& [cell, values] : values_) {
    const auto half = HalfWidth(intervals.Of(values));
    if (!half || *half > precision_) return false;
  }
  return !values_.empty();
}

std::optional<double> PrecisionGoal::Widest() const {
  MedianIntervals intervals(seed_);
  std::optional<double> widest;
  for (const auto& [cell, values] : values_) {
    const auto half = HalfWidth(intervals.Of(values));
    if (half) widest = std::max(*half, widest.value_or(0));
  }
  return widest;
}

}  // namespace wiretoll

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
  if (!figure) return;
  Block& block = values_[KeyOf(sample)][sample.repeat];
  block.mean += (*figure - block.mean) / ++block.flows;
}

std::vector<Estimate> PrecisionGoal::Estimates() const {
  MedianIntervals intervals(seed_);
  std::vector<Estimate> estimates;
  for (const auto& [cell, blocks] : values_) {
    std::vector<double> values;
    for (const auto& [number, block] : blocks) values.push_back(block.mean);
    estimates.push_back(intervals.Of(std::move(values)));
  }
  return estimates;
}

bool PrecisionGoal::Reached() const {
  for (const Estimate& estimate : Estimates()) {
    const auto half = HalfWidth(estimate);
    if (!half || *half > precision_) return false;
  }
  return !values_.empty();
}

std::optional<double> PrecisionGoal::Widest() const {
  std::optional<double> widest;
  for (const Estimate& estimate : Estimates()) {
    const auto half = HalfWidth(estimate);
    if (half) widest = std::max(*half, widest.value_or(0));
  }
  return widest;
}

}  // namespace wiretoll

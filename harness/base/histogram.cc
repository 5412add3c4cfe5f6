#include "harness/base/histogram.h"

#include <algorithm>
#include <cmath>

namespace wiretoll {
namespace {

// Values below 2 * kSteps have a bin each; from there on a bin is as wide as
// a 64th of the power of two it lies in.
constexpr std::int64_t kSteps = 64;
constexpr int kStepBits = 6;
constexpr int kValueBits = 63;
constexpr std::size_t kBinCount =
    static_cast<std::size_t>((kValueBits - kStepBits + 1) * kSteps);

int ShiftOf(std::int64_t value) {
  const auto width =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
  return std::max(0, width - kStepBits - 1);
}

std::size_t BinOf(std::int64_t value) {
  const int shift = ShiftOf(value);
  return static_cast<std::size_t>(shift * kSteps + (value >> shift));
}

// The largest value that falls into `bin`.
std::int64_t TopOf(std::size_t bin) {
  const auto index = static_cast<std::int64_t>(bin);
  if (index < 2 * kSteps) return index;
  const std::int64_t shift = index / kSteps - 1;
  const std::int64_t step = index - shift * kSteps;
  return (step << shift) + ((std::int64_t{1} << shift) - 1);
}

}  // namespace

std::vector<std::int64_t> SizeHistogram::Bins() const {
  const auto last_used =
      std::find_if(bins_.rbegin(), bins_.rend(),
                   [](std::int64_t count) { return count != 0; });
  return {bins_.begin(), last_used.base()};
}

LatencyHistogram::LatencyHistogram() : bins_(kBinCount) {}

void LatencyHistogram::Add(std::int64_t nanoseconds) {
  const std::int64_t value = std::max<std::int64_t>(0, nanoseconds);
  ++bins_[BinOf(value)];
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value);
  ++count_;
}

double LatencyHistogram::Mean() const {
  return sum_ / static_cast<double>(count_);
}

std::int64_t LatencyHistogram::Quantile(double quantile) const {
  // 0.07 * 100 is a hair over 7 in binary; without the allowance the rank
  // would come out one too high.
  constexpr double kRounding = 1e-12;
  const double share = quantile * static_cast<double>(count_);
  const auto rank = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(share * (1 - kRounding))), 1, count_);
  std::int64_t seen = 0;
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    seen += bins_[bin];
    if (seen >= rank) return std::clamp(TopOf(bin), min_, max_);
  }
  return max_;
}

}  // namespace wiretoll

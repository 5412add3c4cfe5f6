// Counts of values over a wide range at a bounded relative error.
#ifndef WIRETOLL_HARNESS_BASE_HISTOGRAM_H_
#define WIRETOLL_HARNESS_BASE_HISTOGRAM_H_

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace wiretoll {

// Sizes by powers of two: bin k counts 2^k to 2^(k+1)-1. Add() is a shift and
// an increment, cheap enough for the measuring loop. Sizes are at least 1.
class SizeHistogram {
 public:
  void Add(std::int64_t size) {
    ++bins_[static_cast<std::size_t>(
        std::bit_width(static_cast<std::uint64_t>(size)) - 1)];
  }
  // Without the empty bins at the end.
  [[nodiscard]] std::vector<std::int64_t> Bins() const;

 private:
  std::array<std::int64_t, 64> bins_{};
};

// Durations in nanoseconds, log-linear as HDR histograms are: 64 steps to
// each power of two, so a quantile is at most 1/64 (1.6 %) above the true
// one. Fixed memory; Add() does not allocate. Minimum, maximum, count and sum
// are exact.
class LatencyHistogram {
 public:
  LatencyHistogram();
  void Add(std::int64_t nanoseconds);  // Below 0 counts as 0.
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t min() const { return count_ > 0 ? min_ : 0; }
  [[nodiscard]] std::int64_t max() const { return max_; }
  // Requires count() > 0.
  [[nodiscard]] double Mean() const;
  // The smallest recorded value (to within a step) that at least the share
  // `quantile` of all values does not exceed. Requires count() > 0 and
  // 0 < quantile <= 1.
  [[nodiscard]] std::int64_t Quantile(double quantile) const;

 private:
  std::vector<std::int64_t> bins_;
  std::int64_t count_ = 0;
  std::int64_t min_ = 0;
  std::int64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_BASE_HISTOGRAM_H_

#include "harness/analysis/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace wiretoll {
namespace {

constexpr std::size_t kLeastForRanks = 6;
constexpr std::size_t kMostForBootstrap = 200;
constexpr std::size_t kResamples = 1000;

// Student's t, two-sided 5 %, for 3, 4 and 5 values (2, 3, 4 degrees).
constexpr std::array<double, 3> kStudent{4.303, 3.182, 2.776};

// The highest rank (from 0) whose value exceeds the median with a chance of at
// most kTail: P(Binomial(count, 1/2) <= rank) <= kTail. Requires count >= 6.
std::size_t SignTestRank(std::size_t count) {
  double term = std::ldexp(1.0, -static_cast<int>(count));
  double sum = term;
  std::size_t rank = 0;
  for (std::size_t next = 1; next < count; ++next) {
    term *= static_cast<double>(count - next + 1) / static_cast<double>(next);
    sum += term;
    if (sum > kTail) break;
    rank = next;
  }
  return rank;
}

// The same by the normal approximation with its half step, for many values.
std::size_t SignTestRankOfMany(std::size_t count) {
  const auto n = static_cast<double>(count);
  return static_cast<std::size_t>(
      std::floor(n / 2 - 1.96 * std::sqrt(n) / 2 - 0.5));
}

Interval StudentInterval(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half = kStudent[values.size() - kLeastForInterval] *
                      std::sqrt(squares / (n - 1) / n);
  return {mean - half, mean + half};
}

// Of 3 to 5 sorted values.
Interval SmallInterval(const std::vector<double>& sorted) {
  Interval interval;
  if (sorted.front() > 0) {
    std::vector<double> logs(sorted);
    for (double& value : logs) value = std::log(value);
    interval = StudentInterval(logs);
    interval = {std::exp(interval.low), std::exp(interval.high)};
  } else {
    interval = StudentInterval(sorted);
  }
  return {std::min(interval.low, sorted.front()),
          std::max(interval.high, sorted.back())};
}

double MedianOfSorted(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[half];
  return sorted[half - 1] + (sorted[half] - sorted[half - 1]) / 2;
}

// Which of the values (by rank) stands at `rank` in a resample that has
// `counts` of each.
std::size_t ValueAtRank(const std::vector<std::size_t>& counts,
                        std::size_t rank) {
  std::size_t seen = 0;
  for (std::size_t value = 0; value < counts.size(); ++value) {
    seen += counts[value];
    if (seen > rank) return value;
  }
  return counts.size() - 1;
}

}  // namespace

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = seed;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    word = mixed ^ (mixed >> 31);
  }
}

std::uint64_t Random::Next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::size_t Random::Below(std::size_t limit) {
  // The high half times the limit; uneven by less than limit / 2^32.
  return static_cast<std::size_t>(((Next() >> 32) * limit) >> 32);
}

double SortedMedian(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return MedianOfSorted(values);
}

MedianIntervals::Ranks MedianIntervals::BootstrapRanks(
    std::size_t count) const {
  Random random(seed_ ^ (count * 0x9e3779b97f4a7c15));
  std::vector<std::size_t> low(kResamples);
  std::vector<std::size_t> high(kResamples);
  std::vector<std::size_t> counts(count);
  for (std::size_t resample = 0; resample < kResamples; ++resample) {
    std::fill(counts.begin(), counts.end(), 0);
    for (std::size_t i = 0; i < count; ++i) ++counts[random.Below(count)];
    // An even number has two middle values; the interval begins with the
    // lower and ends with the higher.
    low[resample] = ValueAtRank(counts, (count - 1) / 2);
    high[resample] = ValueAtRank(counts, count / 2);
  }
  std::sort(low.begin(), low.end());
  std::sort(high.begin(), high.end());
  constexpr auto kCut = static_cast<std::size_t>(kTail * kResamples);
  return {low[kCut], high[kResamples - 1 - kCut]};
}

MedianIntervals::Ranks MedianIntervals::RanksOf(std::size_t count) {
  if (count > kMostForBootstrap) {
    const std::size_t rank = SignTestRankOfMany(count);
    return {rank, count - 1 - rank};
  }
  const auto known = ranks_.find(count);
  if (known != ranks_.end()) return known->second;
  const std::size_t rank = SignTestRank(count);
  const Ranks resampled = BootstrapRanks(count);
  const Ranks ranks{std::min(rank, resampled.first),
                    std::max(count - 1 - rank, resampled.second)};
  ranks_.emplace(count, ranks);
  return ranks;
}

Estimate MedianIntervals::Of(std::vector<double> values) {
  Estimate estimate;
  estimate.blocks = static_cast<int>(values.size());
  estimate.median = SortedMedian(values);
  if (values.size() < kLeastForInterval) return estimate;
  if (values.front() == values.back()) {
    estimate.interval = Interval{values.front(), values.back()};
  } else if (values.size() < kLeastForRanks) {
    estimate.interval = SmallInterval(values);
  } else {
    const auto [low, high] = RanksOf(values.size());
    estimate.interval = Interval{values[low], values[high]};
  }
  return estimate;
}

Estimate EstimateMedian(const std::vector<double>& values, std::uint64_t seed) {
  return MedianIntervals(seed).Of(values);
}

BlockValues RatioByBlock(const BlockValues& a, const BlockValues& b) {
  BlockValues ratios;
  ratios.reserve(std::min(a.size(), b.size()));
  auto of_b = b.begin();
  for (const auto& [block, value] : a) {
    while (of_b != b.end() && of_b->first < block) ++of_b;
    if (of_b == b.end()) break;
    if (of_b->first != block || of_b->second == 0) continue;
    ratios.emplace_hint(ratios.end(), block, value / of_b->second);
  }
  return ratios;
}

std::optional<Estimate> EstimateOf(const BlockValues& by_block,
                                   MedianIntervals& intervals) {
  if (by_block.empty()) return std::nullopt;
  std::vector<double> values;
  values.reserve(by_block.size());
  for (const auto& [block, value] : by_block) values.push_back(value);
  return intervals.Of(std::move(values));
}

std::optional<Ratio> PairedRatio(const BlockValues& a, const BlockValues& b,
                                 MedianIntervals& intervals) {
  std::vector<double> ratios;
  for (const auto& [block, ratio] : RatioByBlock(a, b)) {
    ratios.push_back(ratio);
  }
  if (ratios.empty()) return std::nullopt;
  const Estimate estimate = intervals.Of(std::move(ratios));
  Ratio ratio{estimate.median, estimate.interval, estimate.blocks};
  if (ratio.interval && ratio.interval->low > 1) {
    ratio.verdict = Verdict::kHigher;
  } else if (ratio.interval && ratio.interval->high < 1) {
    ratio.verdict = Verdict::kLower;
  }
  return ratio;
}

std::optional<Ratio> PairedRatio(const BlockValues& a, const BlockValues& b,
                                 std::uint64_t seed) {
  MedianIntervals intervals(seed);
  return PairedRatio(a, b, intervals);
}

}  // namespace wiretoll

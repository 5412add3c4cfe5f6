#include "harness/analysis/unpaired.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "harness/analysis/statistics.h"

namespace wiretoll {
namespace {

// (blocks in all) x (blocks of the smaller side), whose square is the work of
// counting orders; under a tenth of a second.
constexpr std::size_t kMostForCounting = 6000;
// Ratios that are looked at one by one.
constexpr std::size_t kMostRatios = 40'000;

// Student's t, two-sided 5 %, with 4 and 5 degrees: 3 + 3 and 3 + 4 values.
constexpr std::array<double, 2> kStudentOfBoth{2.776, 2.571};

// How many orders of `all` values give the `few` of one side each sum of
// ranks, from the least sum, few (few + 1) / 2, up to the middle. Doubles: the
// counts outgrow integers, and a tail needs no unit of them.
std::vector<double> OrdersBySum(std::size_t few, std::size_t all) {
  const std::size_t most = few * all;
  std::vector<std::vector<double>> ways(few + 1,
                                        std::vector<double>(most + 1, 0));
  ways[0][0] = 1;
  for (std::size_t rank = 1; rank <= all; ++rank) {
    for (std::size_t taken = std::min(few, rank); taken >= 1; --taken) {
      for (std::size_t sum = most; sum >= rank; --sum) {
        ways[taken][sum] += ways[taken - 1][sum - rank];
      }
    }
  }
  return {ways[few].begin() + static_cast<std::ptrdiff_t>(few * (few + 1) / 2),
          ways[few].end()};
}

// How many values U has, from 0 on, with P(U or less) <= kTail.
std::size_t CountedTail(std::size_t few, std::size_t all) {
  const std::vector<double> orders = OrdersBySum(few, all);
  const double total = std::accumulate(orders.begin(), orders.end(), 0.0);
  double below = 0;
  std::size_t tail = 0;
  for (const double number : orders) {
    below += number;
    if (below > kTail * total) break;
    ++tail;
  }
  return tail;
}

// The same by the normal approximation with its half step.
std::size_t ApproximateTail(std::size_t a, std::size_t b) {
  const auto x = static_cast<double>(a);
  const auto y = static_cast<double>(b);
  const double deviation = std::sqrt(x * y * (x + y + 1) / 12);
  return static_cast<std::size_t>(
      std::floor(x * y / 2 - 1.96 * deviation - 0.5) + 1);
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

double Squares(const std::vector<double>& values) {
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares;
}

// Both sorted; so are the intervals in logarithms below.
Interval SmallInterval(const std::vector<double>& next,
                       const std::vector<double>& base) {
  const auto a = static_cast<double>(next.size());
  const auto b = static_cast<double>(base.size());
  const double variance = (Squares(next) + Squares(base)) / (a + b - 2);
  const double half = kStudentOfBoth[next.size() + base.size() - 6] *
                      std::sqrt(variance * (1 / a + 1 / b));
  const double middle = Mean(next) - Mean(base);
  return {std::min(middle - half, next.front() - base.back()),
          std::max(middle + half, next.back() - base.front())};
}

Interval DifferencesAt(const std::vector<double>& next,
                       const std::vector<double>& base, std::size_t tail) {
  std::vector<double> differences;
  differences.reserve(next.size() * base.size());
  for (const double a : next) {
    for (const double b : base) differences.push_back(a - b);
  }
  std::sort(differences.begin(), differences.end());
  return {differences[tail - 1], differences[differences.size() - tail]};
}

// How many differences are at most `limit`.
std::size_t CountUpTo(const std::vector<double>& next,
                      const std::vector<double>& base, double limit) {
  std::size_t count = 0, above = 0;
  for (const double a : next) {  // Rising, so less and less of the base.
    while (above < base.size() && a - base[above] > limit) ++above;
    count += base.size() - above;
  }
  return count;
}

// Bounds the difference of `rank` (from 0) by halving, until no double lies
// between; 2000 halvings would take the widest range of doubles.
Interval AroundRank(const std::vector<double>& next,
                    const std::vector<double>& base, std::size_t rank) {
  double low = next.front() - base.back() - 1;
  double high = next.back() - base.front();
  for (int i = 0; i < 2000; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (CountUpTo(next, base, middle) > rank ? high : low) = middle;
  }
  return {low, high};
}

std::vector<double> SortedLogs(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  for (double& value : values) value = std::log(value);
  return values;
}

bool AllAboveZero(const std::vector<double>& values) {
  return !values.empty() && std::all_of(values.begin(), values.end(),
                                        [](double v) { return v > 0; });
}

double MedianOf(std::vector<double> values) { return SortedMedian(values); }

}  // namespace

std::optional<std::size_t> UnpairedIntervals::TailOf(std::size_t a,
                                                     std::size_t b) {
  const std::size_t few = std::min(a, b);
  const auto known = tails_.find({few, a + b});
  if (known != tails_.end()) return known->second;
  const std::size_t tail = few * (a + b) <= kMostForCounting
                               ? CountedTail(few, a + b)
                               : ApproximateTail(a, b);
  const auto kept = tail == 0 ? std::nullopt : std::optional(tail);
  tails_.emplace(std::pair(few, a + b), kept);
  return kept;
}

Interval UnpairedIntervals::IntervalOf(const std::vector<double>& next_logs,
                                       const std::vector<double>& base_logs) {
  const std::size_t ratios = next_logs.size() * base_logs.size();
  const auto tail = TailOf(next_logs.size(), base_logs.size());
  if (!tail) return SmallInterval(next_logs, base_logs);
  if (ratios <= kMostRatios) return DifferencesAt(next_logs, base_logs, *tail);
  return {AroundRank(next_logs, base_logs, *tail - 1).low,
          AroundRank(next_logs, base_logs, ratios - *tail).high};
}

std::optional<UnpairedRatio> UnpairedIntervals::Of(
    const std::vector<double>& next, const std::vector<double>& base) {
  if (!AllAboveZero(next) || !AllAboveZero(base)) return std::nullopt;
  UnpairedRatio ratio;
  ratio.median = MedianOf(next) / MedianOf(base);
  ratio.base_blocks = static_cast<int>(base.size());
  ratio.next_blocks = static_cast<int>(next.size());
  if (std::min(next.size(), base.size()) < kLeastForInterval) return ratio;
  const Interval logs = IntervalOf(SortedLogs(next), SortedLogs(base));
  ratio.interval = Interval{std::min(std::exp(logs.low), ratio.median),
                            std::max(std::exp(logs.high), ratio.median)};
  if (ratio.interval->low > 1) ratio.verdict = Verdict::kHigher;
  if (ratio.interval->high < 1) ratio.verdict = Verdict::kLower;
  return ratio;
}

}  // namespace wiretoll

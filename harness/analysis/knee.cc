#include "harness/analysis/knee.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/analysis/effects.h"
#include "harness/analysis/metrics.h"
#include "harness/analysis/statistics.h"
#include "harness/base/words.h"
#include "harness/study/factors.h"

namespace wiretoll {
namespace {

constexpr int kKneeResamples = 2000;

// A size's values with the blocks they are of, by rising value: resamples then
// find their medians without sorting.
struct RankedValue {
  double value = 0;
  std::size_t block = 0;
};

// Values of one curve, by rising size.
struct Curve {
  std::vector<double> sizes;
  std::vector<std::vector<RankedValue>> values;  // [size][rank]
  std::size_t blocks = 0;
};

std::vector<RankedValue> Rank(const BlockValues& by_block,
                              const std::map<int, std::size_t>& places) {
  std::vector<RankedValue> ranked;
  ranked.reserve(by_block.size());
  for (const auto& [block, value] : by_block) {
    ranked.push_back({value, places.at(block)});
  }
  std::ranges::sort(ranked, {}, &RankedValue::value);
  return ranked;
}

Curve Tabulate(std::vector<CurvePoint> points) {
  std::ranges::sort(points, {}, &CurvePoint::size);
  std::map<int, std::size_t> places;
  for (const CurvePoint& point : points) {
    for (const auto& [block, value] : point.values) places.emplace(block, 0);
  }
  std::size_t place = 0;
  for (auto& [block, at] : places) at = place++;
  Curve curve;
  curve.blocks = places.size();
  for (const CurvePoint& point : points) {
    curve.sizes.push_back(point.size);
    curve.values.push_back(Rank(point.values, places));
  }
  return curve;
}

// The value with `rank` others before it, where block b was drawn drawn[b]
// times. Requires more draws than `rank`.
double ValueAt(const std::vector<RankedValue>& row,
               const std::vector<std::uint32_t>& drawn, std::size_t rank) {
  std::size_t before = 0;
  for (const RankedValue& ranked : row) {
    before += drawn[ranked.block];
    if (before > rank) return ranked.value;
  }
  return row.back().value;
}

// Of each size over the blocks drawn; empty where a size has none of them.
std::vector<std::optional<double>> Medians(
    const Curve& curve, const std::vector<std::uint32_t>& drawn) {
  std::vector<std::optional<double>> medians;
  medians.reserve(curve.values.size());
  for (const auto& row : curve.values) {
    std::size_t count = 0;
    for (const RankedValue& ranked : row) count += drawn[ranked.block];
    if (count == 0) {
      medians.emplace_back();
      continue;
    }
    const double lower = ValueAt(row, drawn, (count - 1) / 2);
    const double upper =
        count % 2 != 0 ? lower : ValueAt(row, drawn, count / 2);
    medians.emplace_back((lower + upper) / 2);
  }
  return medians;
}

// The rule itself, as an index into sizes: the last one where each beats all
// before it.
std::size_t KneeAt(const std::vector<std::optional<double>>& medians) {
  std::size_t knee = medians.size() - 1;
  double best = 0;  // Of the sizes above.
  for (std::size_t i = medians.size(); i-- > 0;) {
    if (!medians[i]) continue;
    if (best <= (1 + kGrowth) * *medians[i]) knee = i;
    best = std::max(best, *medians[i]);
  }
  return knee;
}

// Every block once.
std::vector<std::uint32_t> AllBlocks(const Curve& curve) {
  return std::vector<std::uint32_t>(curve.blocks, 1);
}

// Indexes of the knees of resampled curves, sorted.
std::vector<std::size_t> ResampledKnees(const Curve& curve,
                                        std::uint64_t seed) {
  Random random(seed);
  std::vector<std::size_t> knees;
  knees.reserve(kKneeResamples);
  std::vector<std::uint32_t> drawn(curve.blocks);
  for (int i = 0; i < kKneeResamples; ++i) {
    std::ranges::fill(drawn, 0);
    for (std::size_t j = 0; j < curve.blocks; ++j) {
      ++drawn[random.Below(curve.blocks)];
    }
    knees.push_back(KneeAt(Medians(curve, drawn)));
  }
  std::ranges::sort(knees);
  return knees;
}

KneeKind KindOf(std::size_t knee, std::size_t sizes) {
  if (knee + 1 == sizes) return KneeKind::kStillGrowing;
  return knee == 0 ? KneeKind::kNeverGrows : KneeKind::kFound;
}

void AddInterval(const Curve& curve, std::size_t at, std::uint64_t seed,
                 Knee& knee) {
  const std::vector<std::size_t> knees = ResampledKnees(curve, seed);
  const auto tail = static_cast<std::size_t>(kTail * kKneeResamples);
  // A median of few blocks may lie outside what resamples give.
  const std::size_t low = std::min(knees[tail], at);
  const std::size_t high = std::max(knees[kKneeResamples - 1 - tail], at);
  knee.interval = Interval{curve.sizes[low], curve.sizes[high]};
  if (low > 0) knee.more_than = curve.sizes[low - 1];
  knee.open = high + 1 == curve.sizes.size();
}

std::string Spelled(double size) { return GroupDigits(std::llround(size)); }

std::string IntervalInWords(const Knee& knee) {
  if (!knee.interval) {
    return fmt::format("no interval: {} blocks, it needs {}", knee.blocks,
                       kLeastForInterval);
  }
  std::string words;
  if (knee.more_than) {
    words = fmt::format("more than {}", Spelled(*knee.more_than));
  }
  const std::string end =
      knee.open ? "perhaps beyond the largest measured"
                : fmt::format("at most {}", Spelled(knee.interval->high));
  return words.empty() ? end : words + ", " + end;
}

// --- The studies' own curves

// What is handed over at once: the axis of a study of sizes; empty if it has
// none.
std::string SizeFactor(const Study& study) {
  for (const char* factor : {"block", "write"}) {
    if (std::ranges::count(study.varying, factor) > 0) return factor;
  }
  return {};
}

std::optional<double> SizeOf(const Cell& cell, const std::string& factor) {
  const FactorValue* value = FindFactor(cell.factors, factor);
  if (value == nullptr) return std::nullopt;
  return Magnitude(*FindFactorSpec(factor), *value);
}

std::vector<std::size_t> CellsWithSize(const std::vector<Cell>& cells,
                                       std::size_t study,
                                       const std::string& factor) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool measured = cells[i].figure(Metric::kThroughput).has_value();
    if (cells[i].study == study && measured && SizeOf(cells[i], factor)) {
      found.push_back(i);
    }
  }
  return found;
}

}  // namespace

std::optional<Knee> FindKnee(std::vector<CurvePoint> points,
                             std::uint64_t seed) {
  std::erase_if(points,
                [](const CurvePoint& point) { return point.values.empty(); });
  if (points.size() < kLeastKneeSizes) return std::nullopt;
  const Curve curve = Tabulate(std::move(points));
  const std::size_t at = KneeAt(Medians(curve, AllBlocks(curve)));
  Knee knee;
  knee.kind = KindOf(at, curve.sizes.size());
  knee.size = curve.sizes[at];
  knee.sizes = static_cast<int>(curve.sizes.size());
  knee.blocks = static_cast<int>(curve.blocks);
  if (curve.blocks >= kLeastForInterval) AddInterval(curve, at, seed, knee);
  return knee;
}

std::vector<KneeRow> KneesOf(const std::vector<Study>& studies,
                             const std::vector<Cell>& cells,
                             std::uint64_t seed) {
  std::vector<KneeRow> rows;
  for (std::size_t study = 0; study < studies.size(); ++study) {
    const std::string factor = SizeFactor(studies[study]);
    if (factor.empty()) continue;
    const auto curves =
        GroupAllElseEqual(cells, CellsWithSize(cells, study, factor),
                          studies[study].varying, factor);
    for (const std::vector<std::size_t>& curve : curves) {
      std::vector<CurvePoint> points;
      points.reserve(curve.size());
      for (const std::size_t cell : curve) {
        points.push_back({*SizeOf(cells[cell], factor),
                          cells[cell].by_block[Index(Metric::kThroughput)]});
      }
      const std::optional<Knee> knee = FindKnee(std::move(points), seed);
      if (knee) rows.push_back({study, factor, curve, *knee});
    }
  }
  return rows;
}

std::string KneeInWords(const Knee& knee) {
  switch (knee.kind) {
    case KneeKind::kFound:
      return fmt::format("{} bytes ({})", Spelled(knee.size),
                         IntervalInWords(knee));
    case KneeKind::kStillGrowing:
      return fmt::format(
          "no knee in the range: it still grows at {} bytes, the largest "
          "measured ({})",
          Spelled(knee.size), IntervalInWords(knee));
    case KneeKind::kNeverGrows:
      return fmt::format(
          "no knee in the range: no size is more than {:.0f} % faster than {} "
          "bytes, the smallest measured ({})",
          100 * kGrowth, Spelled(knee.size), IntervalInWords(knee));
  }
  return {};
}

}  // namespace wiretoll

#include "reports/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "harness/analysis/statistics.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

// Fixed: the same run folder makes the same report.
constexpr std::uint64_t kSeed = 20110214;

// Blocks of different pairs must not meet in a pool.
constexpr int kBlocksApart = 10'000'000;

constexpr std::array<const char*, 6> kSeriesColours{
    colour::kBlue,   colour::kVermilion, colour::kGreen,
    colour::kOrange, colour::kPink,      colour::kSky};
constexpr std::array<Shape, 4> kSeriesShapes{Shape::kCircle, Shape::kSquare,
                                             Shape::kTriangle, Shape::kDiamond};

bool IsRequestResponse(const Cell& cell) {
  const FactorValue* pattern = FindFactor(cell.factors, "pattern");
  return pattern != nullptr && SpellFactor(*pattern) == "request-response";
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// --- Pools ------------------------------------------------------------------

using SystemPair =
    std::tuple<std::size_t, std::string, std::string, std::string, std::string>;

SystemPair SystemsOf(const Cell& cell) {
  return {cell.run, cell.sender_os, cell.sender_stack, cell.receiver_os,
          cell.receiver_stack};
}

// True if an operating system comes with several stacks: then the short name
// does not tell pairs apart.
bool StacksNeeded(const std::set<SystemPair>& pairs) {
  std::map<std::string, std::set<std::string>> stacks;
  for (const auto& [run, from, from_stack, to, to_stack] : pairs) {
    stacks[from].insert(from_stack);
    stacks[to].insert(to_stack);
  }
  return std::any_of(stacks.begin(), stacks.end(),
                     [](const auto& entry) { return entry.second.size() > 1; });
}

std::string BriefPool(const SystemPair& pair, bool stacks) {
  const auto& [run, from, from_stack, to, to_stack] = pair;
  const auto name = [stacks](const std::string& os, const std::string& stack) {
    return Printable(stacks ? SystemText({os, stack, {}}) : SystemName(os));
  };
  return fmt::format("{} to {}", name(from, from_stack), name(to, to_stack));
}

// By the names that all hosts of the pool share, else by their stacks.
std::string FullPool(const SystemPair& pair,
                     const std::vector<const Cell*>& cells) {
  const auto& [run, from, from_stack, to, to_stack] = pair;
  std::set<std::string> senders, receivers;
  for (const Cell* cell : cells) {
    senders.insert(cell->sender_system);
    receivers.insert(cell->receiver_system);
  }
  const auto name = [](const std::set<std::string>& names,
                       const std::string& os, const std::string& stack) {
    const bool one = names.size() == 1 && !names.begin()->empty();
    return Printable(one ? *names.begin() : SystemText({os, stack, {}}));
  };
  return fmt::format("{} to {}", name(senders, from, from_stack),
                     name(receivers, to, to_stack));
}

void NamePools(const std::map<SystemPair, std::vector<const Cell*>>& pools,
               StudyView& view) {
  std::set<SystemPair> pairs;
  for (const auto& [pair, cells] : pools) pairs.insert(pair);
  const bool stacks = StacksNeeded(pairs);
  const std::vector<RunRecord>& runs = view.analysis->runs;
  for (const auto& [pair, cells] : pools) {
    const std::size_t run = std::get<0>(pair);
    std::string where;
    if (run < runs.size() && runs[run].link.kind == "loopback") {
      where = " over loopback";
    }
    if (runs.size() > 1) where += fmt::format(", run {}", run + 1);
    view.pools.push_back(BriefPool(pair, stacks) + where);
    view.pool_names.push_back(FullPool(pair, cells) + where);
  }
}

void PoolFigures(const Analysis& analysis, MedianIntervals& intervals,
                 Group& group) {
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    if (group.cells.size() == 1) {
      group.figures[m] = group.first->figures[m];
      continue;
    }
    std::vector<double> values;
    for (const std::size_t index : group.cells) {
      for (const auto& [block, value] : analysis.cells[index].by_block[m]) {
        values.push_back(value);
      }
    }
    if (!values.empty()) group.figures[m] = intervals.Of(std::move(values));
  }
}

void PoolCapacity(const Analysis& analysis, Group& group) {
  constexpr std::array kShares{
      &Capacity::payload,        &Capacity::headers,     &Capacity::framing,
      &Capacity::retransmission, &Capacity::window_wait, &Capacity::ack_wait,
      &Capacity::program_wait};
  Capacity sum;
  int known = 0;
  for (const std::size_t index : group.cells) {
    const std::optional<Capacity>& capacity = analysis.cells[index].capacity;
    if (!capacity.has_value()) continue;
    ++known;
    for (const auto share : kShares) sum.*share += (*capacity).*share;
  }
  if (known == 0) return;
  for (const auto share : kShares) sum.*share /= known;
  group.capacity = sum;
}

std::string FactorsKey(const Factors& factors) {
  std::string key;
  for (const auto& [name, value] : factors) {
    key += name + '=' + SpellFactor(value) + '\x1f';
  }
  return key;
}

void MakeGroups(StudyView& view) {
  const Analysis& analysis = *view.analysis;
  std::map<SystemPair, std::vector<const Cell*>> pairs;
  for (const Cell& cell : analysis.cells) {
    if (cell.study == view.study) pairs[SystemsOf(cell)].push_back(&cell);
  }
  NamePools(pairs, view);
  std::map<std::pair<std::string, SystemPair>, std::size_t> known;
  for (const std::size_t i : CellsInOrder(view)) {
    const Cell& cell = analysis.cells[i];
    const auto [place, fresh] = known.try_emplace(
        {FactorsKey(cell.factors), SystemsOf(cell)}, view.groups.size());
    if (fresh) view.groups.emplace_back();
    Group& group = view.groups[place->second];
    if (fresh) group.first = &cell;
    group.pool = static_cast<std::size_t>(
        std::distance(pairs.begin(), pairs.find(SystemsOf(cell))));
    group.cells.push_back(i);
    group.ok += cell.ok;
    group.failed += cell.failed;
    group.skipped += cell.skipped;
  }
  MedianIntervals intervals(kSeed);
  for (Group& group : view.groups) {
    PoolFigures(analysis, intervals, group);
    PoolCapacity(analysis, group);
  }
}

// --- Facets -----------------------------------------------------------------

void FindVarying(StudyView& view) {
  std::vector<std::string> names;
  std::map<std::string, std::set<std::string>> values;
  for (const Group& group : view.groups) {
    for (const auto& [name, value] : group.first->factors) {
      if (!Contains(names, name)) names.push_back(name);
      values[name].insert(SpellFactor(value));
    }
  }
  for (const std::string& name : names) {
    if (values[name].size() > 1) view.varying.push_back(name);
  }
}

std::size_t CountValues(const StudyView& view, const std::string& factor) {
  std::set<std::string> values;
  for (const Group& group : view.groups) {
    const FactorValue* value = FindFactor(group.first->factors, factor);
    if (value != nullptr) values.insert(SpellFactor(*value));
  }
  return values.size();
}

std::string ChooseSeriesFactor(const StudyView& view) {
  constexpr std::size_t kMostPools = 2;
  if (Contains(view.varying, "transport")) return "transport";
  if (Contains(view.varying, "nagle")) {
    return view.pools.size() <= kMostPools ? "nagle" : "";
  }
  if (view.pools.size() > 1) return "";
  for (const std::string& name : view.varying) {
    if (name == view.size_factor || name == "pattern") continue;
    if (CountValues(view, name) <= kSeriesShapes.size()) return name;
  }
  return "";
}

// The lower the more telling: an unset buffer and a big reader stand in
// nobody's way, so the pictures start there.
double Rank(const std::string& name, const FactorValue& value, double place) {
  const auto* number = std::get_if<std::int64_t>(&value);
  // As systems set it.
  if (name == "nagle") return SpellFactor(value) == "on" ? 0 : 1;
  const bool room = name == "read" || name == "rcvbuf" || name == "sndbuf";
  if (!room) return place;
  if (number == nullptr) return 0;
  return 100 -
         std::log2(static_cast<double>(std::max<std::int64_t>(*number, 1)));
}

class FacetSorter {
 public:
  explicit FacetSorter(const StudyView& view) {
    for (const Group& group : view.groups) {
      for (const auto& [name, value] : group.first->factors) {
        places_[name].try_emplace(SpellFactor(value), places_[name].size());
      }
    }
  }

  [[nodiscard]] std::vector<double> Key(
      const Factors& factors, const std::vector<std::string>& names) const {
    std::vector<double> key;
    for (const std::string& name : names) {
      const FactorValue* value = FindFactor(factors, name);
      if (value == nullptr) continue;
      const auto place = places_.at(name).at(SpellFactor(*value));
      key.push_back(Rank(name, *value, static_cast<double>(place)));
    }
    // Those with fewer departures from the plain case come first.
    key.insert(key.begin(), std::accumulate(key.begin(), key.end(), 0.0));
    return key;
  }

 private:
  std::map<std::string, std::map<std::string, std::size_t>> places_;
};

std::vector<std::string> FacetFactors(const StudyView& view,
                                      const std::string& without) {
  std::vector<std::string> names;
  for (const std::string& name : view.varying) {
    if (name != view.size_factor && name != "pattern" && name != without) {
      names.push_back(name);
    }
  }
  return names;
}

std::string FactorsText(const Factors& factors,
                        const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const FactorValue* value = FindFactor(factors, name);
    if (value == nullptr) continue;
    if (!text.empty()) text += ", ";
    text += FactorText(name, *value);
  }
  return text;
}

// Nagle keeps its two colours in every report; other values take theirs in
// the order in which the study names them.
std::size_t ValueIndex(const StudyView& view, const FactorValue& value) {
  if (view.series_factor == "nagle") return SpellFactor(value) == "on" ? 0 : 1;
  std::vector<std::string> seen;
  for (const Group& group : view.groups) {
    const FactorValue* other =
        FindFactor(group.first->factors, view.series_factor);
    if (other == nullptr) continue;
    const std::string text = SpellFactor(*other);
    if (!Contains(seen, text)) seen.push_back(text);
  }
  const auto at = std::find(seen.begin(), seen.end(), SpellFactor(value));
  return static_cast<std::size_t>(at - seen.begin());
}

Series StyleSeries(const StudyView& view, const Group& group) {
  Series series;
  const FactorValue* value =
      FindFactor(group.first->factors, view.series_factor);
  const std::size_t index = value == nullptr ? 0 : ValueIndex(view, *value);
  series.order = {group.pool, index};
  const bool pools = view.pools.size() > 1;
  const std::size_t tone = pools ? group.pool : index;
  series.colour = PoolColour(tone);
  series.shape = PoolShape(pools && value == nullptr ? tone : index);
  series.dashed = pools && index > 0;
  if (pools) {
    series.label = view.pools[group.pool];
    series.name = view.pool_names[group.pool];
  }
  if (value != nullptr) {
    const std::string text = FactorText(view.series_factor, *value);
    if (!series.label.empty()) series.label += ", ";
    series.label += text;
    if (pools) series.name += ", " + text;
  }
  if (series.label.empty()) series.label = "measured";
  return series;
}

void MakeFacets(StudyView& view) {
  const std::vector<std::string> names = FacetFactors(view, view.series_factor);
  const FacetSorter sorter(view);
  std::map<std::string, std::pair<std::vector<double>, Facet>> facets;
  for (const Group& group : view.groups) {
    const Factors& factors = group.first->factors;
    if (IsRequestResponse(*group.first)) {
      view.latency.push_back(&group);
      continue;
    }
    const std::optional<std::int64_t> write = SizeOf(view, factors);
    if (!write.has_value()) continue;
    const std::string label = FactorsText(factors, names);
    auto& [key, facet] = facets[label];
    facet.label = label;
    key = sorter.Key(factors, names);
    const Series style = StyleSeries(view, group);
    auto place = std::find_if(
        facet.series.begin(), facet.series.end(),
        [&style](const Series& s) { return s.label == style.label; });
    if (place == facet.series.end()) {
      place = facet.series.insert(place, style);
    }
    place->by_write[*write] = &group;
  }
  std::vector<std::pair<std::vector<double>, Facet>> sorted;
  sorted.reserve(facets.size());
  for (auto& [label, entry] : facets) sorted.push_back(std::move(entry));
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [key, facet] : sorted) {
    std::stable_sort(
        facet.series.begin(), facet.series.end(),
        [](const Series& a, const Series& b) { return a.order < b.order; });
    view.facets.push_back(std::move(facet));
  }
}

// --- Effects ----------------------------------------------------------------

// Each pair of hosts keeps its blocks to itself; both sides of the ratio
// number the pairs alike.
BlockValues Merge(const Analysis& analysis,
                  const std::vector<std::size_t>& cells, Metric metric) {
  BlockValues merged;
  int apart = 0;
  for (const std::size_t index : cells) {
    const auto& values =
        analysis.cells[index].by_block[static_cast<std::size_t>(metric)];
    for (const auto& [block, value] : values) {
      merged.emplace(block + apart, value);
    }
    apart += kBlocksApart;
  }
  return merged;
}

std::optional<Ratio> PoolRatio(const Analysis& analysis,
                               const std::vector<const Effect*>& effects,
                               MedianIntervals& intervals) {
  if (effects.size() == 1) return effects[0]->ratio;
  std::vector<std::size_t> base, other;
  for (const Effect* effect : effects) {
    base.push_back(effect->base_cell);
    other.push_back(effect->other_cell);
  }
  const Metric metric = effects[0]->metric;
  return PairedRatio(Merge(analysis, other, metric),
                     Merge(analysis, base, metric), intervals);
}

// Rank and name of the facet with the systems, and the value switched to.
using EffectKey = std::tuple<std::vector<double>, std::string, std::string>;
using EffectsByWrite = std::map<std::int64_t, std::vector<const Effect*>>;

std::string SystemsKey(const Cell& cell) {
  return fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}", cell.run, cell.sender_os,
                     cell.sender_stack, cell.receiver_os, cell.receiver_stack);
}

std::map<EffectKey, EffectsByWrite> GatherEffects(const StudyView& view,
                                                  const std::string& factor) {
  const std::vector<std::string> names = FacetFactors(view, factor);
  const FacetSorter sorter(view);
  std::map<EffectKey, EffectsByWrite> found;
  for (const Effect& effect : view.analysis->effects) {
    const Cell& cell = view.analysis->cells[effect.other_cell];
    const bool ours = effect.factor == factor && cell.study == view.study &&
                      effect.metric == Metric::kThroughput;
    const std::optional<std::int64_t> write = SizeOf(view, cell.factors);
    if (!ours || !write.has_value()) continue;
    // Pairs of hosts are pooled by their systems, which the key has already.
    const EffectKey key{
        sorter.Key(cell.factors, names),
        FactorsText(cell.factors, names) + '\x1e' + SystemsKey(cell),
        factor == "pair" ? "" : SpellFactor(effect.other)};
    found[key][*write].push_back(&effect);
  }
  return found;
}

// With the names of its pool, brief or in full.
std::string EffectLabel(const StudyView& view, const Effect& effect,
                        const std::vector<std::string>& pools) {
  // A pair of hosts is called by its systems.
  std::string label =
      effect.factor == "pair" ? "" : FactorText(effect.factor, effect.other);
  if (view.pools.size() < 2) return label;
  for (const Group& group : view.groups) {
    if (std::find(group.cells.begin(), group.cells.end(), effect.other_cell) ==
        group.cells.end()) {
      continue;
    }
    if (!label.empty()) label += ", ";
    label += pools[group.pool];
  }
  return label;
}

}  // namespace

const char* PoolColour(std::size_t pool) {
  return kSeriesColours[pool % kSeriesColours.size()];
}

Shape PoolShape(std::size_t pool) {
  return kSeriesShapes[pool % kSeriesShapes.size()];
}

std::optional<std::int64_t> WriteOf(const Factors& factors) {
  const FactorValue* write = FindFactor(factors, "write");
  if (write == nullptr) return std::nullopt;
  const auto* bytes = std::get_if<std::int64_t>(write);
  if (bytes == nullptr || *bytes < 1) return std::nullopt;
  return *bytes;
}

std::optional<std::int64_t> SizeOf(const StudyView& view,
                                   const Factors& factors) {
  if (view.size_factor == "write") return WriteOf(factors);
  const FactorValue* size = FindFactor(factors, view.size_factor);
  const auto* bytes =
      size == nullptr ? nullptr : std::get_if<std::int64_t>(size);
  // Without a block each write is one.
  return bytes == nullptr ? WriteOf(factors) : std::optional(*bytes);
}

bool IsUdp(const Cell& cell) {
  const FactorValue* transport = FindFactor(cell.factors, "transport");
  return transport != nullptr && SpellFactor(*transport) == "udp";
}

bool IsSizeStudy(const Analysis& analysis, std::size_t study) {
  const bool blocks = study < analysis.studies.size() &&
                      Contains(analysis.studies[study].varying, "block");
  return blocks || std::any_of(analysis.cells.begin(), analysis.cells.end(),
                               [study](const Cell& cell) {
                                 return cell.study == study && IsUdp(cell);
                               });
}

BlockValues PooledBlocks(const Analysis& analysis, const Group& group,
                         Metric metric) {
  return Merge(analysis, group.cells, metric);
}

std::vector<std::size_t> CellsInOrder(const StudyView& view) {
  const std::vector<Cell>& cells = view.analysis->cells;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].study == view.study) order.push_back(i);
  }
  const auto place = [&](std::size_t index) {
    const auto found = view.case_places.find(cells[index].case_id);
    const std::size_t known = view.case_places.size();
    return std::tuple(found == view.case_places.end() ? known : found->second,
                      cells[index].sender, cells[index].receiver);
  };
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  return order;
}

std::string CaseText(const StudyView& view, const Group& group,
                     const std::vector<std::string>& without) {
  std::vector<std::string> names;
  for (const std::string& name : view.varying) {
    if (!Contains(without, name)) names.push_back(name);
  }
  std::string text = FactorsText(group.first->factors, names);
  if (view.pools.size() > 1) {
    if (!text.empty()) text += ", ";
    text += view.pools[group.pool];
  }
  return text.empty() ? Printable(group.first->case_id) : text;
}

std::optional<double> LineRate(const StudyView& view) {
  for (const Group& group : view.groups) {
    if (group.first->run >= view.analysis->runs.size()) continue;
    const RecordedLink& link = view.analysis->runs[group.first->run].link;
    if (link.rate_bits_per_second.has_value()) return link.rate_bits_per_second;
  }
  return std::nullopt;
}

StudyView ViewStudy(const Analysis& analysis, std::size_t study) {
  StudyView view;
  view.analysis = &analysis;
  view.study = study;
  for (const Case& one_case : analysis.studies[study].cases) {
    view.case_places.try_emplace(one_case.id, view.case_places.size());
  }
  MakeGroups(view);
  FindVarying(view);
  if (Contains(view.varying, "block")) view.size_factor = "block";
  view.sizes = IsSizeStudy(analysis, study);
  view.series_factor = ChooseSeriesFactor(view);
  MakeFacets(view);
  return view;
}

std::vector<EffectSeries> EffectsOf(const StudyView& view,
                                    const std::string& factor) {
  const Analysis& analysis = *view.analysis;
  std::vector<EffectSeries> all;
  MedianIntervals intervals(kSeed);
  for (const auto& [key, by_write] : GatherEffects(view, factor)) {
    const Effect& any = *by_write.begin()->second.front();
    EffectSeries series;
    series.factor = factor;
    series.other = any.other;
    series.facet = FactorsText(analysis.cells[any.other_cell].factors,
                               FacetFactors(view, factor));
    series.label = EffectLabel(view, any, view.pools);
    if (view.pools.size() > 1) {
      series.name = EffectLabel(view, any, view.pool_names);
    }
    for (const auto& [write, effects] : by_write) {
      const auto ratio = PoolRatio(analysis, effects, intervals);
      if (ratio.has_value()) series.points.push_back({write, *ratio});
    }
    if (!series.points.empty()) all.push_back(std::move(series));
  }
  return all;
}

}  // namespace wiretoll

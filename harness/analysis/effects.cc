#include "harness/analysis/effects.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "harness/study/factors.h"

namespace wiretoll {
namespace {

constexpr std::array kEffectMetrics{Metric::kThroughput, Metric::kEfficiency,
                                    Metric::kBytesPerSegment,
                                    Metric::kLatencyP50};

// Base and other, as positions among the values of a factor.
using Step = std::pair<FactorValue, FactorValue>;

std::vector<FactorValue> ValuesOf(const Study& study,
                                  const std::string& factor) {
  std::vector<FactorValue> values;
  for (const Case& one_case : study.cases) {
    const FactorValue* value = FindFactor(one_case.factors, factor);
    if (value != nullptr &&
        std::find(values.begin(), values.end(), *value) == values.end()) {
      values.push_back(*value);
    }
  }
  return values;
}

double SizeOf(const std::string& factor, const FactorValue& value) {
  const FactorSpec* spec = FindFactorSpec(factor);
  return spec == nullptr ? 0 : Magnitude(*spec, value).value_or(0);
}

FactorValue BaseOf(const std::string& factor,
                   const std::vector<FactorValue>& values) {
  for (const char* word : {"unset", "off"}) {
    FactorValue base = std::string(word);
    if (std::find(values.begin(), values.end(), base) != values.end()) {
      return base;
    }
  }
  if (factor != "read") return values.front();
  return *std::max_element(values.begin(), values.end(),
                           [&](const FactorValue& a, const FactorValue& b) {
                             return SizeOf(factor, a) < SizeOf(factor, b);
                           });
}

std::vector<Step> StepsOf(const std::string& factor,
                          std::vector<FactorValue> values) {
  std::vector<Step> steps;
  if (values.size() < 2) return steps;
  if (factor == "write") {
    std::sort(values.begin(), values.end(),
              [&](const FactorValue& a, const FactorValue& b) {
                return SizeOf(factor, a) < SizeOf(factor, b);
              });
    for (std::size_t i = 1; i < values.size(); ++i) {
      steps.emplace_back(values[i - 1], values[i]);
    }
    return steps;
  }
  const FactorValue base = BaseOf(factor, values);
  for (const FactorValue& value : values) {
    if (value != base) steps.emplace_back(base, value);
  }
  return steps;
}

// Everything of a cell that `varying` names, but `except`, and its hosts.
std::string KeyOf(const Cell& cell, const std::vector<std::string>& varying,
                  const std::string& except) {
  std::string key = std::to_string(cell.run);
  for (const std::string* host : {&cell.sender, &cell.receiver}) {
    key += '\x1f';
    key += *host;
  }
  for (const std::string& factor : varying) {
    if (factor == except) continue;
    const FactorValue* value = FindFactor(cell.factors, factor);
    key += '\x1f';
    if (value != nullptr) key += SpellFactor(*value);
  }
  return key;
}

class EffectList {
 public:
  EffectList(const std::vector<Cell>& cells, MedianIntervals& intervals)
      : cells_(cells), intervals_(intervals) {}

  void AddFactor(const Study& study, const std::vector<std::size_t>& cells,
                 const std::string& factor);
  void AddPairs(const std::vector<std::size_t>& cells);
  std::vector<Effect> Take() { return std::move(effects_); }

 private:
  // All metrics of one step; `effect` has its factor, values and cells.
  void Add(Effect effect);

  const std::vector<Cell>& cells_;
  MedianIntervals& intervals_;
  std::vector<Effect> effects_;
};

void EffectList::Add(Effect effect) {
  for (const Metric metric : kEffectMetrics) {
    const auto index = static_cast<std::size_t>(metric);
    const auto ratio =
        PairedRatio(cells_[effect.other_cell].by_block[index],
                    cells_[effect.base_cell].by_block[index], intervals_);
    if (!ratio) continue;
    effect.metric = metric;
    effect.ratio = *ratio;
    effects_.push_back(effect);
  }
}

void EffectList::AddFactor(const Study& study,
                           const std::vector<std::size_t>& cells,
                           const std::string& factor) {
  const std::vector<Step> steps = StepsOf(factor, ValuesOf(study, factor));
  const auto groups = GroupAllElseEqual(cells_, cells, study.varying, factor);
  for (const std::vector<std::size_t>& group : groups) {
    std::map<FactorValue, std::size_t> cell_with;
    for (const std::size_t cell : group) {
      const FactorValue* value = FindFactor(cells_[cell].factors, factor);
      if (value != nullptr) cell_with.emplace(*value, cell);
    }
    for (const auto& [base, other] : steps) {
      const auto of_base = cell_with.find(base);
      const auto of_other = cell_with.find(other);
      if (of_base == cell_with.end() || of_other == cell_with.end()) continue;
      Add({factor,
           base,
           other,
           Metric::kThroughput,
           of_base->second,
           of_other->second,
           {}});
    }
  }
}

void EffectList::AddPairs(const std::vector<std::size_t>& cells) {
  // Of run and case; the base is the pair whose names come first, whichever
  // trial happened to run first.
  std::map<std::pair<std::size_t, std::string>, std::size_t> first;
  const auto spell = [&](std::size_t cell) {
    return cells_[cell].sender + ':' + cells_[cell].receiver;
  };
  std::map<std::size_t, std::string> base_of_run;
  for (const std::size_t cell : cells) {
    const auto [base, is_new] =
        base_of_run.emplace(cells_[cell].run, spell(cell));
    if (!is_new) base->second = std::min(base->second, spell(cell));
  }
  for (const std::size_t cell : cells) {
    if (spell(cell) != base_of_run[cells_[cell].run]) continue;
    first.emplace(std::pair(cells_[cell].run, cells_[cell].case_id), cell);
  }
  for (const std::size_t cell : cells) {
    const auto base =
        first.find(std::pair(cells_[cell].run, cells_[cell].case_id));
    if (base == first.end() || base->second == cell) continue;
    Add({"pair",
         spell(base->second),
         spell(cell),
         Metric::kThroughput,
         base->second,
         cell,
         {}});
  }
}

}  // namespace

std::vector<std::vector<std::size_t>> GroupAllElseEqual(
    const std::vector<Cell>& all, const std::vector<std::size_t>& cells,
    const std::vector<std::string>& varying, const std::string& factor) {
  std::vector<std::vector<std::size_t>> groups;
  std::unordered_map<std::string, std::size_t> index;
  for (const std::size_t cell : cells) {
    const auto [entry, is_new] =
        index.emplace(KeyOf(all[cell], varying, factor), groups.size());
    if (is_new) groups.emplace_back();
    groups[entry->second].push_back(cell);
  }
  return groups;
}

std::vector<Effect> EffectsOf(const std::vector<Study>& studies,
                              const std::vector<Cell>& cells,
                              MedianIntervals& intervals) {
  std::vector<std::vector<std::size_t>> of_study(studies.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].study < studies.size()) of_study[cells[i].study].push_back(i);
  }
  EffectList effects(cells, intervals);
  for (std::size_t i = 0; i < studies.size(); ++i) {
    for (const std::string& factor : studies[i].varying) {
      effects.AddFactor(studies[i], of_study[i], factor);
    }
    effects.AddPairs(of_study[i]);
  }
  return effects.Take();
}

}  // namespace wiretoll

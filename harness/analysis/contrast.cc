#include "harness/analysis/contrast.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "harness/analysis/systems.h"

namespace wiretoll {
namespace {

using SystemId = std::pair<std::string, std::string>;  // os, stack
using Cells = std::vector<std::size_t>;

// Where cells of one contrast lie: by case, then by direction.
struct CaseCells {
  const Cell* first = nullptr;
  std::array<Cells, kDirections> cells;
};
using CaseMap = std::map<std::string, CaseCells>;  // By factors, spelled.

// A figure of one case in one direction, block by block.
using Sides = std::array<BlockValues, kDirections>;

constexpr std::array<const char*, kSideFigureCount> kNames{
    "speed", "segments_per_write", "sender_cpu", "receiver_cpu", "stalls"};

SystemId SenderOf(const Cell& cell) {
  return {cell.sender_os, cell.sender_stack};
}
SystemId ReceiverOf(const Cell& cell) {
  return {cell.receiver_os, cell.receiver_stack};
}

bool IsRounds(const Cell& cell) {
  const FactorValue* pattern = FindFactor(cell.factors, "pattern");
  return pattern != nullptr && SpellFactor(*pattern) == "request-response";
}

std::optional<std::int64_t> WriteOf(const Factors& factors) {
  const FactorValue* write = FindFactor(factors, "write");
  const auto* bytes =
      write == nullptr ? nullptr : std::get_if<std::int64_t>(write);
  if (bytes == nullptr || *bytes < 1) return std::nullopt;
  return *bytes;
}

Metric MetricOf(SideFigure figure, bool rounds) {
  switch (figure) {
    case SideFigure::kSpeed:
      return rounds ? Metric::kLatencyP50 : Metric::kThroughput;
    case SideFigure::kSegmentsPerWrite:
      return Metric::kWritesPerSegment;
    case SideFigure::kSenderCpu:
      return Metric::kSenderCpu;
    case SideFigure::kReceiverCpu:
      return Metric::kReceiverCpu;
    case SideFigure::kStalls:
    case SideFigure::kCount:
      break;
  }
  return Metric::kStalls;
}

// Of several pairs of hosts, block by block: the geometric mean, of stalls,
// which may be none, the arithmetic one.
BlockValues Pool(const std::vector<Cell>& all, const Cells& cells,
                 SideFigure figure, bool rounds) {
  const auto metric = static_cast<std::size_t>(MetricOf(figure, rounds));
  const bool counts = figure == SideFigure::kStalls;
  std::map<int, std::pair<double, int>> sums;
  for (const std::size_t index : cells) {
    for (const auto& [block, value] : all[index].by_block[metric]) {
      if (!counts && value <= 0) continue;
      auto& [sum, number] = sums[block];
      sum += counts ? value : std::log(value);
      ++number;
    }
  }
  BlockValues pooled;
  for (const auto& [block, entry] : sums) {
    const double mean = entry.first / entry.second;
    double value = counts ? mean : std::exp(mean);
    if (figure == SideFigure::kSegmentsPerWrite) value = 1 / value;
    pooled.emplace_hint(pooled.end(), block, value);
  }
  return pooled;
}

// Of each block: the geometric mean of the cases' ratios, of one direction's
// values over another's.
std::optional<Ratio> MeanRatio(const std::vector<const Sides*>& cases,
                               std::size_t other, std::size_t base,
                               MedianIntervals& intervals) {
  std::map<int, std::pair<double, int>> sums;
  for (const Sides* sides : cases) {
    for (const auto& [block, ratio] :
         RatioByBlock((*sides)[other], (*sides)[base])) {
      if (ratio <= 0) continue;
      auto& [sum, number] = sums[block];
      sum += std::log(ratio);
      ++number;
    }
  }
  BlockValues means, ones;
  for (const auto& [block, entry] : sums) {
    means.emplace_hint(means.end(), block,
                       std::exp(entry.first / entry.second));
    ones.emplace_hint(ones.end(), block, 1.0);
  }
  return PairedRatio(means, ones, intervals);
}

class Contraster {
 public:
  Contraster(const std::vector<Cell>& cells, MedianIntervals& intervals)
      : cells_(cells), intervals_(intervals) {}

  // `contrast` has its run, study, kind and systems.
  void Fill(const CaseMap& cases, Contrast& contrast);

 private:
  using AllSides = std::array<std::vector<Sides>, kSideFigureCount>;

  void FillDirections(Contrast& contrast) const;
  void FillCases(Contrast& contrast);
  void FillFigures(Contrast& contrast);
  void FillRatios(Contrast& contrast);
  void FillSwitch(const Contrast& contrast, EndSwitch& one);
  void FillWrites(Contrast& contrast);
  [[nodiscard]] std::vector<const Sides*> Speeds() const;
  [[nodiscard]] std::vector<const Sides*> Everywhere(SideFigure figure) const;
  [[nodiscard]] std::optional<Estimate> Mean(
      const std::vector<const Sides*>& cases, SideFigure figure,
      std::size_t direction);
  [[nodiscard]] std::string WhyNone(SideFigure figure, bool rounds,
                                    std::size_t direction) const;

  const std::vector<Cell>& cells_;
  MedianIntervals& intervals_;
  std::vector<CaseCells> cases_;
  AllSides sides_;  // By figure, then case.
};

std::vector<const Sides*> Contraster::Speeds() const {
  std::vector<const Sides*> speeds;
  for (const Sides& sides : sides_[0]) speeds.push_back(&sides);
  return speeds;
}

void Contraster::FillDirections(Contrast& contrast) const {
  for (std::size_t d = 0; d < kDirections; ++d) {
    DirectionSide& side = contrast.directions[d];
    std::set<std::pair<std::string, std::string>> pairs;
    for (const CaseCells& one_case : cases_) {
      for (const std::size_t index : one_case.cells[d]) {
        const Cell& cell = cells_[index];
        pairs.emplace(cell.sender, cell.receiver);
        side.ok += cell.ok;
        side.failed += cell.failed;
        side.skipped += cell.skipped;
        for (const auto& [observer, trials] : cell.observers) {
          side.observers[observer] += trials;
        }
      }
    }
    side.pairs.assign(pairs.begin(), pairs.end());
  }
  const auto first =
      std::find_if(contrast.directions.begin(), contrast.directions.end(),
                   [](const DirectionSide& side) { return side.ok > 0; });
  contrast.base =
      first == contrast.directions.end()
          ? 0
          : static_cast<std::size_t>(first - contrast.directions.begin());
}

void Contraster::FillCases(Contrast& contrast) {
  for (std::vector<Sides>& list : sides_) list.resize(cases_.size());
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    CaseSides one;
    one.case_id = cases_[i].first->case_id;
    one.factors = cases_[i].first->factors;
    for (std::size_t f = 0; f < kSideFigureCount; ++f) {
      Sides& sides = sides_[f][i];
      for (std::size_t d = 0; d < kDirections; ++d) {
        sides[d] = Pool(cells_, cases_[i].cells[d], static_cast<SideFigure>(f),
                        contrast.rounds);
        one.figures[d][f] = EstimateOf(sides[d], intervals_);
      }
    }
    for (std::size_t d = 0; d < kDirections; ++d) {
      if (d == contrast.base) continue;
      one.ratios[d] =
          PairedRatio(sides_[0][i][d], sides_[0][i][contrast.base], intervals_);
    }
    contrast.by_case.push_back(std::move(one));
  }
}

// The cases that have the figure in every direction that has it at all, so
// that the same is compared.
std::vector<const Sides*> Contraster::Everywhere(SideFigure figure) const {
  const std::vector<Sides>& all = sides_[static_cast<std::size_t>(figure)];
  std::array<bool, kDirections> any{};
  for (const Sides& sides : all) {
    for (std::size_t d = 0; d < kDirections; ++d) {
      any[d] = any[d] || !sides[d].empty();
    }
  }
  std::vector<const Sides*> found;
  for (const Sides& sides : all) {
    bool everywhere = any != std::array<bool, kDirections>{};
    for (std::size_t d = 0; d < kDirections; ++d) {
      everywhere = everywhere && (!any[d] || !sides[d].empty());
    }
    if (everywhere) found.push_back(&sides);
  }
  return found;
}

// The geometric mean in each block, of stalls the sum.
std::optional<Estimate> Contraster::Mean(const std::vector<const Sides*>& cases,
                                         SideFigure figure,
                                         std::size_t direction) {
  const bool counts = figure == SideFigure::kStalls;
  std::map<int, std::pair<double, int>> sums;
  for (const Sides* sides : cases) {
    for (const auto& [block, value] : (*sides)[direction]) {
      auto& [sum, number] = sums[block];
      sum += counts ? value : std::log(value);
      ++number;
    }
  }
  BlockValues means;
  for (const auto& [block, entry] : sums) {
    means.emplace_hint(
        means.end(), block,
        counts ? entry.first : std::exp(entry.first / entry.second));
  }
  return EstimateOf(means, intervals_);
}

std::string Contraster::WhyNone(SideFigure figure, bool rounds,
                                std::size_t direction) const {
  const Metric metric = MetricOf(figure, rounds);
  for (const CaseCells& one_case : cases_) {
    for (const std::size_t index : one_case.cells[direction]) {
      const Cell& cell = cells_[index];
      const auto why = cell.why_missing.find(metric);
      if (why != cell.why_missing.end()) return why->second;
      if (!cell.reason.empty()) return cell.reason;
    }
  }
  return "no case has it in every direction that ran";
}

void Contraster::FillFigures(Contrast& contrast) {
  for (std::size_t f = 0; f < kSideFigureCount; ++f) {
    const auto figure = static_cast<SideFigure>(f);
    const std::vector<const Sides*> cases = Everywhere(figure);
    if (f == 0) contrast.cases = static_cast<int>(cases.size());
    for (std::size_t d = 0; d < kDirections; ++d) {
      DirectionSide& side = contrast.directions[d];
      if (!side.ran()) continue;
      side.figures[f] = Mean(cases, figure, d);
      if (side.figures[f]) continue;
      side.why_missing[f] = WhyNone(figure, contrast.rounds, d);
    }
  }
}

void Contraster::FillSwitch(const Contrast& contrast, EndSwitch& one) {
  const auto has = [&](std::size_t direction) {
    return std::any_of(
        sides_[0].begin(), sides_[0].end(),
        [&](const Sides& sides) { return !sides[direction].empty(); });
  };
  for (const std::size_t direction : {one.base, one.other}) {
    if (!has(direction)) one.missing.push_back(direction);
  }
  one.ratio = MeanRatio(Speeds(), one.other, one.base, intervals_);
  for (std::size_t i = 0; i < contrast.by_case.size(); ++i) {
    const auto ratio = PairedRatio(sides_[0][i][one.other],
                                   sides_[0][i][one.base], intervals_);
    if (!ratio) continue;
    ++one.cases;
    one.higher += ratio->verdict == Verdict::kHigher ? 1 : 0;
    one.lower += ratio->verdict == Verdict::kLower ? 1 : 0;
  }
}

void Contraster::FillRatios(Contrast& contrast) {
  for (std::size_t d = 0; d < kDirections; ++d) {
    if (d == contrast.base) continue;
    contrast.directions[d].ratio =
        MeanRatio(Speeds(), d, contrast.base, intervals_);
  }
  for (std::size_t i = 0; i < contrast.switches.size(); ++i) {
    EndSwitch& one = contrast.switches[i];
    one.receiver = i < 2;
    one.fixed = i % 2;
    one.base = one.receiver ? 2 * one.fixed : one.fixed;
    one.other = one.base + (one.receiver ? 1 : 2);
    FillSwitch(contrast, one);
  }
}

void Contraster::FillWrites(Contrast& contrast) {
  if (contrast.rounds) return;
  std::map<std::int64_t, std::vector<const Sides*>> by_write;
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    const auto write = WriteOf(cases_[i].first->factors);
    if (write) by_write[*write].push_back(&sides_[0][i]);
  }
  for (const auto& [write, cases] : by_write) {
    WriteRatio at{write, {}};
    for (std::size_t d = 0; d < kDirections; ++d) {
      if (d == contrast.base) continue;
      at.ratios[d] = MeanRatio(cases, d, contrast.base, intervals_);
    }
    contrast.by_write.push_back(at);
  }
}

// Told apart from 1 with any system at the end that stays; empty if that end
// could never be changed alone.
std::optional<bool> Matters(const Contrast& contrast, bool receiver) {
  std::optional<bool> matters;
  for (const EndSwitch& one : contrast.switches) {
    if (one.receiver != receiver || !one.ratio) continue;
    const bool told = one.ratio->verdict != Verdict::kNotDistinguishable;
    matters = told || matters.value_or(false);
  }
  return matters;
}

EndAnswer AnswerOf(const Contrast& contrast) {
  const std::optional<bool> receiver = Matters(contrast, true);
  const std::optional<bool> sender = Matters(contrast, false);
  if (receiver.value_or(false) && sender.value_or(false)) {
    return EndAnswer::kBoth;
  }
  if (receiver.value_or(false)) return EndAnswer::kReceiver;
  if (sender.value_or(false)) return EndAnswer::kSender;
  return receiver && sender ? EndAnswer::kNeither : EndAnswer::kNotKnown;
}

void Contraster::Fill(const CaseMap& cases, Contrast& contrast) {
  cases_.clear();
  for (const auto& [key, entry] : cases) cases_.push_back(entry);
  std::stable_sort(cases_.begin(), cases_.end(),
                   [](const CaseCells& a, const CaseCells& b) {
                     return WriteOf(a.first->factors).value_or(0) <
                            WriteOf(b.first->factors).value_or(0);
                   });
  for (std::vector<Sides>& list : sides_) list.clear();
  FillDirections(contrast);
  FillCases(contrast);
  FillFigures(contrast);
  FillRatios(contrast);
  FillWrites(contrast);
  contrast.answer = AnswerOf(contrast);
}

// --- Which systems met -------------------------------------------------------

using ContrastKey =
    std::tuple<std::size_t, std::size_t, bool, SystemId, SystemId>;

// Linux first, so that the other is held against it.
bool GoesFirst(const SystemId& a, const SystemId& b) {
  const bool linux_a = a.first == "linux", linux_b = b.first == "linux";
  if (linux_a != linux_b) return linux_a;
  return a < b;
}

std::set<ContrastKey> WhoMet(const std::vector<Cell>& cells) {
  std::set<ContrastKey> met;
  for (const Cell& cell : cells) {
    const SystemId from = SenderOf(cell), to = ReceiverOf(cell);
    if (from == to || from.first.empty() || to.first.empty()) continue;
    const bool forward = GoesFirst(from, to);
    met.emplace(cell.run, cell.study, IsRounds(cell), forward ? from : to,
                forward ? to : from);
  }
  return met;
}

std::string FactorsKey(const Factors& factors) {
  std::string key;
  for (const auto& [name, value] : factors) {
    key += name + '=' + SpellFactor(value) + '\x1f';
  }
  return key;
}

// By name if all its hosts are called alike, else by its stack alone.
ContrastSystem NameSystem(const RunRecord& run, const SystemId& id) {
  ContrastSystem system{id.first, id.second, {}, {}};
  std::set<std::string> names;
  for (const RecordedHost& host : run.hosts) {
    if (host.os != id.first || host.stack != id.second) continue;
    names.insert(SystemText({host.os, host.stack, host.description}));
  }
  system.name = names.size() == 1 ? *names.begin()
                                  : SystemText({id.first, id.second, {}});
  return system;
}

void NameSystems(const RunRecord& run, const SystemId& first,
                 const SystemId& second, Contrast& contrast) {
  contrast.systems = {NameSystem(run, first), NameSystem(run, second)};
  if (contrast.systems[0].name == contrast.systems[1].name) {
    for (ContrastSystem& system : contrast.systems) {
      system.name = SystemText({system.os, system.stack, {}});
    }
  }
  const bool alike = first.first == second.first;
  for (ContrastSystem& system : contrast.systems) {
    system.brief = alike ? SystemText({system.os, system.stack, {}})
                         : FamilyName(system.os);
  }
}

CaseMap CasesOf(const std::vector<Cell>& cells, const ContrastKey& key) {
  const auto& [run, study, rounds, first, second] = key;
  CaseMap cases;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    if (cell.run != run || cell.study != study || IsRounds(cell) != rounds) {
      continue;
    }
    const SystemId from = SenderOf(cell), to = ReceiverOf(cell);
    const bool ours =
        (from == first || from == second) && (to == first || to == second);
    if (!ours) continue;
    CaseCells& entry = cases[FactorsKey(cell.factors)];
    if (entry.first == nullptr) entry.first = &cell;
    const std::size_t direction =
        (from == second ? 2U : 0U) + (to == second ? 1U : 0U);
    entry.cells[direction].push_back(i);
  }
  return cases;
}

}  // namespace

std::string SideFigureName(SideFigure figure) {
  return kNames[static_cast<std::size_t>(figure)];
}

std::vector<Contrast> ContrastsOf(const std::vector<RunRecord>& runs,
                                  const std::vector<Cell>& cells,
                                  MedianIntervals& intervals) {
  std::vector<Contrast> contrasts;
  Contraster contraster(cells, intervals);
  for (const ContrastKey& key : WhoMet(cells)) {
    const auto& [run, study, rounds, first, second] = key;
    Contrast contrast;
    contrast.run = run;
    contrast.study = study;
    contrast.rounds = rounds;
    NameSystems(runs[run], first, second, contrast);
    contraster.Fill(CasesOf(cells, key), contrast);
    contrasts.push_back(std::move(contrast));
  }
  return contrasts;
}

}  // namespace wiretoll

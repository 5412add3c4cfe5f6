#include "harness/analysis/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "harness/analysis/effects.h"
#include "harness/analysis/knee.h"
#include "harness/analysis/systems.h"
#include "harness/base/words.h"
#include "harness/study/factors.h"

namespace wiretoll {
namespace {

using Cells = std::vector<std::size_t>;  // Into Analysis::cells.
using CellPairs = std::vector<std::pair<std::size_t, std::size_t>>;

constexpr std::size_t kLeastBlocks = 3;

// --- What a claim asks and what it gets -------------------------------------

// An answer with its reason, or with what is missing.
struct Finding {
  ClaimAnswer answer = ClaimAnswer::kNotTested;
  std::string why;
  std::optional<Estimate> figure;
};

// The values that support a claim.
struct Range {
  double low = -HUGE_VAL;
  double high = HUGE_VAL;
};

Range Around(double value, double tolerance) {
  const double room = std::fabs(value) * tolerance;
  return {value - room, value + room};
}

bool HasCheck(const Claim& claim) {
  return claim.expected || claim.at_least || claim.at_most;
}

Range RangeOf(const Claim& claim) {
  if (claim.expected) return Around(*claim.expected, claim.tolerance);
  Range range;
  if (claim.at_least) range.low = *claim.at_least;
  if (claim.at_most) range.high = *claim.at_most;
  return range;
}

ClaimAnswer Judge(const Interval& interval, const Range& range) {
  if (interval.low >= range.low && interval.high <= range.high) {
    return ClaimAnswer::kSupported;
  }
  if (interval.high < range.low || interval.low > range.high) {
    return ClaimAnswer::kRefuted;
  }
  return ClaimAnswer::kNotDistinguishable;
}

// --- Words ------------------------------------------------------------------

std::string Spell(double value, const std::string& unit) {
  if (unit == "bytes/s") return FormatByteRate(value);
  if (unit == "ns") {
    return FormatDuration(Nanoseconds(std::llround(value)));
  }
  // Three digits of a count of 2304 would say 2300.
  constexpr double kWhole = 1000;
  const bool count = unit != "share" && value >= kWhole && value < 1e15;
  const std::string number =
      count ? fmt::format("{:.0f}", value) : FormatNumber(value);
  return unit.empty() || unit == "share" ? number : number + ' ' + unit;
}

std::string Expectation(const Claim& claim, const std::string& unit) {
  if (claim.expected) {
    return fmt::format("claimed {} to within {} %",
                       Spell(*claim.expected, unit),
                       FormatNumber(100 * claim.tolerance));
  }
  std::string text;
  if (claim.at_least) {
    text = "claimed at least " + Spell(*claim.at_least, unit);
  }
  if (claim.at_most) {
    text += (text.empty() ? "claimed at most " : ", at most ") +
            Spell(*claim.at_most, unit);
  }
  return text;
}

std::string FigureText(const Estimate& estimate, const std::string& unit) {
  return fmt::format("{} [{}, {}] over {} blocks", Spell(estimate.median, unit),
                     Spell(estimate.interval->low, unit),
                     Spell(estimate.interval->high, unit), estimate.blocks);
}

std::string Counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// Both parts must hold.
ClaimAnswer Both(ClaimAnswer a, ClaimAnswer b) {
  for (const ClaimAnswer answer :
       {ClaimAnswer::kRefuted, ClaimAnswer::kNotTested,
        ClaimAnswer::kNotDistinguishable}) {
    if (a == answer || b == answer) return answer;
  }
  return ClaimAnswer::kSupported;
}

// Keeps the less favourable of two; of equals the first.
void KeepWorse(Finding finding, std::optional<Finding>& worst) {
  const bool worse =
      !worst || (worst->answer != finding.answer &&
                 Both(worst->answer, finding.answer) == finding.answer);
  if (worse) worst = std::move(finding);
}

// Answers from an estimate, if it has an interval.
Finding FindingOf(const Claim& claim, Estimate estimate,
                  const std::string& unit, const std::string& what) {
  if (!estimate.interval) {
    return {ClaimAnswer::kNotTested,
            fmt::format("{} with both figures; an interval needs {}: repeat "
                        "with --repeats {} or more",
                        Count(estimate.blocks, "block"), kLeastBlocks,
                        kLeastBlocks),
            {}};
  }
  return {Judge(*estimate.interval, RangeOf(claim)),
          fmt::format("{} {}; {}", what, FigureText(estimate, unit),
                      Expectation(claim, unit)),
          estimate};
}

// The interval of `blocks` about a figure made of medians, which may lie
// outside it.
Estimate Including(double figure, Estimate blocks) {
  blocks.median = figure;
  if (blocks.interval) {
    blocks.interval = Interval{std::min(blocks.interval->low, figure),
                               std::max(blocks.interval->high, figure)};
  }
  return blocks;
}

// --- Selections -------------------------------------------------------------

const char* NoneOrSome(bool some) { return some ? "some" : "none"; }

// The rate as a study may write it; any spelling of the same rate is one.
std::string RateWord(const RecordedLink& link) {
  if (!link.rate_bits_per_second) return "unknown";
  return FormatNumber(*link.rate_bits_per_second / 1e6) + "mbit";
}

std::string MtuWord(const RecordedLink& link) {
  return link.mtu ? std::to_string(*link.mtu) : "unknown";
}

// One time is every time's spelling: "none" is 0.
std::optional<Nanoseconds> DelayIn(const FactorValue& value) {
  const std::string text = SpellFactor(value);
  return text == "none" ? Nanoseconds{0} : ParseDuration(text);
}

// A selection that names a time, not only whether there is some.
bool NamesDelay(const Selection& selection) {
  const auto found = selection.find("link.delay");
  return found != selection.end() &&
         std::ranges::any_of(found->second, [](const FactorValue& value) {
           return ParseDuration(SpellFactor(value)).has_value();
         });
}

std::string DelayWord(const RecordedLink& link, bool as_time) {
  const Nanoseconds delay{link.delay_ns.value_or(0)};
  return as_time ? SpellDuration(delay) : NoneOrSome(delay.count() > 0);
}

// In the words that `selection`, which WithLinkWords() gave, asks in.
std::map<std::string, std::string> LinkWords(const RecordedLink& link,
                                             const Selection& selection) {
  return {{"link.kind", link.kind},
          {"link.rate", RateWord(link)},
          {"link.delay", DelayWord(link, NamesDelay(selection))},
          {"link.loss", NoneOrSome(link.loss.value_or(0) > 0)},
          {"link.mtu", MtuWord(link)},
          {"link.router", NoneOrSome(link.settings.contains("router"))}};
}

// Selections with rates, times and sizes spelled as LinkWords() does.
Selection WithLinkWords(Selection selection) {
  const auto spell = [&](const char* key, auto spelled) {
    const auto found = selection.find(key);
    if (found == selection.end()) return;
    for (FactorValue& value : found->second) value = spelled(value);
  };
  spell("link.rate", [](const FactorValue& value) {
    const auto rate = ParseRate(SpellFactor(value));
    return rate ? FormatNumber(rate->value / 1e6) + "mbit" : SpellFactor(value);
  });
  spell("link.mtu", [](const FactorValue& value) {
    const auto mtu = ParseBytes(SpellFactor(value));
    return mtu ? std::to_string(mtu->count) : SpellFactor(value);
  });
  if (!NamesDelay(selection)) return selection;
  spell("link.delay", [](const FactorValue& value) {
    const auto delay = DelayIn(value);
    return delay ? SpellDuration(*delay) : SpellFactor(value);
  });
  return selection;
}

const std::vector<FactorValue>* Named(const Selection& selection,
                                      const std::string& key) {
  const auto found = selection.find(key);
  return found == selection.end() ? nullptr : &found->second;
}

// One end's host is chosen by a selection, by name or by system.
bool NamesHost(const Selection& selection, const std::string& end) {
  return selection.contains(end + ".os") || selection.contains(end + ".host");
}

std::string SpellSelection(const Selection& selection) {
  std::string text;
  for (const auto& [key, values] : selection) {
    if (!text.empty()) text += ", ";
    text += key + '=';
    for (std::size_t i = 0; i < values.size(); ++i) {
      text += (i > 0 ? "|" : "") + SpellFactor(values[i]);
    }
  }
  return text.empty() ? "any case" : text;
}

// --- The answerer -----------------------------------------------------------

// Answers the claims of one study.
class Answerer {
 public:
  Answerer(const Analysis& analysis, std::size_t study,
           MedianIntervals& intervals)
      : analysis_(analysis), study_(study), intervals_(intervals) {
    for (std::size_t i = 0; i < analysis.cells.size(); ++i) {
      if (analysis.cells[i].study == study) cells_.push_back(i);
    }
    for (const RunRecord& run : analysis.runs) {
      for (const RecordedHost& host : run.hosts) {
        systems_[host.os].insert(
            SystemText({host.os, host.stack, host.description}));
      }
    }
  }

  Finding Answer(const Claim& asked);
  // The systems that the claim speaks of, as their hosts name themselves:
  // "; Windows is Windows 11 23H2 (22631.3447)".
  [[nodiscard]] std::string WhoAnswered(const Claim& claim) const;
  // Likewise the links, as their runs describe them.
  [[nodiscard]] std::string WhereAnswered(const Claim& claim) const;

 private:
  Finding Value(const Claim& claim, const Cells& cells);
  Finding EveryValue(const Claim& claim);
  Finding RatioOf(const Claim& claim);
  Finding LevelsOff(const Claim& claim);
  Finding EffectLarger(const Claim& claim);
  Finding KneeOf(const Claim& claim);

  [[nodiscard]] Finding KneeOfCurve(const Claim& claim,
                                    const Cells& curve) const;
  Finding Curve(const Claim& claim, const Cells& curve);
  Finding Proportion(const Claim& claim, const Cells& curve, double level);
  [[nodiscard]] std::optional<double> FigureIn(std::size_t cell,
                                               std::optional<int> block) const;
  [[nodiscard]] std::optional<double> Spread(const Cells& group,
                                             std::optional<int> block) const;
  [[nodiscard]] std::optional<double> EffectIn(const std::vector<Cells>& groups,
                                               std::optional<int> block) const;
  // Of each block: the effect of the one factor over that of the other.
  [[nodiscard]] std::vector<double> EffectRatios(
      const std::vector<Cells>& across,
      const std::vector<Cells>& against) const;

  // Cells with the claim's figure.
  [[nodiscard]] Cells Select(const Selection& selection) const;
  // Why there are none.
  [[nodiscard]] std::string WhyNone(const Selection& selection) const;
  [[nodiscard]] std::string MissingSystem(const Selection& selection) const;
  [[nodiscard]] std::string MissingLink(const Selection& selection) const;
  [[nodiscard]] std::map<std::string, std::string> PlaceOf(
      const Cell& cell, const Selection& selection) const;
  // Their names, joined by "or"; empty if one of them is there.
  [[nodiscard]] std::string NamesIfMissing(
      const std::vector<FactorValue>& systems) const;
  [[nodiscard]] CellPairs Couples(const Claim& claim, const Cells& a,
                                  const Cells& b, bool same_hosts) const;
  [[nodiscard]] std::set<std::string> SharedFactors(const Cells& a,
                                                    const Cells& b) const;
  [[nodiscard]] std::string CoupleKey(const Claim& claim, std::size_t cell,
                                      const std::set<std::string>& shared,
                                      bool same_hosts) const;

  [[nodiscard]] const Cell& At(std::size_t cell) const {
    return analysis_.cells[cell];
  }
  [[nodiscard]] const BlockValues& Blocks(std::size_t cell) const {
    return At(cell).by_block[static_cast<std::size_t>(metric_)];
  }
  [[nodiscard]] double Median(std::size_t cell) const {
    return At(cell).figure(metric_)->median;
  }
  [[nodiscard]] double Along(const Claim& claim, std::size_t cell) const;

  const Analysis& analysis_;
  std::size_t study_;
  MedianIntervals& intervals_;
  Cells cells_;
  std::map<std::string, std::set<std::string>> systems_;  // Names, by os.
  Metric metric_ = Metric::kThroughput;
};

Finding Answerer::Answer(const Claim& asked) {
  Claim claim = asked;
  claim.a = WithLinkWords(claim.a);
  claim.b = WithLinkWords(claim.b);
  const std::optional<Metric> metric = MetricFromName(claim.metric);
  if (!metric) return {ClaimAnswer::kNotTested, "no metric of ours", {}};
  metric_ = *metric;
  for (const Selection* selection : {&claim.a, &claim.b}) {
    if (selection == &claim.b && claim.kind != ClaimKind::kRatio) break;
    if (Select(*selection).empty()) {
      return {ClaimAnswer::kNotTested, WhyNone(*selection), {}};
    }
  }
  switch (claim.kind) {
    case ClaimKind::kValue:
      return claim.every ? EveryValue(claim) : Value(claim, Select(claim.a));
    case ClaimKind::kRatio:
      return RatioOf(claim);
    case ClaimKind::kLevelsOff:
      return LevelsOff(claim);
    case ClaimKind::kEffectLarger:
      return EffectLarger(claim);
    case ClaimKind::kKnee:
      return KneeOf(claim);
  }
  return {};
}

std::string Answerer::WhoAnswered(const Claim& claim) const {
  std::set<std::string> named;
  for (const Selection* selection : {&claim.a, &claim.b}) {
    for (const char* key : {"sender.os", "receiver.os"}) {
      const std::vector<FactorValue>* values = Named(*selection, key);
      if (values == nullptr) continue;
      for (const FactorValue& value : *values) named.insert(SpellFactor(value));
    }
  }
  std::string text;
  for (const std::string& os : named) {
    const auto hosts = systems_.find(os);
    if (hosts == systems_.end()) continue;
    text += fmt::format("; {} is {}", FamilyName(os),
                        fmt::join(hosts->second, ", "));
  }
  return text;
}

std::string Answerer::WhereAnswered(const Claim& claim) const {
  std::set<std::string> links;
  for (const Selection* selection : {&claim.a, &claim.b}) {
    const bool named = std::any_of(
        selection->begin(), selection->end(),
        [](const auto& item) { return item.first.starts_with("link."); });
    if (!named) continue;
    for (const std::size_t cell : Select(WithLinkWords(*selection))) {
      links.insert(analysis_.runs[At(cell).run].link.description);
    }
  }
  return links.empty() ? "" : fmt::format("; on {}", fmt::join(links, ", "));
}

std::map<std::string, std::string> Answerer::PlaceOf(
    const Cell& cell, const Selection& selection) const {
  auto place = LinkWords(analysis_.runs[cell.run].link, selection);
  place["sender.os"] = cell.sender_os;
  place["receiver.os"] = cell.receiver_os;
  place["sender.host"] = cell.sender;
  place["receiver.host"] = cell.receiver;
  return place;
}

Cells Answerer::Select(const Selection& selection) const {
  Cells selected;
  for (const std::size_t cell : cells_) {
    if (At(cell).figure(metric_) &&
        Matches(selection, At(cell).factors, PlaceOf(At(cell), selection))) {
      selected.push_back(cell);
    }
  }
  return selected;
}

std::string Answerer::NamesIfMissing(
    const std::vector<FactorValue>& systems) const {
  std::string names;
  for (const FactorValue& value : systems) {
    const std::string os = SpellFactor(value);
    if (systems_.contains(os)) return {};
    names += (names.empty() ? "" : " or ") + FamilyName(os);
  }
  return names;
}

std::string Answerer::MissingSystem(const Selection& selection) const {
  for (const char* key : {"sender.os", "receiver.os"}) {
    const std::vector<FactorValue>* values = Named(selection, key);
    const std::string names =
        values == nullptr ? std::string() : NamesIfMissing(*values);
    if (names.empty()) continue;
    std::string why = fmt::format("no {} host in this run", names);
    if (names != "Windows" || !systems_.contains("wine")) return why;
    return fmt::format("Wine is not Windows: {}, but {}", why,
                       fmt::join(systems_.at("wine"), ", "));
  }
  return {};
}

// No run had the link asked for.
std::string Answerer::MissingLink(const Selection& selection) const {
  Selection link = selection;
  std::erase_if(
      link, [](const auto& item) { return !item.first.starts_with("link."); });
  std::set<std::string> had;
  for (const RunRecord& run : analysis_.runs) {
    if (Matches(link, {}, LinkWords(run.link, link))) return {};
    had.insert(run.link.description);
  }
  return fmt::format("no run with {}; the link was: {}", SpellSelection(link),
                     fmt::join(had, ", "));
}

std::string Answerer::WhyNone(const Selection& selection) const {
  for (std::string missing :
       {MissingSystem(selection), MissingLink(selection)}) {
    if (!missing.empty()) return missing;
  }
  for (const std::size_t cell : cells_) {
    if (!Matches(selection, At(cell).factors, PlaceOf(At(cell), selection)))
      continue;
    const auto reason = At(cell).why_missing.find(metric_);
    return fmt::format("no {} with {}: {}", MetricName(metric_),
                       SpellSelection(selection),
                       reason != At(cell).why_missing.end() ? reason->second
                                                            : At(cell).reason);
  }
  return "no trial with " + SpellSelection(selection);
}

// --- kValue -----------------------------------------------------------------

Finding Answerer::Value(const Claim& claim, const Cells& cells) {
  std::map<int, std::vector<double>> in_block;
  std::vector<double> medians;
  for (const std::size_t cell : cells) {
    medians.push_back(Median(cell));
    for (const auto& [block, value] : Blocks(cell)) {
      in_block[block].push_back(value);
    }
  }
  std::vector<double> blocks;
  blocks.reserve(in_block.size());
  for (auto& [block, values] : in_block) blocks.push_back(SortedMedian(values));
  Estimate estimate = intervals_.Of(std::move(blocks));
  estimate = Including(SortedMedian(medians), estimate);
  return FindingOf(claim, estimate, MetricUnit(metric_),
                   fmt::format("{} of {} is", MetricName(metric_),
                               Counted(cells.size(), "cell")));
}

// Shows the cell that decided.
Finding Answerer::EveryValue(const Claim& claim) {
  const Cells cells = Select(claim.a);
  std::optional<Finding> worst;
  for (const std::size_t cell : cells) {
    Finding finding = Value(claim, {cell});
    finding.why += fmt::format(
        " ({}, {} to {}; each of {} by itself)", At(cell).case_id,
        At(cell).sender, At(cell).receiver, Counted(cells.size(), "cell"));
    KeepWorse(std::move(finding), worst);
  }
  return *std::move(worst);  // Answer() has seen that there are cells.
}

// --- kRatio -----------------------------------------------------------------

// Factors that mean something on both sides: Nagle is nothing to UDP, and
// holds no TCP cell apart from it.
std::set<std::string> Answerer::SharedFactors(const Cells& a,
                                              const Cells& b) const {
  const auto of = [this](const Cells& cells) {
    std::set<std::string> names;
    for (const std::size_t cell : cells) {
      for (const auto& [factor, value] : At(cell).factors) names.insert(factor);
    }
    return names;
  };
  const std::set<std::string> in_b = of(b);
  std::set<std::string> shared = of(a);
  std::erase_if(shared,
                [&](const std::string& name) { return !in_b.contains(name); });
  return shared;
}

// What must be the same in both cells of a couple.
std::string Answerer::CoupleKey(const Claim& claim, std::size_t cell,
                                const std::set<std::string>& shared,
                                bool same_hosts) const {
  const Cell& of = At(cell);
  std::string key = std::to_string(of.run);
  for (const auto& [factor, value] : of.factors) {
    const auto* in_a = Named(claim.a, factor);
    const auto* in_b = Named(claim.b, factor);
    const bool differ = (in_a == nullptr) != (in_b == nullptr) ||
                        (in_a != nullptr && *in_a != *in_b);
    if (!differ && shared.contains(factor))
      key += '\x1f' + factor + '=' + SpellFactor(value);
  }
  if (!same_hosts) return key;
  if (!NamesHost(claim.a, "sender") && !NamesHost(claim.b, "sender")) {
    key += "\x1fsender=" + of.sender;
  }
  if (!NamesHost(claim.a, "receiver") && !NamesHost(claim.b, "receiver")) {
    key += "\x1freceiver=" + of.receiver;
  }
  return key;
}

CellPairs Answerer::Couples(const Claim& claim, const Cells& a, const Cells& b,
                            bool same_hosts) const {
  const std::set<std::string> shared = SharedFactors(a, b);
  std::unordered_map<std::string, Cells> by_key;
  for (const std::size_t cell : b) {
    by_key[CoupleKey(claim, cell, shared, same_hosts)].push_back(cell);
  }
  CellPairs couples;
  for (const std::size_t cell : a) {
    const auto found = by_key.find(CoupleKey(claim, cell, shared, same_hosts));
    if (found == by_key.end()) continue;
    for (const std::size_t other : found->second) {
      if (other != cell) couples.emplace_back(cell, other);
    }
  }
  return couples;
}

Finding Answerer::RatioOf(const Claim& claim) {
  const Cells a = Select(claim.a);
  const Cells b = Select(claim.b);
  std::string remark;
  CellPairs couples = Couples(claim, a, b, true);
  if (couples.empty()) {
    couples = Couples(claim, a, b, false);
    remark =
        "; the other end is not the same host in both, which these pairs "
        "do not allow";
  }
  std::map<int, std::vector<double>> in_block;
  for (const auto& [cell, other] : couples) {
    for (const auto& [block, ratio] :
         RatioByBlock(Blocks(cell), Blocks(other))) {
      in_block[block].push_back(ratio);
    }
  }
  if (in_block.empty()) {
    return {ClaimAnswer::kNotTested,
            fmt::format("no block has both {} and {}, all else equal; runs are "
                        "not paired with each other",
                        SpellSelection(claim.a), SpellSelection(claim.b)),
            {}};
  }
  std::vector<double> blocks;
  blocks.reserve(in_block.size());
  for (auto& [block, ratios] : in_block) blocks.push_back(SortedMedian(ratios));
  Finding finding = FindingOf(
      claim, intervals_.Of(std::move(blocks)), "",
      fmt::format("ratio of {} over {} is", MetricName(metric_),
                  couples.size() == 1
                      ? "1 pair of cells"
                      : fmt::format("{} pairs of cells", couples.size())));
  finding.why += remark;
  return finding;
}

// --- kLevelsOff -------------------------------------------------------------

double Answerer::Along(const Claim& claim, std::size_t cell) const {
  const FactorValue* value = FindFactor(At(cell).factors, claim.across);
  const FactorSpec* spec = FindFactorSpec(claim.across);
  if (value == nullptr || spec == nullptr) return 0;
  return Magnitude(*spec, *value).value_or(0);
}

// metric / across is the same for all cells before the level.
Finding Answerer::Proportion(const Claim& claim, const Cells& curve,
                             double level) {
  std::vector<double> slopes;
  std::vector<Interval> intervals;
  for (const std::size_t cell : curve) {
    if (Median(cell) >= (1 - claim.tolerance) * level) continue;
    const Estimate& estimate = *At(cell).figure(metric_);
    if (!estimate.interval) continue;
    const double along = Along(claim, cell);
    slopes.push_back(estimate.median / along);
    intervals.push_back(
        {estimate.interval->low / along, estimate.interval->high / along});
  }
  if (slopes.size() < 2) {
    return {ClaimAnswer::kNotDistinguishable,
            "fewer than two points lie below the level, so there is no rise "
            "to look at",
            {}};
  }
  const Range range = Around(SortedMedian(slopes), claim.tolerance);
  ClaimAnswer answer = ClaimAnswer::kSupported;
  for (const Interval& interval : intervals) {
    const ClaimAnswer one = Judge(interval, range);
    if (one == ClaimAnswer::kRefuted) answer = one;
    if (one == ClaimAnswer::kNotDistinguishable &&
        answer == ClaimAnswer::kSupported) {
      answer = one;
    }
  }
  return {
      answer,
      fmt::format("before it {} / {} goes from {} to {}", MetricName(metric_),
                  claim.across, FormatNumber(slopes.front()),
                  FormatNumber(slopes.back())),
      {}};
}

Finding Answerer::Curve(const Claim& claim, const Cells& curve) {
  const std::size_t last = *std::max_element(
      curve.begin(), curve.end(), [&](std::size_t a, std::size_t b) {
        return Along(claim, a) < Along(claim, b);
      });
  const Estimate level = *At(last).figure(metric_);
  Finding finding =
      FindingOf(claim, level, MetricUnit(metric_), "the level is");
  if (!level.interval) return finding;
  const Finding rise = Proportion(claim, curve, level.median);
  finding.answer =
      HasCheck(claim) ? Both(finding.answer, rise.answer) : rise.answer;
  finding.why += "; " + rise.why;
  return finding;
}

Finding Answerer::LevelsOff(const Claim& claim) {
  Cells cells;
  for (const std::size_t cell : Select(claim.a)) {
    if (Along(claim, cell) > 0) cells.push_back(cell);
  }
  const auto curves = GroupAllElseEqual(
      analysis_.cells, cells, analysis_.studies[study_].varying, claim.across);
  std::optional<Finding> worst;
  std::size_t tested = 0;
  constexpr std::size_t kLeastPoints = 3;
  for (const Cells& curve : curves) {
    if (curve.size() < kLeastPoints) continue;
    ++tested;
    Finding finding = Curve(claim, curve);
    const Cell& cell = At(curve.front());
    finding.why += fmt::format(" ({} to {})", cell.sender, cell.receiver);
    KeepWorse(std::move(finding), worst);
  }
  if (!worst) {
    return {ClaimAnswer::kNotTested,
            fmt::format("fewer than {} values of {} ran", kLeastPoints,
                        claim.across),
            {}};
  }
  if (tested > 1) worst->why += fmt::format("; {} curves in all", tested);
  return *std::move(worst);
}

// --- kEffectLarger ----------------------------------------------------------

// A cell's figure in one block, or its median.
std::optional<double> Answerer::FigureIn(std::size_t cell,
                                         std::optional<int> block) const {
  if (!block) return Median(cell);
  const auto found = Blocks(cell).find(*block);
  if (found == Blocks(cell).end()) return std::nullopt;
  return found->second;
}

// The largest over the smallest; empty below two, or with a zero.
std::optional<double> Answerer::Spread(const Cells& group,
                                       std::optional<int> block) const {
  std::vector<double> values;
  for (const std::size_t cell : group) {
    if (const auto value = FigureIn(cell, block)) values.push_back(*value);
  }
  if (values.size() < 2) return std::nullopt;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*least <= 0) return std::nullopt;
  return *most / *least;
}

// The geometric mean over groups, each with all else equal.
std::optional<double> Answerer::EffectIn(const std::vector<Cells>& groups,
                                         std::optional<int> block) const {
  double sum = 0;
  int used = 0;
  for (const Cells& group : groups) {
    const auto spread = Spread(group, block);
    if (!spread) continue;
    sum += std::log(*spread);
    ++used;
  }
  if (used == 0) return std::nullopt;
  return std::exp(sum / used);
}

std::vector<double> Answerer::EffectRatios(
    const std::vector<Cells>& across, const std::vector<Cells>& against) const {
  std::set<int> blocks;
  for (const Cells& group : across) {
    for (const std::size_t cell : group) {
      for (const auto& [block, value] : Blocks(cell)) blocks.insert(block);
    }
  }
  std::vector<double> ratios;
  for (const int block : blocks) {
    const auto one = EffectIn(across, block);
    const auto other = EffectIn(against, block);
    if (one && other) ratios.push_back(*one / *other);
  }
  return ratios;
}

Finding Answerer::EffectLarger(const Claim& claim) {
  const Cells cells = Select(claim.a);
  const auto& varying = analysis_.studies[study_].varying;
  const auto groups_of = [&](const std::string& factor) {
    return GroupAllElseEqual(analysis_.cells, cells, varying, factor);
  };
  const std::vector<Cells> by_across = groups_of(claim.across);
  const std::vector<Cells> by_against = groups_of(claim.against);
  const auto across = EffectIn(by_across, std::nullopt);
  const auto against = EffectIn(by_against, std::nullopt);
  if (!across || !against) {
    return {ClaimAnswer::kNotTested,
            fmt::format("{} did not vary, all else equal",
                        across ? claim.against : claim.across),
            {}};
  }
  std::vector<double> ratios = EffectRatios(by_across, by_against);
  if (ratios.empty()) {
    return {ClaimAnswer::kNotTested, "no block has both effects", {}};
  }
  return FindingOf(
      claim, Including(*across / *against, intervals_.Of(std::move(ratios))),
      "",
      fmt::format("{} changes {} {} times, {} {} times; the one over the "
                  "other is",
                  claim.across, MetricName(metric_), FormatNumber(*across),
                  claim.against, FormatNumber(*against)));
}

// --- kKnee ------------------------------------------------------------------

Finding Answerer::KneeOfCurve(const Claim& claim, const Cells& curve) const {
  std::vector<CurvePoint> points;
  for (const std::size_t cell : curve) {
    points.push_back({Along(claim, cell), Blocks(cell)});
  }
  const std::optional<Knee> knee =
      FindKnee(std::move(points), analysis_.runs.front().seed);
  if (!knee) {
    return {ClaimAnswer::kNotTested,
            fmt::format("fewer than {} values of {} ran", kLeastKneeSizes,
                        claim.across),
            {}};
  }
  std::string what = "its knee is " + KneeInWords(*knee);
  if (!knee->interval) return {ClaimAnswer::kNotTested, std::move(what), {}};
  Interval interval = *knee->interval;
  if (knee->open) interval.high = HUGE_VAL;
  return {Judge(interval, RangeOf(claim)),
          fmt::format("{}; {}", what, Expectation(claim, "bytes")),
          Estimate{knee->size, knee->interval, knee->blocks}};
}

Finding Answerer::KneeOf(const Claim& claim) {
  const auto curves =
      GroupAllElseEqual(analysis_.cells, Select(claim.a),
                        analysis_.studies[study_].varying, claim.across);
  std::optional<Finding> worst;
  for (const Cells& curve : curves) {
    Finding finding = KneeOfCurve(claim, curve);
    const Cell& cell = At(curve.front());
    finding.why += fmt::format(" ({} to {})", cell.sender, cell.receiver);
    KeepWorse(std::move(finding), worst);
  }
  if (curves.size() > 1) {
    worst->why += fmt::format("; {} curves in all", curves.size());
  }
  return *std::move(worst);  // Answer() has seen that there are cells.
}

}  // namespace

std::vector<ClaimResult> AnswerClaims(const Analysis& analysis,
                                      MedianIntervals& intervals) {
  const bool synthetic = IsSynthetic(analysis.runs);
  std::vector<ClaimResult> results;
  for (std::size_t study = 0; study < analysis.studies.size(); ++study) {
    Answerer answerer(analysis, study, intervals);
    for (const Claim& claim : analysis.studies[study].claims) {
      Finding finding = answerer.Answer(claim);
      if (finding.answer != ClaimAnswer::kNotTested) {
        finding.why += answerer.WhoAnswered(claim);
        finding.why += answerer.WhereAnswered(claim);
        if (synthetic) finding.why += "; " + std::string(kSyntheticData);
      }
      ClaimResult result{study, claim, finding.answer, std::move(finding.why)};
      if (finding.figure) {
        result.figure = finding.figure->median;
        result.interval = finding.figure->interval;
        result.blocks = finding.figure->blocks;
      }
      results.push_back(std::move(result));
    }
  }
  return results;
}

}  // namespace wiretoll

#include "reports/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/base/units.h"
#include "reports/contrast_words.h"
#include "reports/flow_pictures.h"
#include "reports/size_words.h"
#include "reports/text.h"
#include "reports/window_view.h"
#include "reports/window_words.h"

namespace wiretoll {
namespace {

// A curve has levelled off where it is within this share of its highest.
constexpr double kLevel = 0.95;
// Below this ratio of highest to lowest a curve is called flat.
constexpr double kFlat = 1.1;

struct Sampled {
  std::int64_t write = 0;
  Estimate estimate;
};

std::vector<Sampled> PointsOf(const Series& series, Metric metric) {
  std::vector<Sampled> points;
  for (const auto& [write, group] : series.by_write) {
    const auto& figure = group->figure(metric);
    if (figure.has_value()) points.push_back({write, *figure});
  }
  return points;
}

std::string WriteText(std::int64_t write) { return FormatBytes(Bytes{write}); }

double Highest(const std::vector<Sampled>& points) {
  double highest = 0;
  for (const Sampled& point : points) {
    highest = std::max(highest, point.estimate.median);
  }
  return highest;
}

double Lowest(const std::vector<Sampled>& points) {
  double lowest = points.front().estimate.median;
  for (const Sampled& point : points) {
    lowest = std::min(lowest, point.estimate.median);
  }
  return lowest;
}

// The smallest write that reaches the level.
std::int64_t SmallestAtLevel(const std::vector<Sampled>& points) {
  const double level = kLevel * Highest(points);
  for (const Sampled& point : points) {
    if (point.estimate.median >= level) return point.write;
  }
  return points.back().write;
}

// The first facet's two curves of Nagle, or fewer where one is not there.
struct NaglePair {
  const Series* on = nullptr;
  const Series* off = nullptr;
};

NaglePair FindNagle(const StudyView& view) {
  NaglePair pair;
  if (view.series_factor != "nagle" || view.facets.empty()) return pair;
  for (const Series& series : view.facets.front().series) {
    const FactorValue* value =
        FindFactor(series.by_write.begin()->second->first->factors, "nagle");
    if (value == nullptr) continue;
    const Series*& place = SpellFactor(*value) == "on" ? pair.on : pair.off;
    if (place == nullptr) place = &series;
  }
  return pair;
}

// "; 95 %: 1.5–1.8" for a card; nothing without an interval.
std::string CardInterval(const std::optional<Interval>& interval) {
  if (!interval.has_value()) return {};
  if (interval->low == interval->high) return "; the same in every block";
  return fmt::format("; 95 %: {}", IntervalText(*interval));
}

// " (1.5–1.8)"; nothing without an interval.
std::string InBrackets(const std::optional<Interval>& interval,
                       double scale = 1, const char* unit = "") {
  if (!interval.has_value()) return {};
  return fmt::format(" ({}{})", IntervalText(*interval, scale), unit);
}

// "In the plainest case (rcvbuf unset): "; says which facet is spoken of.
std::string Where(const StudyView& view) {
  const std::string& label = view.facets.front().label;
  return label.empty() ? "" : fmt::format(" ({})", label);
}

std::string LevelText(const StudyView& view, double highest) {
  std::string text = FormatByteRate(highest);
  double best = 0;
  for (const Group& group : view.groups) {
    const auto& theory = group.first->theory;
    if (theory.has_value()) {
      best = std::max(best, theory->best_throughput.value_or(0));
    }
  }
  if (best > 0) {
    text += fmt::format(", {} of what full segments allow",
                        Percent(highest / best));
  }
  return text;
}

std::string OneCurve(const StudyView& view, const Series& series) {
  const std::vector<Sampled> points = PointsOf(series, Metric::kThroughput);
  const double highest = Highest(points);
  if (points.size() < 2) {
    return fmt::format("At {} a write {} arrive{}.", WriteText(points[0].write),
                       LevelText(view, highest), Where(view));
  }
  if (highest < kFlat * Lowest(points)) {
    return fmt::format(
        "The size of a write makes no difference worth the name: {} to {} from "
        "{} to {}{}.",
        FormatByteRate(Lowest(points)), FormatByteRate(highest),
        WriteText(points.front().write), WriteText(points.back().write),
        Where(view));
  }
  return fmt::format(
      "{}: writes of {} are the smallest to reach 95 % of the highest rate, "
      "{}; {} a write gets {}{}.",
      Capital(series.label), WriteText(SmallestAtLevel(points)),
      LevelText(view, highest), WriteText(points.front().write),
      FormatByteRate(points.front().estimate.median), Where(view));
}

std::string TwoKnees(const StudyView& view, const std::vector<Sampled>& on,
                     const std::vector<Sampled>& off) {
  const std::int64_t with = SmallestAtLevel(on);
  const std::int64_t without = SmallestAtLevel(off);
  const std::string level =
      LevelText(view, std::max(Highest(on), Highest(off)));
  if (with < without) {
    return fmt::format(
        "With Nagle, writes of {} reach 95 % of its highest rate; without it "
        "that takes {}{}. The highest: {}.",
        WriteText(with), WriteText(without), Where(view), level);
  }
  if (with > without) {
    return fmt::format(
        "Nagle does not help here: without it writes of {} reach 95 % of the "
        "highest rate, with it that takes {}{}. The highest: {}.",
        WriteText(without), WriteText(with), Where(view), level);
  }
  return fmt::format(
      "With Nagle and without, writes of {} are the smallest measured to reach "
      "95 % of the highest rate{}: {}.",
      WriteText(with), Where(view), level);
}

// Several systems: what each reaches, and from which write on.
std::string ManyCurves(const StudyView& view) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> parts;
  std::size_t more = 0;
  for (const Series& series : view.facets.front().series) {
    const std::vector<Sampled> points = PointsOf(series, Metric::kThroughput);
    if (points.empty()) continue;
    if (parts.size() == kMost) {
      ++more;
      continue;
    }
    parts.push_back(fmt::format("{} with {}, 95 % of it from {} on",
                                FormatByteRate(Highest(points)), series.label,
                                WriteText(SmallestAtLevel(points))));
  }
  return fmt::format("The highest rates{}: {}{}.", Where(view),
                     fmt::join(parts, "; "),
                     more > 0 ? fmt::format("; and {} more curves", more) : "");
}

const Series* FirstWith(const StudyView& view, Metric metric) {
  for (const Series& series : view.facets.front().series) {
    if (!PointsOf(series, metric).empty()) return &series;
  }
  return nullptr;
}

std::string NotObserved(const StudyView& view, Metric metric) {
  return fmt::format("Not observed: {}.", WhyMissing(view, metric));
}

// --- Effects ----------------------------------------------------------------

struct Tally {
  int points = 0, higher = 0, lower = 0;
  int judged = 0;                     // Points that have an interval.
  const EffectPoint* most = nullptr;  // The surest.
  const EffectSeries* where = nullptr;
};

// How far the interval keeps from 1, as a logarithm; empty where it covers 1.
std::optional<double> Sureness(const Ratio& ratio) {
  if (ratio.verdict == Verdict::kNotDistinguishable || !ratio.interval) {
    return std::nullopt;
  }
  const double nearest = ratio.verdict == Verdict::kHigher
                             ? ratio.interval->low
                             : ratio.interval->high;
  return std::abs(std::log(nearest));
}

Tally CountEffects(const std::vector<EffectSeries>& effects) {
  Tally tally;
  double surest = -1;
  for (const EffectSeries& series : effects) {
    for (const EffectPoint& point : series.points) {
      ++tally.points;
      tally.judged += point.ratio.interval ? 1 : 0;
      const std::optional<double> sure = Sureness(point.ratio);
      if (!sure.has_value()) continue;
      ++(point.ratio.verdict == Verdict::kHigher ? tally.higher : tally.lower);
      if (*sure <= surest) continue;
      surest = *sure;
      tally.most = &point;
      tally.where = &series;
    }
  }
  return tally;
}

std::string RatioText(const Ratio& ratio) {
  std::string text = FormatNumber(ratio.median) + "×";
  if (ratio.interval.has_value()) {
    text += fmt::format(" ({})", RatioRange(*ratio.interval));
  }
  return text;
}

// --- Capacity ---------------------------------------------------------------

struct Use {
  double Capacity::*share;
  const char* text;
};
constexpr std::array<Use, 6> kUses{{
    {&Capacity::headers, "went to TCP and IP headers"},
    {&Capacity::framing, "went to Ethernet framing"},
    {&Capacity::retransmission, "went to retransmissions"},
    {&Capacity::window_wait, "waited for the receiver's window"},
    {&Capacity::ack_wait, "waited for acknowledgements"},
    {&Capacity::program_wait, "waited for the program"},
}};

// --- Cards ------------------------------------------------------------------

Card TrialsCard(const Analysis& analysis) {
  const int all = analysis.ok + analysis.failed + analysis.skipped;
  Card card;
  card.figure = fmt::format("{} of {}", analysis.ok, all);
  card.text = all == 1 ? "trial ok" : "trials ok";
  if (analysis.failed > 0) {
    card.text += fmt::format(", {} failed", analysis.failed);
  }
  if (analysis.skipped > 0) {
    card.text += fmt::format(", {} skipped", analysis.skipped);
  }
  const Agreement& seen = analysis.agreement;
  const int both = seen.equal + seen.different;
  if (both > 0) {
    card.text += fmt::format("; segment counts of both ends agree in {} of {}",
                             seen.equal, both);
  } else if (seen.one_observer > 0) {
    card.text += "; segments were counted at one end only";
  }
  return card;
}

void AddEfficiencyCard(const StudyView& view, std::vector<Card>& cards) {
  const NaglePair nagle = FindNagle(view);
  const Series* series =
      nagle.off != nullptr ? nagle.off : FirstWith(view, Metric::kEfficiency);
  if (series == nullptr) return;
  const std::vector<Sampled> points = PointsOf(*series, Metric::kEfficiency);
  if (points.size() < 2) return;
  const Estimate& first = points.front().estimate;
  const Estimate& last = points.back().estimate;
  Card card;
  card.figure =
      fmt::format("{} → {}", Percent(first.median), Percent(last.median));
  card.text = fmt::format(
      "of the line's bytes are payload, from {} to {} "
      "writes ({})",
      WriteText(points.front().write), WriteText(points.back().write),
      series->label);
  if (first.interval.has_value() && last.interval.has_value()) {
    card.text +=
        fmt::format("; 95 %: {} and {} %", IntervalText(*first.interval, 100),
                    IntervalText(*last.interval, 100));
  }
  cards.push_back(std::move(card));
}

void AddSegmentsCard(const StudyView& view, std::vector<Card>& cards) {
  const NaglePair nagle = FindNagle(view);
  const Series* series = nagle.on != nullptr
                             ? nagle.on
                             : FirstWith(view, Metric::kWritesPerSegment);
  if (series == nullptr) return;
  const std::vector<Sampled> points =
      PointsOf(*series, Metric::kWritesPerSegment);
  if (points.empty()) return;
  const Estimate& smallest = points.front().estimate;
  cards.push_back({fmt::format("{} writes", WholeNumber(smallest.median)),
                   fmt::format("share one segment at {} ({}){}",
                               WriteText(points.front().write), series->label,
                               CardInterval(smallest.interval))});
}

void AddNagleCard(const StudyView& view, std::vector<Card>& cards) {
  const std::vector<EffectSeries> effects = EffectsOf(view, "nagle");
  if (effects.empty()) return;
  const EffectPoint& point = effects.front().points.front();
  const std::string write = WriteText(point.write);
  if (!point.ratio.interval.has_value()) {
    cards.push_back(
        {fmt::format("{}×", FormatNumber(point.ratio.median)),
         fmt::format("the throughput with Nagle at {}: {} give{} no "
                     "interval to tell it from 1",
                     write, Count(point.ratio.blocks, "block"),
                     point.ratio.blocks == 1 ? "s" : "")});
    return;
  }
  if (point.ratio.verdict == Verdict::kNotDistinguishable) {
    cards.push_back({"no difference",
                     fmt::format("can be told between Nagle on and off at {}: "
                                 "the ratio's interval {} covers 1",
                                 write, IntervalText(*point.ratio.interval))});
    return;
  }
  cards.push_back({fmt::format("{}×", FormatNumber(point.ratio.median)),
                   fmt::format("the throughput with Nagle at {}{}", write,
                               CardInterval(point.ratio.interval))});
}

void AddThroughputCard(const StudyView& view, std::vector<Card>& cards) {
  const Series* series = FirstWith(view, Metric::kThroughput);
  if (series == nullptr) return;
  const std::vector<Sampled> points = PointsOf(*series, Metric::kThroughput);
  const auto most = std::max_element(
      points.begin(), points.end(), [](const Sampled& a, const Sampled& b) {
        return a.estimate.median < b.estimate.median;
      });
  cards.push_back(
      {FormatByteRate(most->estimate.median),
       fmt::format("is the highest rate, with {} writes ({}){}",
                   WriteText(most->write), series->label,
                   InBrackets(most->estimate.interval, 1e-6, " MB/s"))});
}

struct Slowest {
  const Group* slow = nullptr;
  const Group* fast = nullptr;
};

Slowest FindSlowest(const StudyView& view) {
  Slowest found;
  for (const Group* group : view.latency) {
    const auto& figure = group->figure(Metric::kLatencyP50);
    if (!figure.has_value()) continue;
    const auto median = [](const Group* g) {
      return g->figure(Metric::kLatencyP50)->median;
    };
    if (found.slow == nullptr || median(group) > median(found.slow)) {
      found.slow = group;
    }
    if (found.fast == nullptr || median(group) < median(found.fast)) {
      found.fast = group;
    }
  }
  return found;
}

void AddLatencyCards(const StudyView& view, std::vector<Card>& cards) {
  const Slowest found = FindSlowest(view);
  if (found.slow == nullptr) return;
  for (const Group* group : {found.slow, found.fast}) {
    const Estimate& median = *group->figure(Metric::kLatencyP50);
    cards.push_back({TimeText(median.median),
                     fmt::format("is the median round trip of {}{}",
                                 CaseText(view, *group, {"pattern"}),
                                 InBrackets(median.interval, 1e-6, " ms"))});
    if (found.slow == found.fast) break;
  }
}

}  // namespace

std::string WhyMissing(const StudyView& view, Metric metric) {
  std::map<std::string, int> reasons;
  for (const Group& group : view.groups) {
    for (const std::size_t index : group.cells) {
      const Cell& cell = view.analysis->cells[index];
      if (cell.figure(metric).has_value()) continue;
      const auto own = cell.why_missing.find(metric);
      const std::string reason =
          own != cell.why_missing.end() ? own->second : cell.reason;
      if (!reason.empty()) ++reasons[reason];
    }
  }
  const auto most = std::max_element(
      reasons.begin(), reasons.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == reasons.end() ? "no trial gave a reason"
                               : Printable(most->first);
}

std::string ThroughputSentence(const StudyView& view) {
  const NaglePair nagle = FindNagle(view);
  if (view.pools.size() == 1 && nagle.on != nullptr && nagle.off != nullptr) {
    const auto on = PointsOf(*nagle.on, Metric::kThroughput);
    const auto off = PointsOf(*nagle.off, Metric::kThroughput);
    if (on.size() > 1 && off.size() > 1 &&
        (Highest(on) >= kFlat * Lowest(on) ||
         Highest(off) >= kFlat * Lowest(off))) {
      return TwoKnees(view, on, off);
    }
  }
  const Series* series = FirstWith(view, Metric::kThroughput);
  if (series == nullptr) return NotObserved(view, Metric::kThroughput);
  return view.pools.size() > 1 ? ManyCurves(view) : OneCurve(view, *series);
}

// ", and 74.1 % to 94.0 % at 256 B": the largest write's, over the curves.
std::string HighestShares(const std::vector<Series>& curves) {
  std::int64_t largest = 0;
  std::vector<double> shares;
  for (const Series& series : curves) {
    const auto points = PointsOf(series, Metric::kEfficiency);
    if (points.size() < 2 || points.back().write < largest) continue;
    if (points.back().write > largest) shares.clear();
    largest = points.back().write;
    shares.push_back(points.back().estimate.median);
  }
  if (shares.empty()) return "";
  const auto [low, high] = std::minmax_element(shares.begin(), shares.end());
  const std::string first = Percent(*low);
  const std::string last = Percent(*high);
  return fmt::format(", and {}{} at {}", first == last ? "" : first + " to ",
                     last, WriteText(largest));
}

std::string EfficiencySentence(const StudyView& view) {
  const Series* any = FirstWith(view, Metric::kEfficiency);
  if (any == nullptr) return NotObserved(view, Metric::kEfficiency);
  std::vector<std::string> parts;
  std::int64_t smallest = 0;
  for (const Series& series : view.facets.front().series) {
    const auto points = PointsOf(series, Metric::kEfficiency);
    if (points.empty()) continue;
    smallest = points.front().write;
    parts.push_back(fmt::format(
        "{} ({})", Percent(points.front().estimate.median), series.label));
  }
  std::string text =
      fmt::format("Of what the line carries, payload is {} at {} a write",
                  fmt::join(parts, ", "), WriteText(smallest));
  text += HighestShares(view.facets.front().series);
  const auto& theory = any->by_write.begin()->second->first->theory;
  if (theory.has_value()) {
    text += fmt::format(". A segment for each write would make it {}",
                        Percent(theory->worst_efficiency));
  }
  return text + Where(view) + ".";
}

std::string SegmentsSentence(const StudyView& view) {
  constexpr double kAlone = 1.05;
  constexpr double kWhole = 0.995;  // Below it some writes were cut.
  if (FirstWith(view, Metric::kWritesPerSegment) == nullptr) {
    return NotObserved(view, Metric::kWritesPerSegment);
  }
  std::vector<std::string> shared, alone;
  std::string write;
  for (const Series& series : view.facets.front().series) {
    const auto points = PointsOf(series, Metric::kWritesPerSegment);
    if (points.empty()) continue;
    write = WriteText(points.front().write);
    const double writes = points.front().estimate.median;
    if (writes >= kWhole && writes < kAlone) {
      alone.push_back(series.label);
    } else {
      shared.push_back(
          fmt::format("{} ({})", WholeNumber(writes), series.label));
    }
  }
  if (shared.empty()) {
    return fmt::format(
        "At {} every write left as a segment of its own, in every case "
        "drawn{}.",
        write, Where(view));
  }
  std::string text = fmt::format("At {} a segment takes up {} writes", write,
                                 fmt::join(shared, ", "));
  if (!alone.empty()) {
    text += fmt::format("; each write is a segment of its own with {}",
                        fmt::join(alone, ", "));
  }
  return text + Where(view) + ".";
}

std::string EffectSentence(const std::vector<EffectSeries>& effects,
                           const std::string& noun) {
  const Tally tally = CountEffects(effects);
  if (tally.judged == 0 && tally.points > 0) {
    return fmt::format(
        "Whether {} changes throughput is not known: none of {} has the three "
        "blocks that an interval takes.",
        noun, Count(tally.points, "comparison"));
  }
  if (tally.most == nullptr) {
    return fmt::format(
        "No effect of {} on throughput can be told from the noise in any of "
        "{}.",
        noun, Count(tally.judged, "comparison"));
  }
  const int silent = tally.judged - tally.higher - tally.lower;
  std::string text =
      fmt::format("{} changes throughput most at {} a write: {} with {}{}{}",
                  Capital(noun), WriteText(tally.most->write),
                  RatioText(tally.most->ratio), tally.where->label,
                  tally.where->facet.empty() ? "" : ", ", tally.where->facet);
  text += fmt::format(". Higher in {}, lower in {} of {}", tally.higher,
                      tally.lower, Count(tally.judged, "comparison"));
  if (silent > 0) {
    text += fmt::format("; in {} no difference can be told", silent);
  }
  return text + fmt::format("; chance alone would tell up to {} apart.",
                            ByChance(static_cast<std::size_t>(tally.judged)));
}

std::size_t ByChance(std::size_t comparisons) {
  return (comparisons + 19) / 20;
}

std::string CapacitySentence(const StudyView& view,
                             const std::vector<const Group*>& drawn) {
  const auto least = std::min_element(
      drawn.begin(), drawn.end(), [](const Group* a, const Group* b) {
        return a->capacity->payload < b->capacity->payload;
      });
  const Capacity& capacity = *(*least)->capacity;
  const auto most = std::max_element(
      kUses.begin(), kUses.end(), [&capacity](const Use& a, const Use& b) {
        return capacity.*a.share < capacity.*b.share;
      });
  constexpr double kNearlyAll = 0.9;
  if (capacity.payload >= kNearlyAll) {
    return fmt::format(
        "In every case drawn at least {} of the line's capacity carried "
        "payload.",
        Percent(capacity.payload));
  }
  return fmt::format(
      "Least was left for payload with {}: {} of the line's capacity, while {} "
      "{}.",
      CaseText(view, **least), Percent(capacity.payload),
      Percent(capacity.*most->share), most->text);
}

std::string LatencySentence(const StudyView& view) {
  const Slowest found = FindSlowest(view);
  if (found.slow == nullptr) return NotObserved(view, Metric::kLatencyP50);
  const double slow = found.slow->figure(Metric::kLatencyP50)->median;
  const double fast = found.fast->figure(Metric::kLatencyP50)->median;
  const auto& stalls = found.slow->figure(Metric::kStalls);
  const std::string stalled =
      stalls.has_value() && stalls->median > 0
          ? fmt::format(
                "; in its median trial {:.4g} rounds took over 30 ms, as a "
                "delayed acknowledgement does",
                stalls->median)
          : "";
  const std::string slowest = CaseText(view, *found.slow, {"pattern"});
  if (slow < 2 * fast) {
    return fmt::format(
        "No case stands out: median round trips lie between {} and {}{}.",
        TimeText(fast), TimeText(slow), stalled);
  }
  return fmt::format(
      "{} waits longest: {} in the median, {} times as long as the "
      "fastest{}.",
      Capital(slowest), TimeText(slow), FormatNumber(slow / fast), stalled);
}

std::string BufferSentence(const std::vector<BufferRow>& rows) {
  int asked = 0, other = 0;
  const BufferRow* widest = nullptr;
  double most = 0;
  for (const BufferRow& row : rows) {
    const std::optional<Bytes> wanted = ParseBytes(row.requested);
    if (!wanted.has_value() || !row.effective_low.has_value()) continue;
    ++asked;
    if (*row.effective_low == wanted->count) continue;
    ++other;
    const double times = std::abs(std::log(
        static_cast<double>(std::max<std::int64_t>(*row.effective_low, 1)) /
        static_cast<double>(std::max<std::int64_t>(wanted->count, 1))));
    if (times <= most) continue;
    most = times;
    widest = &row;
  }
  if (asked == 0) return "No buffer of a given size was read back.";
  if (widest == nullptr) {
    return fmt::format("Every size asked for was read back as asked ({}).",
                       Count(asked, "row"));
  }
  return fmt::format(
      "What is asked for is not what is given: {} of {} read back otherwise; "
      "farthest off, {} {} became {}.",
      other, Count(asked, "size"), widest->buffer, Printable(widest->requested),
      *widest->effective_low);
}

std::string ObserverText(const std::string& observer) {
  if (observer == "capture") return "a capture on the link";
  if (observer == "receiver-counters") return "the receiving end's kernel";
  if (observer == "sender-counters") return "the sending end's kernel";
  return observer == "none" || observer.empty() ? "nobody"
                                                : Printable(observer);
}

std::string ObserverSentence(const Agreement& agreement) {
  std::vector<std::string> parts;
  for (const auto& [observer, trials] : agreement.observers) {
    parts.push_back(fmt::format("{} in {}", ObserverText(observer),
                                Count(trials, "trial")));
  }
  if (parts.empty()) return {};
  return fmt::format("Segments were counted by {}.", fmt::join(parts, ", by "));
}

namespace {

constexpr std::size_t kMostCards = 3;

// By what the study varies. False if it has no streams.
bool AddStreamCards(const StudyView& view, std::vector<Card>& cards) {
  if (IsFlowStudy(view)) {
    AddFlowCards(view, cards);
  } else if (IsWindowStudy(view)) {
    AddWindowCards(view, cards);
  } else if (view.facets.empty()) {
    return false;
  } else if (view.sizes) {
    AddSizeCards(view, cards);
  } else {
    AddEfficiencyCard(view, cards);
    AddSegmentsCard(view, cards);
    AddNagleCard(view, cards);
    if (cards.size() < kMostCards) AddThroughputCard(view, cards);
  }
  return true;
}

}  // namespace

std::vector<Card> AnswerCards(const Analysis& analysis,
                              const std::vector<StudyView>& views) {
  std::vector<Card> cards;
  AddContrastCards(analysis, cards);
  bool streams = false;
  for (const StudyView& view : views) {
    streams = streams || AddStreamCards(view, cards);
    if (cards.size() < kMostCards) AddLatencyCards(view, cards);
  }
  if (cards.size() > kMostCards) cards.resize(kMostCards);
  cards.push_back(TrialsCard(analysis));
  return cards;
}

}  // namespace wiretoll

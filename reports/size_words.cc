#include "reports/size_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>

#include "harness/base/units.h"
#include "harness/base/words.h"
#include "harness/theory/overhead.h"
#include "harness/theory/predict.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

// Fixed: the same run folder makes the same report.
constexpr std::uint64_t kKneeSeed = 20110214;

std::string WholeText(double number) { return fmt::format("{:.0f}", number); }

const RecordedLink* LinkOf(const StudyView& view, const Cell& cell) {
  const std::vector<RunRecord>& runs = view.analysis->runs;
  return cell.run < runs.size() ? &runs[cell.run].link : nullptr;
}

const Cell& FirstCell(const Series& series) {
  return *series.by_write.begin()->second->first;
}

std::optional<BitsPerSecond> RateFor(const StudyView& view,
                                     const Series& series) {
  const RecordedLink* link = LinkOf(view, FirstCell(series));
  if (link == nullptr || !link->rate_bits_per_second) return std::nullopt;
  const double flows = FlowsOnTheLine(view, *series.by_write.begin()->second);
  return BitsPerSecond{*link->rate_bits_per_second / flows};
}

// By the sender's address, as run.json has it.
HeaderStack UdpStack(const StudyView& view, const Cell& cell) {
  HeaderStack stack{4, Transport::kUdp, false, false};
  if (cell.run >= view.analysis->runs.size()) return stack;
  for (const RecordedHost& host : view.analysis->runs[cell.run].hosts) {
    const bool six = host.address.find(':') != std::string::npos;
    if (host.name == cell.sender && six) stack.ip_version = 6;
  }
  return stack;
}

std::optional<Bytes> MtuOf(const StudyView& view, const Series& series) {
  constexpr std::int64_t kLeast = 576;
  for (const auto& [size, group] : series.by_write) {
    const auto& totals = group->first->datagrams;
    if (totals && totals->mtu_bytes && *totals->mtu_bytes >= kLeast) {
      return Bytes{*totals->mtu_bytes};
    }
  }
  const RecordedLink* link = LinkOf(view, FirstCell(series));
  if (link == nullptr || !link->mtu || *link->mtu < kLeast) return std::nullopt;
  return Bytes{*link->mtu};
}

// " (gap 15.6ms)"; nothing where there is one facet.
std::string WhichFacet(const StudyView& view, const Facet& facet) {
  if (view.facets.size() < 2 || facet.label.empty()) return {};
  return fmt::format(" ({})", facet.label);
}

std::string KneesOfFacet(const StudyView& view, const Facet& facet) {
  std::vector<std::string> parts;
  for (const Series& series : facet.series) {
    const std::optional<Knee> knee = KneeOf(view, series);
    if (!knee) continue;
    parts.push_back(fmt::format("{}{} {}", series.label,
                                knee->kind == KneeKind::kFound ? " at" : ":",
                                KneeInWords(*knee)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

// Sizes, from the smallest on, of which a block takes the same time.
struct Even {
  std::int64_t last = 0;     // The largest of them.
  double low = 0, high = 0;  // Seconds a block.
};

// Empty where that time is not the pause and little more.
std::optional<Even> EvenBlocks(const Series& series, double pause) {
  constexpr double kSame = 1.15;
  constexpr double kMostPauses = 1.5;
  constexpr double kLeastPauses = 0.95;
  std::optional<Even> even;
  for (const auto& [size, group] : series.by_write) {
    const auto& rate = group->figure(Metric::kThroughput);
    if (!rate || !(rate->median > 0)) continue;
    const double time = static_cast<double>(size) / rate->median;
    if (!even) {
      if (time < kLeastPauses * pause || time > kMostPauses * pause) break;
      even = Even{size, time, time};
      continue;
    }
    const double low = std::min(even->low, time);
    const double high = std::max(even->high, time);
    if (high > kSame * low) break;
    even = Even{size, low, high};
  }
  return even;
}

// What the pause did to the curves that have one.
std::string PauseSentence(const StudyView& view) {
  for (const Facet& facet : view.facets) {
    const std::optional<double> pause = PauseOf(facet);
    if (!pause) continue;
    std::vector<std::string> parts;
    for (const Series& series : facet.series) {
      const auto even = EvenBlocks(series, *pause);
      if (!even) continue;
      parts.push_back(fmt::format(
          "{} to {} up to {} ({})", TimeText(even->low * 1e9),
          TimeText(even->high * 1e9),
          PayloadText(static_cast<double>(even->last)), series.label));
    }
    if (parts.empty()) continue;
    return fmt::format(
        " With the pause of {} a {} takes the same time whatever its size, {}: "
        "there the pause makes the curve, not the network.",
        TimeText(*pause * 1e9), view.size_factor, fmt::join(parts, ", "));
  }
  return {};
}

// --- Shares -----------------------------------------------------------------

// Calls `visit` with each group that a picture of sizes shows, its facet, its
// series and its size.
template <class Visit>
void ForEachGroup(const StudyView& view, Visit visit) {
  for (const Facet& facet : view.facets) {
    for (const Series& series : facet.series) {
      for (const auto& [size, group] : series.by_write) {
        visit(facet, series, size, *group);
      }
    }
  }
}

struct Least {
  const Facet* facet = nullptr;
  const Series* series = nullptr;
  std::int64_t size = 0;
  const Estimate* figure = nullptr;
};

Least LeastReceived(const StudyView& view, bool udp) {
  Least least;
  ForEachGroup(view, [&](const Facet& facet, const Series& series,
                         std::int64_t size, const Group& group) {
    const auto& figure = group.figure(Metric::kReceivedShare);
    if (IsUdp(series) != udp || !figure) return;
    if (least.figure != nullptr && figure->median >= least.figure->median) {
      return;
    }
    least = {&facet, &series, size, &*figure};
  });
  return least;
}

std::string ShareRange(const std::optional<Interval>& interval) {
  if (!interval || interval->low == interval->high) return {};
  return fmt::format(" ({}–{})", ShareText(std::max(interval->low, 0.0)),
                     ShareText(std::min(interval->high, 1.0)));
}

std::string DeliveredText(const StudyView& view, const Least& least,
                          const char* what) {
  if (least.figure->median >= 1) {
    return fmt::format("{} delivers 100 % at every size", what);
  }
  return fmt::format("{} delivers least at {}{}: {}{} of what was sent", what,
                     PayloadText(static_cast<double>(least.size)),
                     WhichFacet(view, *least.facet),
                     ShareText(least.figure->median),
                     ShareRange(least.figure->interval));
}

// --- What became of datagrams -----------------------------------------------

struct Worst {
  const Facet* facet = nullptr;
  std::int64_t size = 0;
  DatagramFates fates;
};

struct Cause {
  double DatagramFates::*share;
  const char* text;
};
constexpr std::array<Cause, 5> kCauses{{
    {&DatagramFates::no_buffers,
     "were not sent, for the sending host's own queue was full"},
    {&DatagramFates::not_sent_otherwise, "were not sent for other reasons"},
    {&DatagramFates::lost_at_receiver,
     "found no room in the receiver's buffer"},
    {&DatagramFates::lost_on_path, "were lost on the path"},
    {&DatagramFates::lost_somewhere, "were lost, where is not known"},
}};

std::optional<Worst> WorstFates(const StudyView& view) {
  std::optional<Worst> worst;
  ForEachGroup(view, [&](const Facet& facet, const Series& /*series*/,
                         std::int64_t size, const Group& group) {
    const auto totals = TotalsOf(view, group);
    const auto fates = totals ? FatesOf(*totals) : std::nullopt;
    if (!fates) return;
    if (worst && fates->received >= worst->fates.received) return;
    worst = Worst{&facet, size, *fates};
  });
  return worst;
}

struct Extremes {
  double low = 0, high = 0;
  std::int64_t low_size = 0, high_size = 0;
  bool any = false;

  void Take(std::int64_t size, double value) {
    if (!any || value < low) {
      low = value;
      low_size = size;
    }
    if (!any || value > high) {
      high = value;
      high_size = size;
    }
    any = true;
  }
};

// Of UDP's cases in the first facet.
Extremes ExtremesOf(const StudyView& view, Metric metric) {
  Extremes range;
  for (const Series& series : view.facets.front().series) {
    if (!IsUdp(series)) continue;
    for (const auto& [size, group] : series.by_write) {
      const auto& figure = group->figure(metric);
      if (figure) range.Take(size, figure->median);
    }
  }
  return range;
}

std::string ExtremesText(const Extremes& range) {
  if (range.low_size == range.high_size) return TimeText(range.low);
  return fmt::format("{} (at {}) to {} (at {})", TimeText(range.low),
                     PayloadText(static_cast<double>(range.low_size)),
                     TimeText(range.high),
                     PayloadText(static_cast<double>(range.high_size)));
}

Card KneeCard(const Series& series, const Knee& knee) {
  if (knee.kind == KneeKind::kFound) {
    std::string words = KneeInWords(knee);
    const auto bracket = words.find(" (");
    words = bracket == std::string::npos ? "" : words.substr(bracket);
    return {PayloadText(knee.size),
            fmt::format("is where {} stops growing in throughput{}",
                        series.label, words)};
  }
  return {"no knee", fmt::format("of {} in the range: {}", series.label,
                                 knee.kind == KneeKind::kStillGrowing
                                     ? "it still grows at the largest size"
                                     : "the smallest size is as fast as any")};
}

}  // namespace

std::string PayloadText(double bytes) {
  return GroupDigits(std::llround(bytes)) + " B";
}

std::string ShareText(double share) {
  std::string text = Percent(share);
  if (share >= 1 || text != Percent(1)) return text;
  text = fmt::format("{:.4f} %", kPercent * share);
  return text == "100.0000 %" ? "just under 100 %" : text;
}

bool IsUdp(const Series& series) { return IsUdp(FirstCell(series)); }

// Flows at once share a line now so and now so; what they get together is what
// the line and the hosts can do.
std::optional<Knee> KneeOf(const StudyView& view, const Series& series) {
  std::vector<CurvePoint> points;
  for (const auto& [size, group] : series.by_write) {
    const auto& totals =
        group->first
            ->by_block[static_cast<std::size_t>(Metric::kTotalThroughput)];
    const bool at_once = FlowsOnTheLine(view, *group) > 1 && !totals.empty();
    points.push_back(
        {static_cast<double>(size),
         at_once ? totals
                 : PooledBlocks(*view.analysis, *group, Metric::kThroughput)});
  }
  return FindKnee(std::move(points), kKneeSeed);
}

std::string KneeRule() {
  return fmt::format(
      "A curve's knee is the smallest size that no larger one beats by more "
      "than {} % in median throughput; its interval is the rule's own over "
      "resampled blocks (95 %). Of flows at once it is the knee of their "
      "total.",
      WholeText(kPercent * kGrowth));
}

std::optional<double> PauseOf(const Facet& facet) {
  if (facet.series.empty()) return std::nullopt;
  const FactorValue* gap =
      FindFactor(FirstCell(facet.series.front()).factors, "gap");
  if (gap == nullptr) return std::nullopt;
  const auto pause = ParseDuration(SpellFactor(*gap));
  if (!pause || pause->count() <= 0) return std::nullopt;
  return std::chrono::duration<double>(*pause).count();
}

std::optional<DatagramTotals> TotalsOf(const StudyView& view,
                                       const Group& group) {
  std::optional<DatagramTotals> totals;
  for (const std::size_t index : group.cells) {
    const auto& own = view.analysis->cells[index].datagrams;
    if (own) totals = totals ? Sum(*totals, *own) : own;
  }
  return totals;
}

double FlowsOnTheLine(const StudyView& view, const Group& group) {
  for (const FlowSet& set : view.analysis->flow_sets) {
    const auto found = std::ranges::find(set.cells, group.cells.front());
    if (found == set.cells.end()) continue;
    const auto& cells = view.analysis->cells;
    const auto sharing = [&](std::string Cell::*end) {
      return std::ranges::count_if(set.cells, [&](std::size_t index) {
        return cells[index].*end == cells[*found].*end;
      });
    };
    const auto pairs =
        std::max(sharing(&Cell::sender), sharing(&Cell::receiver));
    return static_cast<double>(pairs) * set.flows /
           static_cast<double>(set.cells.size());
  }
  return 1;
}

std::optional<double> TcpLimit(const StudyView& view, const Series& series) {
  const auto rate = RateFor(view, series);
  if (!rate) return std::nullopt;
  double best = 0;
  for (const auto& [size, group] : series.by_write) {
    const auto& theory = group->first->theory;
    if (theory) best = std::max(best, theory->best_efficiency);
  }
  if (!(best > 0)) return std::nullopt;
  return LineLimit(*rate, best);
}

std::optional<double> UdpLimit(const StudyView& view, const Series& series,
                               std::int64_t size) {
  const auto rate = RateFor(view, series);
  const auto mtu = MtuOf(view, series);
  if (!rate || !mtu || size < 1) return std::nullopt;
  const HeaderStack stack = UdpStack(view, FirstCell(series));
  const std::int64_t write =
      view.size_factor == "write"
          ? size
          : std::min(size, WriteOf(FirstCell(series).factors).value_or(size));
  const auto whole = CostOfDatagram(Bytes{write}, *mtu, stack);
  if (!whole) return std::nullopt;
  const std::int64_t rest = size % write;
  const std::int64_t whole_ones = size / write;
  double line = static_cast<double>(whole_ones) *
                static_cast<double>(whole->cost.l1.count);
  if (rest > 0) {
    const auto last = CostOfDatagram(Bytes{rest}, *mtu, stack);
    if (!last) return std::nullopt;
    line += static_cast<double>(last->cost.l1.count);
  }
  return LineLimit(*rate, static_cast<double>(size) / line);
}

std::optional<std::int64_t> WholeDatagram(const StudyView& view,
                                          const Series& series) {
  const auto mtu = MtuOf(view, series);
  if (!mtu) return std::nullopt;
  return LargestPayload(*mtu, UdpStack(view, FirstCell(series))).count;
}

std::string KneeSentence(const StudyView& view) {
  std::vector<std::string> parts;
  for (const Facet& facet : view.facets) {
    const std::string knees = KneesOfFacet(view, facet);
    if (knees.empty()) continue;
    constexpr std::size_t kMost = 2;
    if (parts.size() == kMost) break;
    parts.push_back(view.facets.size() < 2
                        ? knees
                        : fmt::format("with {}: {}", facet.label, knees));
  }
  if (parts.empty()) {
    return fmt::format(
        "No knee is looked for: that takes {} sizes with a figure.{}",
        kLeastKneeSizes, PauseSentence(view));
  }
  return fmt::format("Beyond its knee no size is more than {} % faster. {}.{}",
                     WholeText(kPercent * kGrowth),
                     Capital(fmt::format("{}", fmt::join(parts, "; and "))),
                     PauseSentence(view));
}

std::string ReceivedSentence(const StudyView& view) {
  const Least tcp = LeastReceived(view, false);
  const Least udp = LeastReceived(view, true);
  if (tcp.figure == nullptr && udp.figure == nullptr) {
    return "Not observed: no trial was ok.";
  }
  std::vector<std::string> parts;
  if (udp.figure != nullptr) parts.push_back(DeliveredText(view, udp, "UDP"));
  if (tcp.figure != nullptr) parts.push_back(DeliveredText(view, tcp, "TCP"));
  return fmt::format("{}.", fmt::join(parts, "; "));
}

std::string FatesSentence(const StudyView& view) {
  const std::optional<Worst> worst = WorstFates(view);
  if (!worst) {
    return fmt::format("Not observed: {}.",
                       WhyNoDatagramFigure(view, Metric::kLoss));
  }
  if (worst->fates.received >= 1) {
    return "Every datagram that the program handed over arrived.";
  }
  std::vector<std::string> parts;
  for (const Cause& cause : kCauses) {
    const double share = worst->fates.*cause.share;
    if (share > 0) {
      parts.push_back(fmt::format("{} {}", ShareText(share), cause.text));
    }
  }
  return fmt::format(
      "Least arrived at {}{}: {} of what the program handed over; {}.",
      PayloadText(static_cast<double>(worst->size)),
      WhichFacet(view, *worst->facet), ShareText(worst->fates.received),
      fmt::join(parts, ", "));
}

std::string DuplicatesLine(const StudyView& view) {
  std::int64_t received = 0, duplicated = 0;
  bool unknown = false;
  for (const Cell& cell : view.analysis->cells) {
    if (cell.study != view.study || !cell.datagrams) continue;
    if (!cell.datagrams->duplicated) {
      unknown = true;
      continue;
    }
    received += cell.datagrams->received;
    duplicated += *cell.datagrams->duplicated;
  }
  std::string text =
      received == 0 ? ""
      : duplicated == 0
          ? " No datagram came twice."
          : fmt::format(" Duplicates, {} of {} received, are not counted in.",
                        duplicated, received);
  if (unknown) {
    text += fmt::format(" Where duplicates were not observed: {}.",
                        WhyNoDatagramFigure(view, Metric::kDuplicated));
  }
  return text;
}

std::string DelaySentence(const StudyView& view) {
  const Extremes median = ExtremesOf(view, Metric::kDelayP50);
  const Extremes slow = ExtremesOf(view, Metric::kDelayP99);
  const Extremes jitter = ExtremesOf(view, Metric::kJitter);
  std::string text;
  if (median.any) {
    text = fmt::format("Half of the datagrams take no longer than {}",
                       ExtremesText(median));
    if (slow.any) {
      text += fmt::format(", and 99 % at most {}", TimeText(slow.high));
    }
    text += WhichFacet(view, view.facets.front()) + ".";
  } else {
    text = fmt::format("One-way delay is not given: {}.",
                       WhyNoDatagramFigure(view, Metric::kDelayP50));
  }
  if (!jitter.any) {
    return text + fmt::format(" Nor is jitter: {}.",
                              WhyNoDatagramFigure(view, Metric::kJitter));
  }
  return text + fmt::format(" Jitter is {}.", ExtremesText(jitter));
}

std::string WhyNoDatagramFigure(const StudyView& view, Metric metric) {
  std::map<std::string, int> reasons;
  for (const Cell& cell : view.analysis->cells) {
    if (cell.study != view.study || !IsUdp(cell)) continue;
    if (cell.figure(metric)) continue;
    const auto own = cell.why_missing.find(metric);
    const std::string& reason =
        own == cell.why_missing.end() ? cell.reason : own->second;
    if (!reason.empty()) ++reasons[reason];
  }
  const auto most = std::ranges::max_element(
      reasons, {}, [](const auto& entry) { return entry.second; });
  return most == reasons.end() ? "no trial ran over UDP"
                               : Printable(most->first);
}

void AddSizeCards(const StudyView& view, std::vector<Card>& cards) {
  constexpr std::size_t kMost = 2;
  for (const Series& series : view.facets.front().series) {
    const std::optional<Knee> knee = KneeOf(view, series);
    if (knee && cards.size() < kMost) cards.push_back(KneeCard(series, *knee));
  }
  const Least udp = LeastReceived(view, true);
  if (udp.figure == nullptr) return;
  cards.push_back(
      {ShareText(udp.figure->median),
       udp.figure->median >= 1
           ? "of UDP's datagrams arrived, at every size"
           : fmt::format("of UDP's datagrams arrived at {}{}, the least{}",
                         PayloadText(static_cast<double>(udp.size)),
                         WhichFacet(view, *udp.facet),
                         ShareRange(udp.figure->interval))});
}

}  // namespace wiretoll

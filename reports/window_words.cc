#include "reports/window_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "harness/base/words.h"
#include "reports/size_words.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

constexpr std::uint64_t kWindowRatioSeed = 20110214;
// What the study asks of theory.
constexpr double kAsTheory = 0.05;

// Throughput over the lesser of W/RTT and the line.
std::optional<double> OfBound(const WindowPoint& point) {
  if (const auto& share = point.group->figure(Metric::kBoundShare))
    return share->median;
  const auto least = BoundOf(*point.group->first).least();
  if (!least || *least <= 0) return std::nullopt;
  return point.speed.median / *least;
}

// Of those buffers that are the limit: others need not be full.
std::string BufferWords(const WindowCurve& curve) {
  std::vector<double> shares;
  for (const WindowPoint& point : curve.points) {
    const auto share = InFlightShareOf(*point.group->first, point.speed.median);
    const CellLimit limit = LimitOf(*point.group->first);
    if (share && limit.limit == StreamLimit::kSendBuffer)
      shares.push_back(*share);
  }
  if (shares.empty()) return "no buffer measured was the limit";
  const auto [least, most] = std::ranges::minmax_element(shares);
  std::string share = Percent(*least);
  if (*least != *most) share += " to " + Percent(*most);
  return fmt::format(
      "where the send buffer is the limit, {} of it are data in flight", share);
}

std::string TheoryWords(const WindowCurve& curve) {
  if (curve.buffer == Buffer::kSend) return BufferWords(curve);
  int near = 0, known = 0;
  const WindowPoint* farthest = nullptr;
  double off = 0;
  for (const WindowPoint& point : curve.points) {
    const auto share = OfBound(point);
    if (!share) continue;
    ++known;
    if (std::fabs(*share - 1) <= kAsTheory) ++near;
    if (farthest != nullptr && std::fabs(*share - 1) <= std::fabs(off))
      continue;
    farthest = &point;
    off = *share - 1;
  }
  if (farthest == nullptr) return "theory is not known";
  std::string text = fmt::format(
      "{} of {} windows carry what window / RTT or the line allows to within "
      "5 %",
      near, known);
  if (near < known) {
    text += fmt::format(", the farthest, {}, {:.0f} % {}", AskedText(*farthest),
                        100 * std::fabs(off), off < 0 ? "less" : "more");
  }
  return text;
}

std::string KneeWords(const WindowCurve& curve) {
  std::string text;
  if (curve.knee) {
    text = curve.knee->kind == KneeKind::kFound
               ? fmt::format("; from {} on more brings no more",
                             PayloadText(curve.knee->size))
               : "; " + KneeInWords(*curve.knee);
  }
  if (curve.product) {
    text += fmt::format("; rate × RTT is {}", PayloadText(*curve.product));
  }
  return text;
}

// What the line was found to be before the run, where that is not what was
// asked for.
std::string LineWords(const StudyView& view, const WindowCurve& curve) {
  const std::vector<RunRecord>& runs = view.analysis->runs;
  const std::size_t run = curve.points.front().group->first->run;
  if (run >= runs.size()) return {};
  const auto check = runs[run].link.settings.find("check");
  if (check == runs[run].link.settings.end() ||
      !check->second.starts_with("not as asked")) {
    return {};
  }
  return " The line was checked before, and is not what was asked for: see "
         "the links.";
}

std::string Rate(const std::optional<double>& bytes_per_second) {
  return bytes_per_second ? FormatNumber(*bytes_per_second * kMega)
                          : std::string(kNone);
}

Row WindowRowOf(const WindowCurve& curve, const WindowPoint& point) {
  const Cell& cell = *point.group->first;
  const auto& rtt = point.group->figure(Metric::kRttMin);
  const auto& loaded = point.group->figure(Metric::kRttP50);
  const auto share = curve.buffer == Buffer::kSend
                         ? InFlightShareOf(cell, point.speed.median)
                         : OfBound(point);
  return {
      curve.label,
      (curve.buffer == Buffer::kSend ? "send " : "") + AskedText(point),
      point.window > 0 ? PayloadText(point.window) : kNone,
      rtt ? TimeText(rtt->median) : kNone,
      loaded ? TimeText(loaded->median) : kNone,
      Rate(BoundOf(cell).window),
      Rate(BoundOf(cell).line),
      Rate(point.speed.median),
      point.speed.interval ? IntervalText(*point.speed.interval, kMega) : kNone,
      share ? Percent(*share) : kNone,
      LimitOf(cell).words};
}

}  // namespace

std::string HeldBy(const WindowCurve& curve) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from < curve.points.size();) {
    const CellLimit limit = LimitOf(*curve.points[from].group->first);
    std::size_t to = from;
    while (to + 1 < curve.points.size() &&
           LimitOf(*curve.points[to + 1].group->first).limit == limit.limit) {
      ++to;
    }
    const std::string which =
        from == to ? AskedText(curve.points[from])
                   : fmt::format("{} to {}", AskedText(curve.points[from]),
                                 AskedText(curve.points[to]));
    parts.push_back(which + " " + limit.name);
    from = to + 1;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<BeforeAfter> PairsOf(const StudyView& view,
                                 const std::vector<WindowCurve>& curves) {
  std::vector<BeforeAfter> pairs;
  for (const WindowCurve& curve : curves) {
    BeforeAfter pair{&curve, nullptr, nullptr, std::nullopt};
    for (const WindowPoint& point : curve.points) {
      const WindowPoint*& place = point.asked ? pair.after : pair.before;
      if (place == nullptr || point.speed.median > place->speed.median)
        place = &point;
    }
    if (pair.before == nullptr || pair.after == nullptr) continue;
    const auto blocks = [&](const WindowPoint& point) {
      return PooledBlocks(*view.analysis, *point.group,
                          Metric::kSteadyThroughput);
    };
    pair.ratio = PairedRatio(blocks(*pair.after), blocks(*pair.before),
                             kWindowRatioSeed);
    pairs.push_back(pair);
  }
  return pairs;
}

std::string WindowSentence(const StudyView& view,
                           const std::vector<WindowCurve>& curves) {
  std::vector<std::string> parts;
  parts.reserve(curves.size());
  for (const WindowCurve& curve : curves) {
    parts.push_back(fmt::format("{}: {}{}. What limits: {}.{}", curve.label,
                                TheoryWords(curve), KneeWords(curve),
                                HeldBy(curve), LineWords(view, curve)));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string BeforeAfterSentence(const std::vector<BeforeAfter>& pairs) {
  std::vector<std::string> parts;
  for (const BeforeAfter& pair : pairs) {
    std::string text = fmt::format(
        "{}: left to the system {}, with the best of the buffers set, {}, {}",
        pair.curve->label, RateText(pair.before->speed), AskedText(*pair.after),
        RateText(pair.after->speed));
    if (pair.ratio) {
      text += fmt::format(", {} times", FormatNumber(pair.ratio->median));
      if (pair.ratio->interval)
        text += fmt::format(" ({})", RatioRange(*pair.ratio->interval));
      if (pair.ratio->verdict == Verdict::kNotDistinguishable)
        text += ": no difference can be told";
    }
    parts.push_back(fmt::format("{}. Left to the system the limit is {}", text,
                                LimitOf(*pair.before->group->first).name));
  }
  return fmt::format("{}.", fmt::join(parts, ". "));
}

Table WindowsTable(const StudyView& view,
                   const std::vector<WindowCurve>& curves) {
  Table table;
  table.title = "Windows";
  table.columns = {{"path", false},
                   {"buffer asked for", true},
                   {"window or buffer", true},
                   {"RTT, least", true},
                   {"RTT, loaded", true},
                   {"window / RTT, MB/s", true},
                   {"line, MB/s", true},
                   {"measured, MB/s", true},
                   {"95 %", true},
                   {"of the lesser", true},
                   {"limit", false}};
  for (const WindowCurve& curve : curves) {
    for (const WindowPoint& point : curve.points)
      table.rows.push_back(WindowRowOf(curve, point));
  }
  table.note =
      "Window or buffer: the largest window that the sender saw advertised; of "
      "send buffers what was read back, which cannot be told of one left to "
      "the system. Line: in full segments. Measured in steady state: " +
      SteadyText(view) +
      ". Of the lesser: of window / RTT, by the round trip under load where a "
      "time series tells it, or of the line; of a send buffer the share that "
      "was in flight. Limit: the "
      "line from 90 % of it on; else what the "
      "sender's kernel says stood in the way for half of its time, or its send "
      "buffer for a tenth with 40 % of it in flight; else a CPU "
      "from 80 % on; else loss, from 2 in 1000 segments on or where it leaves "
      "reno or cubic no more.";
  return table;
}

void AddWindowCards(const StudyView& view, std::vector<Card>& cards) {
  const std::vector<WindowCurve> curves = WindowCurves(view);
  const WindowCurve& curve = curves.front();
  if (curve.knee && curve.knee->kind == KneeKind::kFound) {
    cards.push_back(
        {PayloadText(curve.knee->size),
         fmt::format("of {} are enough ({}){}",
                     curve.buffer == Buffer::kSend ? "send buffer" : "window",
                     curve.label,
                     curve.product
                         ? "; rate × RTT is " + PayloadText(*curve.product)
                         : std::string())});
  }
  const std::vector<BeforeAfter> pairs = PairsOf(view, curves);
  if (pairs.empty() || !pairs.front().ratio) return;
  const BeforeAfter& pair = pairs.front();
  cards.push_back(
      {FormatNumber(pair.ratio->median) + " times",
       fmt::format("what the system does by itself, with the best buffer set, "
                   "{} ({}){}",
                   AskedText(*pair.after), pair.curve->label,
                   pair.ratio->interval
                       ? "; 95 %: " + RatioRange(*pair.ratio->interval)
                       : std::string())});
  cards.push_back({LimitOf(*pair.before->group->first).name,
                   fmt::format("limits what is left to the system ({})",
                               pair.curve->label)});
}

}  // namespace wiretoll

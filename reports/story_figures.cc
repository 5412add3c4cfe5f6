#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "harness/base/units.h"
#include "harness/base/words.h"
#include "reports/story_pictures.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

// Linux's shortest delayed ACK; RFC 1122 4.2.3.2 allows up to 500 ms.
constexpr double kDelayedAckMs = 40;
constexpr double kMs = 1e-6;  // Milliseconds of nanoseconds.

std::string SizeText(double bytes) {
  return FormatBytes(Bytes{static_cast<std::int64_t>(bytes)});
}

Picture Framed(const Story& story, const std::string& kind,
               const std::string& title) {
  Picture picture;
  picture.kind = kind;
  picture.title = title;
  picture.drawn = StorySource(story);
  return picture;
}

void AddPanel(Picture& picture, Chart chart) {
  Panel panel;
  panel.request = {std::move(chart), picture.title,
                   picture.sentence + " " + picture.drawn};
  picture.panels.push_back(std::move(panel));
}

// --- Window -----------------------------------------------------------------

struct WindowFacts {
  double least = 0, most = 0;
  double most_in_flight = 0;
  long long closed = 0;  // Times it went to 0,
  double closed_ns = 0;  // and how long it was there.
};

double HighestOf(const Steps& steps) {
  double most = 0;
  for (const Reached& step : steps) most = std::max(most, step.value);
  return most;
}

// Requires data.window not empty.
WindowFacts FactsOfWindow(const StoryData& data) {
  WindowFacts facts;
  facts.least = facts.most = data.window.front().value;
  facts.most_in_flight = HighestOf(data.in_flight);
  for (std::size_t i = 0; i < data.window.size(); ++i) {
    const Reached& now = data.window[i];
    facts.least = std::min(facts.least, now.value);
    facts.most = std::max(facts.most, now.value);
    if (now.value > 0) continue;
    const bool before = i > 0 && data.window[i - 1].value == 0;
    facts.closed += before ? 0 : 1;
    const std::int64_t until =
        i + 1 < data.window.size() ? data.window[i + 1].at_ns : data.end_ns;
    facts.closed_ns += static_cast<double>(until - now.at_ns);
  }
  return facts;
}

std::string WindowSentence(const StoryData& data, const WindowFacts& facts) {
  if (facts.closed > 0) {
    return fmt::format("The window was closed {}, for {} of {} in all.",
                       Count(facts.closed, "time"), TimeText(facts.closed_ns),
                       TimeText(static_cast<double>(data.end_ns)));
  }
  constexpr double kNearlyFull = 0.9;
  const std::string flying = SizeText(facts.most_in_flight);
  if (facts.most_in_flight >= kNearlyFull * facts.least) {
    return fmt::format(
        "The window was a limit: up to {} were in flight, where it was open "
        "for {} at least and {} at most.",
        flying, SizeText(facts.least), SizeText(facts.most));
  }
  return fmt::format(
      "The window never stood in the way: at most {} were in flight, and it "
      "was always open for {} or more.",
      flying, SizeText(facts.least));
}

Curve StepCurve(const Steps& steps, const Chart& chart, const Scale& scale,
                const std::string& label, const char* colour) {
  Curve curve;
  curve.label = label;
  curve.colour = colour;
  curve.shape = Shape::kNone;
  curve.width = 1.8;
  curve.points = ThinSteps(steps, chart, scale);
  return curve;
}

// A window far above what flies would press that flat.
bool IsFarAbove(const WindowFacts& facts) {
  constexpr double kFar = 8;
  return facts.most_in_flight > 0 && facts.least > kFar * facts.most_in_flight;
}

Chart WindowChart(const StoryData& data, const WindowFacts& facts) {
  const bool above = IsFarAbove(facts);
  const double top =
      above ? facts.most_in_flight : std::max(facts.most, facts.most_in_flight);
  const AxisUnit time = TimeUnit(data.end_ns);
  const AxisUnit bytes = ByteUnit(top);
  Chart chart;
  chart.left = 84;
  chart.curve_labels = false;
  chart.x =
      SpanAxis(fmt::format("time since the first event, {}", time.name), 0,
               std::max(1.0, static_cast<double>(data.end_ns)) * time.scale);
  chart.y = LinearAxis((above ? "bytes in flight, " : "bytes, ") + bytes.name,
                       std::max(1.0, top) * bytes.scale);
  const Scale scale{time.scale, bytes.scale};
  chart.curves.push_back(
      StepCurve(data.in_flight, chart, scale, "in flight", colour::kBlue));
  if (above) return chart;
  // On top, dashed: where it is full the two are one.
  chart.curves.push_back(
      StepCurve(data.window, chart, scale, "the peer's window", colour::kSky));
  chart.curves.back().dashed = true;
  return chart;
}

// --- Sizes ------------------------------------------------------------------

// Sizes from `low` to `high` bytes, both included.
struct SizeBin {
  std::int64_t low = 0, high = 0;
  long long segments = 0, writes = 0;
};

std::vector<std::int64_t> SegmentSizes(const StoryData& data) {
  std::vector<std::int64_t> sizes;
  for (const Departure& left : data.departures) {
    if (!left.again) sizes.push_back(left.bytes);
  }
  return sizes;
}

std::vector<SizeBin> ExactBins(const std::map<std::int64_t, int>& sizes) {
  std::vector<SizeBin> bins;
  bins.reserve(sizes.size());
  for (const auto& [size, ignored] : sizes) bins.push_back({size, size});
  return bins;
}

// By powers of two; the full segment has a bin of its own.
std::vector<SizeBin> WideBins(const std::map<std::int64_t, int>& sizes,
                              const std::optional<std::int64_t>& mss) {
  std::vector<SizeBin> bins;
  const std::int64_t most = sizes.rbegin()->first;
  for (std::int64_t low = 1; low <= most; low *= 2) {
    const std::int64_t high = 2 * low - 1;
    if (!mss || *mss < low || *mss > high) {
      bins.push_back({low, high});
      continue;
    }
    if (low < *mss) bins.push_back({low, *mss - 1});
    bins.push_back({*mss, *mss});
    if (*mss < high) bins.push_back({*mss + 1, high});
  }
  return bins;
}

std::vector<SizeBin> CountSizes(const StoryData& data) {
  constexpr std::size_t kMostExact = 12;
  const std::vector<std::int64_t> segments = SegmentSizes(data);
  std::map<std::int64_t, int> sizes;
  for (const std::int64_t size : segments) ++sizes[size];
  for (const std::int64_t size : data.write_sizes) ++sizes[size];
  if (sizes.empty()) return {};
  std::vector<SizeBin> bins =
      sizes.size() <= kMostExact ? ExactBins(sizes) : WideBins(sizes, data.mss);
  const auto bin_of = [&bins](std::int64_t size) {
    return std::find_if(bins.begin(), bins.end(), [size](const SizeBin& bin) {
      return size >= bin.low && size <= bin.high;
    });
  };
  for (const std::int64_t size : segments) {
    if (const auto bin = bin_of(size); bin != bins.end()) ++bin->segments;
  }
  for (const std::int64_t size : data.write_sizes) {
    if (const auto bin = bin_of(size); bin != bins.end()) ++bin->writes;
  }
  bins.erase(std::remove_if(bins.begin(), bins.end(),
                            [](const SizeBin& bin) {
                              return bin.segments + bin.writes == 0;
                            }),
             bins.end());
  return bins;
}

std::string BinText(const SizeBin& bin,
                    const std::optional<std::int64_t>& mss) {
  std::string text = bin.low == bin.high
                         ? fmt::format("{} B", bin.low)
                         : fmt::format("{}–{} B", bin.low, bin.high);
  if (mss && bin.low == *mss) text += ", the MSS";
  if (mss && bin.low > *mss) text += ", over the MSS";
  return text;
}

struct Commonest {
  std::int64_t size = 0;
  long long count = 0;
};

Commonest CommonestOf(const std::vector<std::int64_t>& sizes) {
  std::map<std::int64_t, long long> counts;
  for (const std::int64_t size : sizes) ++counts[size];
  Commonest most;
  for (const auto& [size, count] : counts) {
    if (count > most.count) most = {size, count};
  }
  return most;
}

std::string SizesSentence(const StoryData& data) {
  const std::vector<std::int64_t> sizes = SegmentSizes(data);
  const auto all = static_cast<double>(sizes.size());
  const Commonest common = CommonestOf(sizes);
  const Commonest write = CommonestOf(data.write_sizes);
  const long long full =
      data.mss ? std::count(sizes.begin(), sizes.end(), *data.mss) : 0;
  const std::string wrote =
      write.count == 0
          ? ""
          : fmt::format(" The program mostly wrote {} B at a time.",
                        write.size);
  const std::string of = Count(static_cast<long long>(sizes.size()), "segment");
  const std::string share = Percent(static_cast<double>(common.count) / all);
  if (data.mss && common.size == *data.mss) {
    return fmt::format("{} of {} are full, {} B ({}).{}", common.count, of,
                       common.size, share, wrote);
  }
  std::string fullness;
  if (data.mss) {
    fullness = full == 0 ? "; none is full"
                         : fmt::format("; {} {} full, {} B", full,
                                       full == 1 ? "is" : "are", *data.mss);
  }
  return fmt::format("{} B is the commonest size, in {} of {} ({}){}.{}",
                     common.size, common.count, of, share, fullness, wrote);
}

// A bar with its number beside it.
void AddSizeBar(Chart& chart, double row, double share, long long count,
                const char* colour) {
  if (count == 0) return;
  chart.bars.push_back({row, 0, share * kPercent, colour, 0.17});
  chart.texts.push_back({fmt::format("{} ({})", count, Percent(share)),
                         PixelX(chart, share * kPercent) + 6,
                         PixelY(chart, row), false});
}

Chart SizesChart(const std::vector<SizeBin>& bins, const StoryData& data) {
  const auto segments =
      static_cast<double>(std::max<std::size_t>(1, SegmentSizes(data).size()));
  const auto writes =
      static_cast<double>(std::max<std::size_t>(1, data.write_sizes.size()));
  Chart chart;
  chart.left = 190;
  chart.right = 150;  // For the number beside a bar of 100 %.
  chart.top = 8;
  const int tall = data.write_sizes.empty() ? 30 : 44;
  chart.height =
      chart.top + chart.bottom + tall * static_cast<int>(bins.size());
  chart.x = LinearAxis("% of the segments, % of the writes", kPercent);
  chart.x.high = kPercent;
  chart.y.low = -0.6;
  chart.y.high = static_cast<double>(bins.size()) - 0.4;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const auto row = static_cast<double>(bins.size() - 1 - i);
    chart.y.ticks.push_back({row, BinText(bins[i], data.mss)});
    const double apart = data.write_sizes.empty() ? 0 : 0.2;
    AddSizeBar(chart, row + apart,
               static_cast<double>(bins[i].segments) / segments,
               bins[i].segments, colour::kBlue);
    AddSizeBar(chart, row - apart, static_cast<double>(bins[i].writes) / writes,
               bins[i].writes, colour::kOrange);
  }
  return chart;
}

// --- Gaps -------------------------------------------------------------------

struct Gap {
  std::int64_t at_ns = 0;
  double lasted_ns = 0;
};

// Between one data segment and the next, by time.
std::vector<Gap> GapsOf(const StoryData& data) {
  std::vector<Gap> gaps;
  for (std::size_t i = 1; i < data.departures.size(); ++i) {
    const std::int64_t at = data.departures[i].at_ns;
    // A clock that stood still, or stepped back, gives none.
    const std::int64_t gap = at - data.departures[i - 1].at_ns;
    gaps.push_back({at, static_cast<double>(std::max<std::int64_t>(gap, 0))});
  }
  return gaps;
}

std::string GapsSentence(const std::vector<Gap>& gaps) {
  std::vector<double> lengths;
  lengths.reserve(gaps.size());
  for (const Gap& gap : gaps) lengths.push_back(gap.lasted_ns);
  std::sort(lengths.begin(), lengths.end());
  const auto late =
      lengths.end() -
      std::lower_bound(lengths.begin(), lengths.end(), kDelayedAckMs / kMs);
  const std::string all = Count(static_cast<long long>(gaps.size()), "gap");
  return fmt::format(
      "Half of {} last {} or less, the longest {}; {} last 40 ms or more, the "
      "least that Linux delays an ACK by.",
      all, TimeText(lengths[(lengths.size() - 1) / 2]),
      TimeText(lengths.back()), late == 0 ? "none" : fmt::format("{}", late));
}

void AddGapGuides(const StoryData& data, Chart& chart) {
  chart.guides.push_back({false, kDelayedAckMs, "40 ms"});
  if (!data.rtt_ns || *data.rtt_ns <= 0) return;
  const double rtt = static_cast<double>(*data.rtt_ns) * kMs;
  chart.guides.push_back(
      {false, rtt,
       fmt::format("round trip, {}",
                   TimeText(static_cast<double>(*data.rtt_ns)))});
}

Chart GapsChart(const std::vector<Gap>& gaps, const StoryData& data) {
  constexpr double kLeast = 1e-4;  // ms; below it clocks tell nothing.
  constexpr double kDot = 4.5;
  double low = kDelayedAckMs, high = kDelayedAckMs;
  if (data.rtt_ns && *data.rtt_ns > 0) {
    const double rtt = static_cast<double>(*data.rtt_ns) * kMs;
    low = std::min(low, rtt);
    high = std::max(high, rtt);
  }
  const AxisUnit time = TimeUnit(data.end_ns);
  std::vector<Stroke> dots;
  for (const Gap& gap : gaps) {
    const double x = static_cast<double>(gap.at_ns) * time.scale;
    const double y = std::max(gap.lasted_ns * kMs, kLeast);
    dots.push_back({x, y, x, y});
    low = std::min(low, y);
    high = std::max(high, y);
  }
  Chart chart;
  chart.x = SpanAxis(fmt::format("time since the first event, {}", time.name),
                     0, static_cast<double>(data.end_ns) * time.scale * 1.01);
  chart.y = DecimalLogAxis("time since the data segment before, ms (log scale)",
                           low / 2, high * 1.3);  // Room for words.
  chart.left = 84;
  AddGapGuides(data, chart);
  // Fewer dots where there are too many for a page.
  constexpr std::size_t kMostDots = 4000;
  for (double pixels = 3; pixels < 40; pixels *= 1.5) {
    chart.strokes = {{colour::kBlue, kDot, ThinDots(dots, chart, pixels)}};
    if (chart.strokes[0].lines.size() <= kMostDots) break;
  }
  return chart;
}

}  // namespace

Picture WindowPicture(const Story& story, const StoryData& data) {
  Picture picture = Framed(story, "window", "Window and bytes in flight");
  if (data.window.empty()) {
    picture.sentence = "The capture holds no ACK, so the window is not known.";
    picture.missing = "Nothing to draw.";
    return picture;
  }
  const WindowFacts facts = FactsOfWindow(data);
  picture.sentence = WindowSentence(data, facts);
  if (IsFarAbove(facts)) {
    picture.drawn = fmt::format(
        "The window lies above the picture, at {}{}. {}", SizeText(facts.least),
        facts.most > facts.least ? " to " + SizeText(facts.most)
                                 : std::string(),
        picture.drawn);
  }
  Chart chart = WindowChart(data, facts);
  for (const Curve& curve : chart.curves) {
    picture.keys.push_back({curve.colour, curve.label, true, curve.dashed});
  }
  AddPanel(picture, std::move(chart));
  return picture;
}

Picture SizesPicture(const Story& story, const StoryData& data) {
  Picture picture =
      Framed(story, "sizes", "Sizes: what was written and what left");
  const std::vector<SizeBin> bins = CountSizes(data);
  if (bins.empty() || SegmentSizes(data).empty()) {
    picture.sentence = "The capture holds no segment with payload.";
    picture.missing = "Nothing to draw.";
    return picture;
  }
  picture.sentence = SizesSentence(data);
  picture.drawn = fmt::format(
      "Payload a segment, what was sent again left out{}. {}",
      data.write_sizes.empty() ? "; the program's writes were not logged"
                               : "; bytes a write",
      picture.drawn);
  picture.keys = {{colour::kBlue, "segments"}};
  if (!data.write_sizes.empty()) {
    picture.keys.push_back({colour::kOrange, "writes"});
  }
  AddPanel(picture, SizesChart(bins, data));
  return picture;
}

Picture DeparturesPicture(const Story& story, const StoryData& data) {
  Picture picture = Framed(story, "departures", "From one segment to the next");
  const std::vector<Gap> gaps = GapsOf(data);
  if (gaps.empty()) {
    picture.sentence =
        "There is no gap: fewer than two segments carry payload.";
    picture.missing = "Nothing to draw.";
    return picture;
  }
  picture.sentence = GapsSentence(gaps);
  Chart chart = GapsChart(gaps, data);
  const std::size_t dots = chart.strokes[0].lines.size();
  picture.drawn = fmt::format(
      "A dot is a data segment: when it left, and how long after the one "
      "before. Dashed: 40 ms{}. {}{}",
      data.rtt_ns ? ", and the round trip (" + data.rtt_source + ")"
                  : std::string(),
      dots < gaps.size()
          ? fmt::format("{} of {} dots are drawn; the others would lie on "
                        "them. ",
                        dots, gaps.size())
          : "",
      picture.drawn);
  AddPanel(picture, std::move(chart));
  return picture;
}

}  // namespace wiretoll

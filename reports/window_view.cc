#include "reports/window_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "harness/base/units.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

// Fixed: the same run folder makes the same report.
constexpr std::uint64_t kWindowKneeSeed = 20110214;
constexpr double kFarEnough = 1e6;  // ns
constexpr std::size_t kLeastPoints = 3;

bool HasVarying(const StudyView& view, const std::string& factor) {
  return std::ranges::count(view.varying, factor) > 0;
}

const RecordedLink* LinkOfGroup(const StudyView& view, const Group& group) {
  const std::vector<RunRecord>& runs = view.analysis->runs;
  return group.first->run < runs.size() ? &runs[group.first->run].link
                                        : nullptr;
}

bool MtusDiffer(const StudyView& view) {
  const std::vector<RunRecord>& runs = view.analysis->runs;
  return std::ranges::any_of(runs, [&](const RunRecord& run) {
    return run.link.mtu != runs.front().link.mtu;
  });
}

const char* FactorOf(Buffer buffer) {
  return buffer == Buffer::kSend ? "sndbuf" : "rcvbuf";
}

std::optional<WindowPoint> PointOf(const Group& group, Buffer buffer) {
  const bool sends = buffer == Buffer::kSend;
  const auto& window =
      group.figure(sends ? Metric::kSendBuffer : Metric::kWindowPeak);
  const auto& steady = group.figure(Metric::kSteadyThroughput);
  const auto& speed = steady ? steady : group.figure(Metric::kThroughput);
  const FactorValue* asked = FindFactor(group.first->factors, FactorOf(buffer));
  if (!speed || asked == nullptr || group.first->datagrams ||
      !(speed->median > 0)) {
    return std::nullopt;
  }
  WindowPoint point{&group, window ? window->median : 0, std::nullopt, *speed};
  if (const auto* bytes = std::get_if<std::int64_t>(asked))
    point.asked = static_cast<double>(*bytes);
  const bool untold = sends && !point.asked;
  if (!(point.window > 0) && !untold) return std::nullopt;
  return point;
}

// All of a cell but that buffer.
std::string CurveKey(const Group& group, Buffer buffer) {
  std::string key = fmt::format("{}/{}", group.first->run, group.pool);
  for (const auto& [name, value] : group.first->factors) {
    if (name != FactorOf(buffer))
      key += '\x1f' + name + '=' + SpellFactor(value);
  }
  return key;
}

// Of points by rising window.
std::vector<CurvePoint> SizesOf(const StudyView& view,
                                const WindowCurve& curve) {
  std::vector<CurvePoint> sizes;
  for (const WindowPoint& point : curve.points) {
    // A window that came of two buffers is one size.
    if (!sizes.empty() && sizes.back().size == point.window) continue;
    if (point.window <= 0) continue;
    sizes.push_back({point.window, PooledBlocks(*view.analysis, *point.group,
                                                Metric::kSteadyThroughput)});
    if (sizes.back().values.empty()) sizes.pop_back();
  }
  return sizes;
}

void Complete(const StudyView& view, WindowCurve& curve) {
  // What cannot be told comes last.
  std::ranges::sort(curve.points, {}, [](const WindowPoint& point) {
    return std::pair(point.window <= 0, point.window);
  });
  for (const WindowPoint& point : curve.points) {
    const auto& rtt = point.group->figure(Metric::kRttMin);
    if (rtt && (curve.rtt_ns == 0 || rtt->median < curve.rtt_ns))
      curve.rtt_ns = rtt->median;
    const auto line = BoundOf(*point.group->first).line;
    if (line) curve.line = std::max(curve.line.value_or(0), *line);
  }
  const Group& first = *curve.points.front().group;
  const RecordedLink* link = LinkOfGroup(view, first);
  if (link != nullptr && link->rate_bits_per_second && curve.rtt_ns > 0)
    curve.product = *link->rate_bits_per_second / 8 * curve.rtt_ns * 1e-9;
  curve.label = PathText(view, first, {FactorOf(curve.buffer)});
  curve.knee = FindKnee(SizesOf(view, curve), kWindowKneeSeed);
}

}  // namespace

std::string PathText(const StudyView& view, const Group& group,
                     const std::vector<std::string>& without) {
  const RecordedLink* link = LinkOfGroup(view, group);
  std::string text = "no known rate";
  if (link != nullptr && link->rate_bits_per_second)
    text = FormatBitRate({*link->rate_bits_per_second});
  if (const auto& rtt = group.figure(Metric::kRttMin))
    text += ", RTT " + TimeText(rtt->median);
  if (link != nullptr && link->mtu && MtusDiffer(view))
    text += fmt::format(", MTU {}", *link->mtu);
  for (const std::string& name : view.varying) {
    const FactorValue* value = FindFactor(group.first->factors, name);
    if (value == nullptr || std::ranges::count(without, name) > 0) continue;
    text += ", " + FactorText(name, *value);
  }
  if (view.analysis->runs.size() < 2 && view.pools.size() > 1)
    text += ", " + view.pools[group.pool];
  return text;
}

std::vector<WindowCurve> WindowCurves(const StudyView& view, Buffer buffer) {
  std::vector<WindowCurve> curves;
  if (!HasVarying(view, FactorOf(buffer))) return curves;
  std::map<std::string, std::size_t> known;
  for (const Group& group : view.groups) {
    const std::optional<WindowPoint> point = PointOf(group, buffer);
    if (!point) continue;
    const auto [place, is_new] =
        known.try_emplace(CurveKey(group, buffer), curves.size());
    if (is_new) curves.emplace_back().buffer = buffer;
    curves[place->second].points.push_back(*point);
  }
  for (WindowCurve& curve : curves) Complete(view, curve);
  std::erase_if(curves, [](const WindowCurve& curve) {
    return curve.rtt_ns < kFarEnough || curve.points.size() < kLeastPoints;
  });
  for (std::size_t i = 0; i < curves.size(); ++i) {
    curves[i].colour = PoolColour(i);
    curves[i].shape = PoolShape(i);
  }
  return curves;
}

std::vector<WindowCurve> WindowCurves(const StudyView& view) {
  std::vector<WindowCurve> curves = WindowCurves(view, Buffer::kReceive);
  std::ranges::move(WindowCurves(view, Buffer::kSend),
                    std::back_inserter(curves));
  return curves;
}

bool IsWindowStudy(const StudyView& view) {
  return !WindowCurves(view).empty();
}

std::string SteadyText(const StudyView& view) {
  const bool known = std::ranges::any_of(view.groups, [](const Group& group) {
    return group.figure(Metric::kSteadyThroughput).has_value();
  });
  if (!known) return "not told from the start, so that all that came counts";
  const std::vector<Study>& studies = view.analysis->studies;
  std::set<Nanoseconds> warmups;
  if (view.study < studies.size()) {
    for (const Case& one : studies[view.study].cases)
      warmups.insert(one.workload.warmup);
  }
  if (warmups.size() > 1)
    return "what came before each case's warm-up ended is left out";
  if (warmups.empty() || *warmups.begin() == Nanoseconds{0})
    return "the first tenth of the bytes is left out";
  return fmt::format(
      "what came in the first {} is left out, and slow start with it",
      TimeText(static_cast<double>(warmups.begin()->count())));
}

std::string AskedText(const WindowPoint& point) {
  if (!point.asked) return "unset";
  return FactorValueText("rcvbuf", static_cast<std::int64_t>(*point.asked));
}

const Cell* WithCourse(const StudyView& view, const Group& group) {
  for (const std::size_t index : group.cells) {
    const Cell& cell = view.analysis->cells[index];
    if (cell.course && !cell.course->in_flight.empty()) return &cell;
  }
  return nullptr;
}

}  // namespace wiretoll

#include "reports/window_pictures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/base/words.h"
#include "reports/captions.h"
#include "reports/panels.h"
#include "reports/size_words.h"
#include "reports/text.h"
#include "reports/window_view.h"
#include "reports/window_words.h"

namespace wiretoll {
namespace {

constexpr double kNanosecond = 1e-9;
constexpr double kKilo = 1e-3;
constexpr std::size_t kMostCurves = 6;
constexpr std::size_t kMostCoursePanels = 6;
constexpr std::size_t kMostControlPanels = 9;

// --- Throughput against the window -------------------------------------------

Curve MeasuredWindows(const WindowCurve& windows) {
  Curve curve;
  curve.label = windows.label;
  curve.colour = windows.colour;
  curve.shape = windows.shape;
  for (const WindowPoint& point : windows.points) {
    if (point.window <= 0) continue;
    ChartPoint drawn{point.window, point.speed.median * kMega, std::nullopt,
                     !point.asked};
    if (point.speed.interval && point.speed.interval->low > 0) {
      drawn.interval = {point.speed.interval->low * kMega,
                        point.speed.interval->high * kMega};
    }
    curve.points.push_back(drawn);
  }
  return curve;
}

// Window / RTT, and level from where the line is full.
Curve AllowedWindows(const WindowCurve& windows, const Span& span) {
  Curve curve;
  curve.label = windows.buffer == Buffer::kSend ? "buffer / RTT, and the line"
                                                : "window / RTT, and the line";
  curve.colour = windows.colour;
  curve.shape = Shape::kNone;
  curve.dashed = true;
  const double per_byte = kMega / (windows.rtt_ns * kNanosecond);
  const auto add = [&](double window) {
    const double rate = window * per_byte;
    const double most = windows.line ? *windows.line * kMega : rate;
    curve.points.push_back({window, std::min(rate, most), {}, false});
  };
  add(span.low);
  if (windows.line) {
    const double full = *windows.line * kMega / per_byte;
    if (full > span.low && full < span.high) add(full);
  }
  add(span.high);
  return curve;
}

void AddProducts(Chart& chart, const std::vector<WindowCurve>& curves,
                 const Span& span) {
  std::set<std::string> told;
  for (const WindowCurve& curve : curves) {
    if (!curve.product || *curve.product < span.low ||
        *curve.product > span.high) {
      continue;
    }
    const std::string text =
        fmt::format("rate × RTT: {}", PayloadText(*curve.product));
    if (told.insert(text).second)
      chart.guides.push_back({true, *curve.product, text});
  }
}

// Along the bottom, where the knees are to within their intervals.
void AddWindowKnees(Chart& chart, const std::vector<WindowCurve>& curves) {
  constexpr double kStep = 0.02, kWidth = 4;  // Of the height; pixels.
  double share = kStep;
  for (const WindowCurve& curve : curves) {
    const std::optional<Knee>& knee = curve.knee;
    if (!knee || knee->kind != KneeKind::kFound || !knee->interval) continue;
    const double y = chart.y.low * std::pow(chart.y.high / chart.y.low, share);
    const double from = knee->more_than.value_or(knee->interval->low);
    chart.strokes.push_back(
        {curve.colour, kWidth, {{from, y, knee->interval->high, y}}});
    share += kStep;
  }
}

Chart WindowChart(const std::vector<WindowCurve>& curves) {
  Chart chart;
  for (const WindowCurve& curve : curves)
    chart.curves.push_back(MeasuredWindows(curve));
  Span x = SpanOf(std::vector<Chart>{chart},
                  [](const ChartPoint& point) { return point.x; });
  Span y = SpanOf(std::vector<Chart>{chart},
                  [](const ChartPoint& point) { return point.y; });
  for (const WindowCurve& curve : curves)
    chart.curves.push_back(AllowedWindows(curve, x));
  for (const Curve& curve : chart.curves) {
    TakeIntervals(curve, y);
    for (const ChartPoint& point : curve.points) y.Take(point.y);
  }
  const bool sends = curves.front().buffer == Buffer::kSend;
  chart.x = BinaryAxis(sends ? "send buffer as read back, bytes (log scale)"
                             : "largest window advertised, bytes (log scale)",
                       x.low, x.high);
  chart.y = DecimalLogAxis("received, MB/s (log scale)", y.low, y.high);
  AddProducts(chart, curves, x);
  AddWindowKnees(chart, curves);
  chart.curve_labels = false;
  return chart;
}

// The dashed ones of several curves are told once.
std::vector<Key> WindowKeys(const Chart& chart, std::size_t measured) {
  std::vector<Key> keys = KeysOf(chart);
  if (keys.size() > measured) {
    keys.resize(measured + 1);
    if (measured > 1) keys.back().colour = colour::kTheory;
  }
  return keys;
}

Picture SpeedPicture(const StudyView& view, std::vector<WindowCurve> curves) {
  Picture picture;
  picture.kind = "throughput";
  const bool sends = curves.front().buffer == Buffer::kSend;
  picture.title = sends ? "Throughput against the send buffer"
                        : "Throughput against the window";
  picture.drawn = DrawnLine(
      view, Metric::kSteadyThroughput,
      fmt::format(
          "Steady state: {}. {} and what the line carries in full segments; "
          "upright: rate × round trip; along the bottom the knees with their "
          "intervals.",
          SteadyText(view),
          sends ? "Dashed: the whole buffer a round trip of the least kind, "
                  "which data can never fill, since the kernel's own "
                  "bookkeeping is in it,"
                : "Hollow: the buffer left to the system. Dashed: a window a "
                  "round trip of the least kind (RFC 9293 3.8.6),"));
  if (curves.size() > kMostCurves) {
    picture.drawn += fmt::format(" {} more curves stand in the table.",
                                 curves.size() - kMostCurves);
    curves.resize(kMostCurves);
  }
  picture.sentence = WindowSentence(view, curves);
  Chart chart = WindowChart(curves);
  const std::vector<Key> keys = WindowKeys(chart, curves.size());
  std::vector<Chart> charts;
  charts.push_back(std::move(chart));
  AddPanels(picture, std::move(charts), {""});
  picture.keys = keys;
  return picture;
}

// --- Before and after --------------------------------------------------------

Curve RowsOf(const std::vector<BeforeAfter>& pairs, bool after) {
  Curve curve;
  curve.label = after ? "the best buffer that was set" : "left to the system";
  curve.colour = after ? colour::kGreen : colour::kBlue;
  curve.shape = after ? Shape::kSquare : Shape::kCircle;
  curve.points_only = true;
  curve.across = true;
  double row = static_cast<double>(pairs.size());
  for (const BeforeAfter& pair : pairs) {
    row -= 1;
    const Estimate& speed = after ? pair.after->speed : pair.before->speed;
    ChartPoint point{speed.median * kMega, row + (after ? 0.14 : -0.14),
                     std::nullopt, !after};
    if (speed.interval) {
      point.interval = {std::max(0.0, speed.interval->low) * kMega,
                        speed.interval->high * kMega};
    }
    curve.points.push_back(point);
  }
  return curve;
}

// What window and line would allow with the best window: a grey tick.
void AddLineTicks(Chart& chart, const std::vector<BeforeAfter>& pairs) {
  Strokes ticks{colour::kTheory, 2.5, {}};
  double row = static_cast<double>(pairs.size());
  for (const BeforeAfter& pair : pairs) {
    row -= 1;
    if (!pair.curve->line) continue;
    const double at = *pair.curve->line * kMega;
    ticks.lines.push_back({at, row - 0.32, at, row + 0.32});
  }
  chart.strokes.push_back(std::move(ticks));
}

Chart BeforeAfterChart(const std::vector<BeforeAfter>& pairs) {
  Chart chart;
  double most = 0;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::string name = Shorten(pairs[i].curve->label, 40);
    longest = std::max(longest, Length(name));
    chart.y.ticks.push_back({static_cast<double>(pairs.size() - 1 - i), name});
    most = std::max(most, pairs[i].curve->line.value_or(0) * kMega);
  }
  for (const bool after : {false, true}) {
    chart.curves.push_back(RowsOf(pairs, after));
    for (const ChartPoint& point : chart.curves.back().points)
      most = std::max(most, point.interval ? point.interval->high : point.x);
  }
  chart.x = LinearAxis("received in steady state, MB/s", most);
  chart.y.low = -0.6;
  chart.y.high = static_cast<double>(pairs.size()) - 0.4;
  AddLineTicks(chart, pairs);
  chart.left = std::clamp(20 + static_cast<int>(longest) * 8, 60, 360);
  chart.top = 8;
  chart.height = chart.top + chart.bottom + 46 * static_cast<int>(pairs.size());
  chart.curve_labels = false;
  return chart;
}

Picture BeforeAfterPicture(const StudyView& view,
                           const std::vector<BeforeAfter>& pairs) {
  Picture picture;
  picture.kind = "before-after";
  picture.title = "Left to the system, and with the best buffer";
  picture.sentence = BeforeAfterSentence(pairs);
  picture.drawn = DrawnLine(
      view, Metric::kSteadyThroughput,
      "The best of several is a little flattered: chance helped to choose it. "
      "Grey: what the line carries in full segments.");
  std::vector<Chart> charts{BeforeAfterChart(pairs)};
  AddPanels(picture, std::move(charts), {""});
  return picture;
}

// --- Over time ---------------------------------------------------------------

double LargestOf(const std::vector<CourseStep>& steps) {
  double largest = 0;
  for (const CourseStep& step : steps) largest = std::max(largest, step.value);
  return largest;
}

// What lies above the picture runs along its upper edge.
Curve CourseCurve(const char* label, const char* tone,
                  const std::vector<CourseStep>& steps, double most) {
  Curve curve;
  curve.label = label;
  curve.colour = tone;
  curve.shape = Shape::kNone;
  curve.width = 1.8;
  for (const CourseStep& step : steps) {
    curve.points.push_back(
        {step.seconds, std::min(step.value, most) * kKilo, {}, false});
  }
  return curve;
}

struct CourseFrame {
  double seconds = 0;
  double most = 0;  // Bytes.
};

Chart CourseChart(const Course& course, const CourseFrame& frame,
                  bool peer_window) {
  Chart chart;
  // The largest first, so that the flight stays seen.
  if (peer_window) {
    chart.curves.push_back(CourseCurve("receiver's window", colour::kVermilion,
                                       course.peer_window, frame.most));
  }
  chart.curves.push_back(
      CourseCurve("congestion window", colour::kBlue, course.cwnd, frame.most));
  chart.curves.push_back(
      CourseCurve("in flight", colour::kGreen, course.in_flight, frame.most));
  chart.x = LinearAxis("s since the first look", frame.seconds);
  chart.y = LinearAxis("kB", frame.most * kKilo);
  chart.y.high = frame.most * kKilo;
  chart.curve_labels = false;
  // Where the sender began to repeat what was lost.
  constexpr std::size_t kMostMarks = 60;
  if (course.losses.size() <= kMostMarks) {
    Strokes marks{colour::kPink, 2.2, {}};
    for (const double at : course.losses) {
      marks.lines.push_back({at, 0, at, 0.04 * chart.y.high});
    }
    if (!marks.lines.empty()) chart.strokes.push_back(std::move(marks));
  }
  return chart;
}

struct ChosenCourse {
  const Cell* cell = nullptr;
  std::string label;
  std::string brief;  // Where there is one path only.
};

std::string KilobyteText(const std::vector<CourseStep>& steps) {
  return steps.empty() ? "not told"
                       : FormatNumber(LargestOf(steps) * kKilo) + " kB";
}

// "The receiver's window limits", with a small first letter.
std::string LimitedBy(const Cell& cell) {
  return LimitOf(cell).name + " limits";
}

// The smallest window, the one nearest the product, and the system's own.
std::vector<ChosenCourse> CoursesOf(const StudyView& view,
                                    const WindowCurve& curve) {
  std::set<const WindowPoint*> wanted{&curve.points.front()};
  const double product =
      curve.product.value_or(curve.points[curve.points.size() / 2].window);
  const WindowPoint* nearest = &curve.points.front();
  for (const WindowPoint& point : curve.points) {
    if (!point.asked) wanted.insert(&point);
    if (std::fabs(std::log(point.window / product)) <
        std::fabs(std::log(nearest->window / product))) {
      nearest = &point;
    }
  }
  wanted.insert(nearest);
  if (wanted.size() < 3) wanted.insert(&curve.points.back());
  std::vector<ChosenCourse> chosen;
  for (const WindowPoint& point : curve.points) {
    if (!wanted.contains(&point)) continue;
    const Cell* cell = WithCourse(view, *point.group);
    if (cell == nullptr) continue;
    const std::string brief = "buffer " + AskedText(point);
    chosen.push_back({cell, curve.label + ", " + brief, brief});
  }
  return chosen;
}

std::string CourseSentence(const std::vector<ChosenCourse>& courses,
                           bool one_path) {
  std::vector<std::string> parts;
  for (const ChosenCourse& chosen : courses) {
    const Course& course = *chosen.cell->course;
    parts.push_back(fmt::format(
        "{}: {} in flight of a window of {} and a congestion window of {}; {}.",
        one_path ? chosen.brief : chosen.label, KilobyteText(course.in_flight),
        KilobyteText(course.peer_window), KilobyteText(course.cwnd),
        LimitedBy(*chosen.cell)));
  }
  return Capital(fmt::format("{}", fmt::join(parts, " ")));
}

// Of all the labels the path is the same.
bool OnePath(const std::vector<ChosenCourse>& courses) {
  return std::ranges::all_of(courses, [&](const ChosenCourse& chosen) {
    return chosen.cell->run == courses.front().cell->run;
  });
}

constexpr const char* kCourseDrawn =
    "One trial each, the one of median speed, as its sender's kernel told it; "
    "least and largest of each stretch of time are drawn. What runs along the "
    "upper edge lies above it. Pink marks: the sender begins to repeat what "
    "was lost.";

Picture CoursePicture(const StudyView& view,
                      std::vector<ChosenCourse> courses) {
  Picture picture;
  picture.kind = "course";
  picture.title = "Windows and flight over time";
  if (courses.size() > kMostCoursePanels) courses.resize(kMostCoursePanels);
  picture.sentence = CourseSentence(courses, OnePath(courses));
  picture.drawn = std::string(kCourseDrawn) + LinkLine(view);
  std::vector<Chart> charts;
  std::vector<std::string> labels;
  for (const ChosenCourse& chosen : courses) {
    const Course& course = *chosen.cell->course;
    // Each its own: windows differ by hundreds.
    const CourseFrame frame{course.seconds, 1.6 * LargestOf(course.in_flight)};
    charts.push_back(CourseChart(course, frame, true));
    labels.push_back(chosen.label);
  }
  picture.keys = KeysOf(charts.front());
  const std::vector<Key> keys = picture.keys;
  AddPanels(picture, std::move(charts), labels);
  picture.keys = keys;
  return picture;
}

// --- Congestion controls
// -------------------------------------------------------

// One a control and path: with the largest window that it had.
std::vector<ChosenCourse> ControlCourses(const StudyView& view) {
  std::map<std::string, std::pair<double, ChosenCourse>> by_control;
  std::vector<std::string> order;
  for (const Group& group : view.groups) {
    const FactorValue* control = FindFactor(group.first->factors, "congestion");
    const Cell* cell = WithCourse(view, group);
    if (control == nullptr || cell == nullptr) continue;
    const std::string key = fmt::format("{}/{}/{}", group.first->run,
                                        group.pool, SpellFactor(*control));
    const double window = LargestOf(cell->course->peer_window);
    const auto [place, is_new] = by_control.try_emplace(key);
    if (is_new) order.push_back(key);
    if (!is_new && window <= place->second.first) continue;
    const std::string name = SpellFactor(*control);
    const std::string path = PathText(view, group, {"congestion", "rcvbuf"});
    place->second = {window, {cell, fmt::format("{}, {}", name, path), name}};
  }
  std::vector<ChosenCourse> courses;
  courses.reserve(order.size());
  for (const std::string& key : order) {
    courses.push_back(by_control.at(key).second);
  }
  return courses;
}

std::string ControlSentence(const std::vector<ChosenCourse>& courses) {
  std::vector<std::string> parts;
  const bool one_path = OnePath(courses);
  for (const ChosenCourse& chosen : courses) {
    const Cell& cell = *chosen.cell;
    const auto speed = SpeedOf(cell);
    const auto losses = static_cast<long long>(cell.course->losses.size());
    parts.push_back(fmt::format(
        "{}: {}, a congestion window of up to {}, {} of losses; {}.",
        one_path ? chosen.brief : chosen.label,
        speed ? RateText(*speed) : "no rate known",
        KilobyteText(cell.course->cwnd), Count(losses, "repair"),
        LimitedBy(cell)));
  }
  return Capital(fmt::format("{}", fmt::join(parts, " ")));
}

// --- Their speeds
// --------------------------------------------------------------

struct SpeedRow {
  std::string name;
  Estimate speed;
};

std::vector<SpeedRow> SpeedRows(const StudyView& view) {
  constexpr std::size_t kMostRowsDrawn = 16;
  std::vector<SpeedRow> rows;
  for (const Group& group : view.groups) {
    const auto& steady = group.figure(Metric::kSteadyThroughput);
    const auto& speed = steady ? steady : group.figure(Metric::kThroughput);
    if (speed && rows.size() < kMostRowsDrawn)
      rows.push_back({CaseText(view, group), *speed});
  }
  return rows;
}

Chart SpeedRowsChart(const std::vector<SpeedRow>& rows) {
  constexpr std::size_t kLongestName = 44;
  Chart chart;
  Curve curve;
  curve.label = "throughput";
  curve.colour = colour::kBlue;
  curve.points_only = curve.across = true;
  double most = 0, row = static_cast<double>(rows.size());
  std::size_t longest = 0;
  for (const SpeedRow& one : rows) {
    row -= 1;
    const std::string name = Shorten(one.name, kLongestName);
    longest = std::max(longest, Length(name));
    chart.y.ticks.push_back({row, name});
    ChartPoint point{one.speed.median * kMega, row, std::nullopt, false};
    if (one.speed.interval) {
      point.interval = {std::max(0.0, one.speed.interval->low) * kMega,
                        one.speed.interval->high * kMega};
    }
    most = std::max(most, point.interval ? point.interval->high : point.x);
    curve.points.push_back(point);
  }
  chart.curves.push_back(std::move(curve));
  chart.x = LinearAxis("received, MB/s", most);
  chart.y.low = -0.6;
  chart.y.high = static_cast<double>(rows.size()) - 0.4;
  chart.left = std::clamp(20 + static_cast<int>(longest) * 8, 60, 400);
  chart.top = 8;
  chart.height = chart.top + chart.bottom + 34 * static_cast<int>(rows.size());
  chart.curve_labels = false;
  return chart;
}

std::string SpeedRowsSentence(const std::vector<SpeedRow>& rows) {
  const auto [least, most] = std::ranges::minmax_element(
      rows, {}, [](const SpeedRow& row) { return row.speed.median; });
  return fmt::format("From {} ({}) to {} ({}).", RateText(least->speed),
                     least->name, RateText(most->speed), most->name);
}

Picture ControlSpeedsPicture(const StudyView& view,
                             const std::vector<SpeedRow>& rows) {
  Picture picture;
  picture.kind = "throughput";
  picture.title = "Throughput by congestion control";
  picture.sentence = SpeedRowsSentence(rows);
  picture.drawn =
      DrawnLine(view, Metric::kThroughput, "Steady state where that is known.");
  std::vector<Chart> charts{SpeedRowsChart(rows)};
  AddPanels(picture, std::move(charts), {""});
  picture.keys.clear();
  return picture;
}

Picture ControlPicture(const StudyView& view,
                       std::vector<ChosenCourse> courses) {
  Picture picture;
  picture.kind = "congestion";
  picture.title = "Congestion controls on the same path, over time";
  if (courses.size() > kMostControlPanels) courses.resize(kMostControlPanels);
  picture.sentence = ControlSentence(courses);
  picture.drawn = std::string(kCourseDrawn) +
                  " All panels have the same axes." + LinkLine(view);
  CourseFrame frame;
  for (const ChosenCourse& chosen : courses) {
    const Course& course = *chosen.cell->course;
    frame.seconds = std::max(frame.seconds, course.seconds);
    frame.most = std::max(frame.most, 1.1 * LargestOf(course.cwnd));
  }
  std::vector<Chart> charts;
  std::vector<std::string> labels;
  for (const ChosenCourse& chosen : courses) {
    charts.push_back(CourseChart(*chosen.cell->course, frame, false));
    labels.push_back(chosen.label);
  }
  const std::vector<Key> keys = KeysOf(charts.front());
  AddPanels(picture, std::move(charts), labels);
  picture.keys = keys;
  return picture;
}

// Of a study that varies neither: the first cells.
std::vector<ChosenCourse> AnyCourses(const StudyView& view) {
  std::vector<ChosenCourse> courses;
  for (const Group& group : view.groups) {
    const Cell* cell = WithCourse(view, group);
    const std::string name = CaseText(view, group);
    if (cell != nullptr) courses.push_back({cell, name, name});
  }
  return courses;
}

}  // namespace

std::vector<Picture> WindowPictures(const StudyView& view) {
  std::vector<Picture> pictures;
  for (const Buffer buffer : {Buffer::kReceive, Buffer::kSend}) {
    const std::vector<WindowCurve> curves = WindowCurves(view, buffer);
    if (curves.empty()) continue;
    pictures.push_back(SpeedPicture(view, curves));
    const std::vector<BeforeAfter> pairs = PairsOf(view, curves);
    if (!pairs.empty()) pictures.push_back(BeforeAfterPicture(view, pairs));
  }
  return pictures;
}

std::vector<Picture> CoursePictures(const StudyView& view) {
  std::vector<Picture> pictures;
  std::vector<ChosenCourse> windows;
  for (const WindowCurve& curve : WindowCurves(view)) {
    for (ChosenCourse& chosen : CoursesOf(view, curve))
      windows.push_back(std::move(chosen));
  }
  std::vector<ChosenCourse> controls;
  if (std::ranges::count(view.varying, "congestion") > 0)
    controls = ControlCourses(view);
  if (windows.empty() && controls.empty()) windows = AnyCourses(view);
  if (!windows.empty())
    pictures.push_back(CoursePicture(view, std::move(windows)));
  if (!controls.empty())
    pictures.push_back(ControlPicture(view, std::move(controls)));
  return pictures;
}

bool IsControlStudy(const StudyView& view) {
  std::set<std::int64_t> writes;
  for (const Group& group : view.groups) {
    if (const auto write = WriteOf(group.first->factors)) writes.insert(*write);
  }
  return writes.size() == 1 && view.latency.empty() && !view.sizes &&
         std::ranges::count(view.varying, "congestion") > 0;
}

std::vector<Picture> ControlPictures(const StudyView& view) {
  std::vector<Picture> pictures;
  const std::vector<SpeedRow> rows = SpeedRows(view);
  if (!rows.empty()) pictures.push_back(ControlSpeedsPicture(view, rows));
  for (Picture& picture : CoursePictures(view))
    pictures.push_back(std::move(picture));
  return pictures;
}

}  // namespace wiretoll

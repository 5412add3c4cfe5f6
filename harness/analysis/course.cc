#include "harness/analysis/course.h"

#include <fmt/format.h>

#include <algorithm>

namespace wiretoll {
namespace {

constexpr std::size_t kStretches = 240;
// More cells than that are no longer looked at one by one.
constexpr std::size_t kMostCourses = 200;

double SecondsSince(std::int64_t start, std::int64_t at) {
  return static_cast<double>(at - start) * 1e-9;
}

std::vector<CourseStep> StepsOf(const std::vector<SeriesMoment>& moments,
                                TcpMoment::Figure TcpMoment::*figure) {
  std::vector<CourseStep> steps;
  for (const SeriesMoment& moment : moments) {
    const TcpMoment::Figure& value = moment.tcp.*figure;
    if (!value) continue;
    steps.push_back({SecondsSince(moments.front().at_ns, moment.at_ns),
                     static_cast<double>(*value)});
  }
  return Thinned(steps, kStretches);
}

// When the sender began to repeat what it took for lost.
std::vector<double> LossesOf(const std::vector<SeriesMoment>& moments) {
  std::vector<double> losses;
  bool before = false;
  for (const SeriesMoment& moment : moments) {
    const LossState state = moment.tcp.loss_state;
    const bool now = state == LossState::kRecovery || state == LossState::kLoss;
    if (now && !before) {
      losses.push_back(SecondsSince(moments.front().at_ns, moment.at_ns));
    }
    before = now;
  }
  return losses;
}

// A run folder may come from anywhere: nothing outside of it is opened.
bool IsOfTheFolder(const std::string& file) {
  return file.starts_with("series/") && file.find("..") == std::string::npos;
}

// Of one stretch, in order of time.
void Keep(const std::vector<CourseStep>& all, std::size_t from, std::size_t to,
          std::vector<CourseStep>& kept) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(to);
  const auto less = [](const CourseStep& a, const CourseStep& b) {
    return a.value < b.value;
  };
  const auto [least, largest] = std::minmax_element(begin, end, less);
  kept.push_back(std::min(least, largest)[0]);
  if (least != largest) kept.push_back(std::max(least, largest)[0]);
}

}  // namespace

std::vector<CourseStep> Thinned(const std::vector<CourseStep>& all,
                                std::size_t most) {
  if (all.size() <= 2 * most || most < 1) return all;
  const double start = all.front().seconds;
  const double time = all.back().seconds - start;
  if (!(time > 0)) return {all.front()};
  std::vector<CourseStep> kept{all.front()};
  std::size_t from = 0;
  for (std::size_t stretch = 1; stretch <= most; ++stretch) {
    const double until =
        start + time * static_cast<double>(stretch) / static_cast<double>(most);
    std::size_t to = from;
    while (to < all.size() && (all[to].seconds <= until || stretch == most))
      ++to;
    if (to > from) Keep(all, from, to, kept);
    from = to;
  }
  kept.push_back(all.back());
  return kept;
}

Course CourseOf(const TimeSeries& series) {
  Course course;
  const std::vector<SeriesMoment>& moments = series.sender;
  if (moments.empty()) return course;
  course.cwnd = StepsOf(moments, &TcpMoment::cwnd_bytes);
  course.in_flight = StepsOf(moments, &TcpMoment::in_flight_bytes);
  course.peer_window = StepsOf(moments, &TcpMoment::peer_window_bytes);
  course.rtt_ns = StepsOf(moments, &TcpMoment::rtt_ns);
  course.losses = LossesOf(moments);
  course.seconds = SecondsSince(moments.front().at_ns, moments.back().at_ns);
  return course;
}

void ReadCourses(const std::vector<std::filesystem::path>& folders,
                 std::vector<Cell>& cells, std::vector<std::string>& notes) {
  std::size_t read = 0, left = 0;
  for (Cell& cell : cells) {
    if (!cell.course) continue;
    if (read == kMostCourses) {
      cell.course.reset();
      ++left;
      continue;
    }
    if (!IsOfTheFolder(cell.course->file)) {
      notes.push_back(fmt::format(
          "a sample names {} as its time series, which is not in its run's "
          "folder series/: left alone",
          cell.course->file));
      cell.course.reset();
      continue;
    }
    ++read;
    const auto series = ReadSeries(folders[cell.run] / cell.course->file);
    if (!series.has_value()) {
      notes.push_back(series.error().message);
      cell.course.reset();
      continue;
    }
    Course course = CourseOf(series.value());
    course.trial = cell.course->trial;
    course.file = cell.course->file;
    cell.course = std::move(course);
  }
  if (left > 0) {
    notes.push_back(fmt::format(
        "time series of {} cells are not drawn: {} are enough", left, read));
  }
}

}  // namespace wiretoll

#include "harness/analysis/course.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/analysis/synthetic_run.h"

namespace wiretoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<CourseStep> Ramp(std::size_t count) {
  std::vector<CourseStep> steps;
  for (std::size_t i = 0; i < count; ++i)
    steps.push_back({static_cast<double>(i), static_cast<double>(i)});
  return steps;
}

std::vector<double> ValuesOf(const std::vector<CourseStep>& steps) {
  std::vector<double> values;
  values.reserve(steps.size());
  for (const CourseStep& step : steps) values.push_back(step.value);
  return values;
}

TEST(ThinnedTest, FewStepsStayAsTheyAre) {
  EXPECT_THAT(Thinned(Ramp(20), 10), SizeIs(20));
  EXPECT_THAT(Thinned({}, 10), IsEmpty());
}

// A thousand at 5, one of them at 0 and one at 9: both are kept, whichever
// stretch they fall into.
TEST(ThinnedTest, AMomentsFallOrPeakIsNotLost) {
  std::vector<CourseStep> steps = Ramp(1000);
  for (CourseStep& step : steps) step.value = 5;
  steps[333].value = 0;
  steps[777].value = 9;
  const std::vector<CourseStep> kept = Thinned(steps, 10);
  EXPECT_LE(kept.size(), 22U);
  EXPECT_THAT(ValuesOf(kept), testing::Contains(0));
  EXPECT_THAT(ValuesOf(kept), testing::Contains(9));
  EXPECT_DOUBLE_EQ(kept.front().seconds, 0);
  EXPECT_DOUBLE_EQ(kept.back().seconds, 999);
  for (std::size_t i = 1; i < kept.size(); ++i)
    EXPECT_LE(kept[i - 1].seconds, kept[i].seconds);
}

SeriesMoment At(std::int64_t ms, std::int64_t cwnd, LossState state) {
  SeriesMoment moment;
  moment.at_ns = 1'000'000'000 + ms * 1'000'000;
  moment.tcp.cwnd_bytes = cwnd;
  moment.tcp.loss_state = state;
  return moment;
}

// Recovery begins at 20 ms and again at 40 ms; at 30 ms it goes on.
TEST(CourseTest, TimesAreFromTheFirstLookAndARepairCountsOnce) {
  TimeSeries series;
  series.sender = {At(0, 10, LossState::kOpen),
                   At(20, 20, LossState::kRecovery),
                   At(30, 15, LossState::kRecovery),
                   At(35, 15, LossState::kOpen), At(40, 8, LossState::kLoss)};
  const Course course = CourseOf(series);
  EXPECT_THAT(ValuesOf(course.cwnd), ElementsAre(10, 20, 15, 15, 8));
  EXPECT_THAT(course.losses, ElementsAre(0.020, 0.040));
  EXPECT_DOUBLE_EQ(course.seconds, 0.040);
  EXPECT_THAT(course.in_flight, IsEmpty());  // Not told, and not 0.
}

Cell WithFile(const std::string& file) {
  Cell cell;
  cell.course.emplace();
  cell.course->trial = "t";
  cell.course->file = file;
  return cell;
}

TEST(ReadCoursesTest, WhatCannotBeReadIsSaidAndTheRestGoesOn) {
  const TemporaryFolder temporary;
  std::filesystem::create_directories(temporary.path() / "series");
  TimeSeries series;
  series.sender = {At(0, 10, LossState::kOpen), At(5, 20, LossState::kOpen)};
  std::ofstream(temporary.path() / "series/good.csv") << SeriesText(series);
  std::vector<Cell> cells{WithFile("series/missing.csv"),
                          WithFile("series/good.csv"), Cell()};
  std::vector<std::string> notes;
  ReadCourses({temporary.path()}, cells, notes);
  EXPECT_FALSE(cells[0].course.has_value());
  ASSERT_TRUE(cells[1].course.has_value());
  EXPECT_EQ(cells[1].course->trial, "t");
  EXPECT_THAT(ValuesOf(cells[1].course->cwnd), ElementsAre(10, 20));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("missing.csv")));
}

TEST(ReadCoursesTest, NothingOutsideTheRunFolderIsOpened) {
  for (const char* file : {"/etc/hostname", "series/../../secret", "x.csv"}) {
    std::vector<Cell> cells{WithFile(file)};
    std::vector<std::string> notes;
    ReadCourses({"/tmp"}, cells, notes);
    EXPECT_FALSE(cells[0].course.has_value()) << file;
    EXPECT_THAT(notes, ElementsAre(HasSubstr("left alone"))) << file;
  }
}

}  // namespace
}  // namespace wiretoll

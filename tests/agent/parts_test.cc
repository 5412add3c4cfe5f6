// Parts of the agent that need no connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "harness/agent/arrival_marks.h"
#include "harness/agent/disturbance.h"
#include "harness/agent/line_reader.h"
#include "harness/agent/stream.h"
#include "harness/agent/trial_control.h"
#include "harness/agent/trial_loop.h"
#include "harness/agent/trial_options.h"
#include "platform/clock.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File FileWith(const std::string& text) {
  File file(std::tmpfile(), &std::fclose);
  std::fwrite(text.data(), 1, text.size(), file.get());
  std::rewind(file.get());
  return file;
}

TEST(LineReaderTest, GivesLinesAndSkipsWhatIsTooLong) {
  const File file = FileWith("one\r\n\n12345678\n123456789\ntwo\ntorn");
  LineReader lines(file.get(), 8);
  std::string line;
  EXPECT_EQ(lines.Next(line), LineRead::kLine);
  EXPECT_EQ(line, "one");
  EXPECT_EQ(lines.Next(line), LineRead::kLine);
  EXPECT_EQ(line, "");
  EXPECT_EQ(lines.Next(line), LineRead::kLine);
  EXPECT_EQ(line, "12345678");
  EXPECT_EQ(lines.Next(line), LineRead::kTooLong);
  EXPECT_EQ(lines.Next(line), LineRead::kLine);
  EXPECT_EQ(line, "two");
  EXPECT_EQ(lines.Next(line), LineRead::kEnd);
}

EndReport Filled(const ArrivalMarks& marks, std::int64_t bytes,
                 Nanoseconds ended) {
  EndReport report;
  marks.Fill(bytes, SteadyTime(ended), report);
  return report;
}

// The first byte at 1 s; a read at 1.9 s is of the warm-up still, that at 2.1 s
// ends it: of 700 bytes those behind its 300 are steady, over 3.1 - 2.1 s.
TEST(ArrivalMarksTest, SteadyStateBeginsAfterTheWarmUp) {
  ArrivalMarks marks(std::nullopt, 1s);
  ASSERT_TRUE(marks.Due(100));
  marks.Mark(100, SteadyTime(1s));
  ASSERT_TRUE(marks.Due(200));
  marks.Mark(200, SteadyTime(1900ms));
  ASSERT_TRUE(marks.Due(300));
  marks.Mark(300, SteadyTime(2100ms));
  EXPECT_FALSE(marks.Due(700)) << "the clock is looked at no more";
  const EndReport report = Filled(marks, 700, 3100ms);
  EXPECT_EQ(report.steady_bytes, 400);
  EXPECT_EQ(report.steady_elapsed_ns, 1'000'000'000);
  EXPECT_EQ(report.first_read_bytes, 100);
}

// A tenth of 1000 bytes came by the second read.
TEST(ArrivalMarksTest, WithoutAWarmUpTheFirstTenthIsIt) {
  ArrivalMarks marks(1000);
  marks.Mark(50, SteadyTime(1s));
  ASSERT_FALSE(marks.Due(99));
  ASSERT_TRUE(marks.Due(100));
  marks.Mark(120, SteadyTime(2s));
  const EndReport report = Filled(marks, 1000, 4s);
  EXPECT_EQ(report.steady_bytes, 880);
  EXPECT_EQ(report.steady_elapsed_ns, 2'000'000'000);
}

TEST(ArrivalMarksTest, NothingAfterTheWarmUpIsNoSteadyState) {
  ArrivalMarks marks(std::nullopt, 1s);
  marks.Mark(100, SteadyTime(1s));
  marks.Mark(200, SteadyTime(2s));
  const EndReport report = Filled(marks, 200, 2s);
  EXPECT_FALSE(report.steady_bytes);
  EXPECT_THAT(report.why_null.at("steady_bytes"),
              HasSubstr("nothing came after the warm-up"));
}

HostLook LookAt(Nanoseconds moment, std::int64_t steal_ns, Nanoseconds wall) {
  HostLook look;
  look.at = SteadyTime(moment);
  look.activity.steal_ns = Observed<std::int64_t>::Of(steal_ns);
  look.activity.load = Observed<double>::Of(0.5);
  look.wall_minus_monotonic = wall;
  return look;
}

// 30 ms of 1 s is 3 %: above 20 ms, but not above 5 %.
TEST(DisturbanceTest, LittleStealIsNoDisturbance) {
  const Disturbance found =
      Compare(LookAt(0s, 100, 5s), LookAt(1s, 30'000'100, 5s));
  EXPECT_EQ(found.steal_ns, 30'000'000);
  EXPECT_EQ(found.clock_step_ns, 0);
  EXPECT_FALSE(found.disturbed);
}

// 10 ms of 100 ms is 10 %, but no more than one tick of the counter.
TEST(DisturbanceTest, OneTickOfStealIsNoDisturbance) {
  EXPECT_FALSE(
      Compare(LookAt(0s, 0, 5s), LookAt(100ms, 10'000'000, 5s)).disturbed);
}

// 60 ms of 1 s is 6 %.
TEST(DisturbanceTest, StealAboveAShareOfTheTimeDisturbs) {
  const Disturbance found =
      Compare(LookAt(0s, 0, 5s), LookAt(1s, 60'000'000, 5s));
  EXPECT_TRUE(found.disturbed);
  EXPECT_THAT(found.reason, HasSubstr("60 ms"));
}

TEST(DisturbanceTest, ClockStepDisturbsEitherWayAndSlewingDoesNot) {
  EXPECT_TRUE(Compare(LookAt(0s, 0, 5s), LookAt(1s, 0, 5010ms)).disturbed);
  EXPECT_TRUE(Compare(LookAt(0s, 0, 5s), LookAt(1s, 0, 4990ms)).disturbed);
  EXPECT_FALSE(Compare(LookAt(0s, 0, 5s), LookAt(1s, 0, 5s + 500us)).disturbed);
}

TEST(DisturbanceTest, WhatIsNotToldIsEmptyWithItsReason) {
  HostLook before = LookAt(0s, 0, 5s);
  before.activity.steal_ns = Observed<std::int64_t>::Not("not told here");
  const Disturbance found = Compare(before, LookAt(1s, 0, 5s));
  EXPECT_FALSE(found.steal_ns);
  EXPECT_THAT(found.reason, HasSubstr("not told here"));
}

// Linux keeps twice what is asked, at least 2304, at most twice rmem_max.
TEST(TrialOptionsTest, BuffersOfLinuxAreExplained) {
  const std::string limit = "net.core.rmem_max";
  EXPECT_EQ(ExplainBuffer(65536, 131072, "linux", limit), "");
  EXPECT_EQ(ExplainBuffer(2, 2304, "linux", limit),
            "rounded up to the system's minimum");
  EXPECT_EQ(ExplainBuffer(1 << 26, 425984, "linux", limit),
            "clamped by net.core.rmem_max");
}

TEST(TrialOptionsTest, BuffersOfOtherSystemsAreTakenAsTheyAre) {
  EXPECT_EQ(ExplainBuffer(65536, 65536, "windows", "x"), "");
  EXPECT_EQ(ExplainBuffer(65536, 4096, "windows", "x"),
            "clamped by the system");
}

TEST(StreamTest, PlannedBytesAreTheSmallerLimit) {
  Workload workload;
  workload.write = Bytes{10};
  EXPECT_EQ(PlannedBytes(workload), std::nullopt);
  workload.stop_messages = 7;
  EXPECT_EQ(PlannedBytes(workload), 70);
  workload.stop_bytes = Bytes{69};
  EXPECT_EQ(PlannedBytes(workload), 69);
  workload.stop_bytes = Bytes{71};
  EXPECT_EQ(PlannedBytes(workload), 70);
}

// Ten steps of 15.625 ms are 156.25 ms.
TEST(CpuTimeTest, FewStepsAreNoMeasurement) {
  constexpr Nanoseconds kTick{15'625'000};
  EXPECT_EQ(CpuTimeIn(10 * kTick, kTick).value, 156'250'000);
  for (const int steps : {0, 1, 9}) {
    const Observed<std::int64_t> cpu = CpuTimeIn(steps * kTick, kTick);
    EXPECT_FALSE(cpu.value) << steps;
    EXPECT_THAT(cpu.reason, HasSubstr("steps of 15.6 ms"));
  }
}

TEST(CpuTimeTest, FineStepsMeasureShortLoops) {
  EXPECT_EQ(CpuTimeIn(Nanoseconds{1'500}, Nanoseconds{1}).value, 1'500);
}

TEST(TrialControlTest, DeadlineCutsTheTrialAndStopsTheLoop) {
  TrialControl control(20ms);
  EXPECT_EQ(control.AwaitGo(), std::nullopt);
  while (!control.stop()) std::this_thread::yield();
  EXPECT_EQ(control.cut(), Cut::kDeadline);
  EXPECT_EQ(control.Remaining(), 0ms);
}

TEST(TrialControlTest, GoIsHeardAlsoBeforeItIsAwaited) {
  TrialControl control(1h);
  control.Go(7);
  control.Go(8);
  EXPECT_EQ(control.AwaitGo(), 7);
}

TEST(TrialControlTest, AbortEndsAPause) {
  TrialControl control(1h);
  std::thread other([&control] { control.Abort(); });
  EXPECT_FALSE(control.PauseUntil(MonotonicNow() + 1h));
  EXPECT_EQ(control.cut(), Cut::kAborted);
  other.join();
}

TEST(TrialControlTest, PauseIsNeverTooShort) {
  TrialControl control(1h);
  for (const Nanoseconds pause :
       {Nanoseconds(0), Nanoseconds(100us), Nanoseconds(25ms)}) {
    const SteadyTime due = MonotonicNow() + pause;
    EXPECT_TRUE(control.PauseUntil(due));
    EXPECT_GE(MonotonicNow(), due);
  }
}

TEST(TrialControlTest, TimeToStopIsNoCut) {
  TrialControl control(1h);
  control.StopAt(MonotonicNow() + 1ms);
  while (!control.stop()) std::this_thread::yield();
  EXPECT_EQ(control.cut(), Cut::kNone);
}

}  // namespace
}  // namespace wiretoll
